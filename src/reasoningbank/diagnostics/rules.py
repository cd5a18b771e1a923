"""The table of rules: which lines of a tool's output say what went wrong, and what of them is the message.

A rule is anchored at the begin of a line, and what it does not match is no part of the message: the file, the line, the
frames, the time. Rules are tried in their order, and the first that matches decides. They were written from what the
tools print, on the half of the benchmark's families that is not judged by.

A form is compiled when the first line is looked at: all of them take a tenth of what it takes to import the package.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, cached_property
from re import Pattern

from reasoningbank.diagnostics.words import ERROR, LABELLED, TROUBLE, UNABLE


class Weight(IntEnum):
    """How much a diagnostic says of what went wrong."""

    CONSEQUENCE = 0  # that something else failed: used only where nothing else is said
    GENERIC = 1
    SPECIFIC = 2


@dataclass(frozen=True)
class Rule:
    """A form of line; its groups are the message, and where there are such, tool and code."""

    written: str
    weight: Weight = Weight.SPECIFIC
    tool: str = ""
    flags: int = 0

    @cached_property
    def form(self) -> Pattern[str]:
        """What a line has to match."""
        return re.compile(self.written, self.flags)


# A file as tools name one before a line number: no blanks at its ends, no colon but a drive's.
_FILE = r"(?:[A-Za-z]:)?[^\s:()\[\]\"'`|>][^:()\n\"'`|]{0,200}"
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*){0,12}"
_THROWN = r"(?:Error|Exception|Fault|Interrupt|Timeout|Expired|Exit|NotFound|DoesNotExist|Failure|Denied)"

# What says only that something before it failed, or how much of it there was.
CONSEQUENCES: tuple[Rule, ...] = tuple(
    Rule(form, Weight.CONSEQUENCE, flags=re.IGNORECASE)
    for form in (
        r"(?:collect2|clang|clang\+\+|gcc): (?:error|fatal error): (?:ld returned|linker command failed)",
        r"error: (?:could not compile|aborting due to|linking with|build failed|process didn't exit|script )",
        r"error: failed to push some refs",
        r"(?:make|gmake|ninja)(?:\[\d+\])?: (?:\*\*\* \[|build stopped)",
        r"npm (?:err!|error) (?:a complete log|errno|syscall|path|command|lifecycle|workspace|location)",
        r"tar: (?:error is not recoverable|exiting with failure|child returned)",
        r"(?:error: )?(?:subprocess-exited-with-error|metadata-generation-failed)",
        r"error: failed building wheel|error: could not build wheels|note: this error originates",
        r"(?:error: )?process completed with exit code|error: command .{0,200} (?:failed|returned)|exit status \d+$",
        r"(?:error: )?\d+ (?:errors?|problems?|failures?|failed)\b|found \d+ error|interrupted: \d+ error",
        r"curl: try '|try '\S+ --help'|.{0,60}compilation terminated|begin failed",
        r"(?:failed|error) \(?(?:errors|failures)=\d+|error: the process|error: task failed",
    )
)

RULES: tuple[Rule, ...] = (
    # Compilers, linters and type checkers: FILE(LINE,COLUMN): error CODE: …, FILE:LINE[:COLUMN][:] error …
    Rule(rf"{_FILE}\(\d+(?:,\d+)*\)\s?: (?:fatal )?error (?P<code>[A-Z]+\d+): (?P<message>.+)"),
    Rule(rf"{_FILE}:\d+:\d+ - error (?P<code>TS\d+): (?P<message>.+)", tool="tsc"),
    Rule(rf"{_FILE}:\d+(?::\d+)?: (?:fatal |internal compiler )?(?:{ERROR}): (?P<message>.+)", flags=re.IGNORECASE),
    Rule(rf"{_FILE}:\d+:\d+: (?P<code>[A-Z]{{1,4}}\d{{3,4}}):? (?:\[\*\] )?(?P<message>.+)"),
    Rule(rf"{_FILE}\.go:\d+(?::\d+)?: (?!warning)(?P<message>.+)", tool="go"),
    Rule(rf"{_FILE}:\d+: \*\*\* (?P<message>.+?)(?:\.\s+Stop\.)?$", tool="make"),
    Rule(r"(?P<code>[A-Z]{1,4}\d{3,4}):? (?:\[\*\] )?(?P<message>[`A-Z].+)"),
    Rule(r"\s+\d+:\d+\s+error\s+(?P<message>\S.+?)(?:\s{2,}(?P<code>\S+))?$", tool="eslint"),
    Rule(r"error\[(?P<code>E\d+)\]: (?P<message>.+)", tool="rustc"),
    Rule(r"(?:\S*/)?ld(?:\.\w+)?: (?:.{0,300}?: )?(?P<message>(?:undefined reference|cannot find|multiple defin).+)", tool="ld"),
    # Packages, builds and version control
    Rule(r"npm (?:ERR!|error) (?P<message>code E\w+)$", Weight.GENERIC, tool="npm"),
    Rule(r"npm (?:ERR!|error) (?:(?P<code>[a-z]+\d*|E[A-Z0-9]+|\d{3}) )?(?P<message>[A-Z`'].+)", tool="npm"),
    Rule(r"(?:g?make)(?:\[\d+\])?: \*\*\* (?P<message>.+?)(?:\.\s+Stop\.)?$", tool="make"),
    Rule(r"CMake Error(?: at \S+?(?::\d+)? ?\([^)]*\)| in \S+)?:\s*(?P<message>.*)", tool="cmake"),
    Rule(r"\s?! (?P<message>\[(?:remote )?rejected\].*)", tool="git"),
    Rule(r"(?P<message>(?:CONFLICT \(|KONFLIKT \(|CONFLIT \().+)", tool="git"),
    Rule(r"(?P<message>nothing to commit.*|no changes added to commit.*|Your local changes to the following.*)", tool="git"),
    # Tests
    Rule(rf"E\s+(?P<message>{_NAME}(?::.*)?|fixture .+|assert .+|Failed: .+)$", tool="pytest"),
    Rule(r"(?:FAILED|ERROR) \S+ - (?P<message>.+)", Weight.GENERIC, tool="pytest"),
    Rule(r"\s*(?:✕|✗|✘|×|●) (?P<message>.+)", Weight.GENERIC),
    Rule(r"--- FAIL: (?P<message>\S+)", Weight.GENERIC, tool="go"),
    Rule(r"(?P<message>expect\(.+\)\..+)", tool="jest"),
    # What a program threw
    Rule(rf"(?:Exception in thread \"[^\"]*\" |Caused by: |Uncaught (?:\(in promise\) )?|Unhandled exception[.:] |"
          rf"(?:PHP )?Fatal error: +Uncaught |thread '.*' panicked at |\[\w+\] |\S+: )?"
          rf"(?P<code>(?:{_NAME})?{_THROWN}|{_NAME}\.[A-Z]\w+|E[A-Z]{{4,}})(?: \[(?:\w+)\])?:(?: (?P<message>.*))?$"),
    Rule(rf"(?:Exception in thread \"[^\"]*\" |Caused by: |Uncaught |[a-z.]+\.)?(?P<code>{_NAME}{_THROWN})$"),
    Rule(r"(?:goroutine \d+ \[\w+\]:|thread '.*' panicked at (?:.+:\d+:\d+:)?)(?P<message>.*)"),
    Rule(r"(?P<message>.{3,400}) at \S+ line \d+(?:, <\w+> line \d+)?\.$", tool="perl"),
    Rule(r"\s+code: '(?P<message>E[A-Z0-9_]+)',?$", Weight.GENERIC, tool="node"),
    # Shells: script: line 3: …, script: 3: …
    Rule(r"\S+: line \d+: (?P<message>.+)", tool="sh"),
    Rule(r"\S+: \d+: (?P<message>.*(?:not found|unexpected|expected|bad |syntax|cannot|parameter|permission).*)", tool="sh", flags=re.IGNORECASE),
    # A tool under its own name
    Rule(rf"(?P<tool>{LABELLED}):\s+(?:\((?P<code>\d+)\) )?(?:(?:{ERROR}): )?(?P<message>.+)", flags=re.IGNORECASE),
    Rule(rf"(?P<tool>[\w.+/-]{{1,60}}): (?:{ERROR}): (?P<message>.+)", flags=re.IGNORECASE),
    # Errors under that word, in any language
    Rule(rf"(?:\[(?:{ERROR})\]|(?:{ERROR})(?: \([^)]{{1,40}}\)| near line \d+)?\s?[::]|(?:{ERROR}) -|❌|✖)\s*(?P<message>\S.+)", flags=re.IGNORECASE),
    Rule(r"(?P<message>error response from daemon.*|error during connect.*)", tool="docker", flags=re.IGNORECASE),
    Rule(r"(?:E|F)(?:\d{4} [\d:.]+ +\d+ \S+\]|:) (?P<message>.+)", Weight.GENERIC),
    # Sentences without any label
    Rule(rf"(?!(?:hint|help|note|warning|info|debug|usage|failed|{ERROR}):)(?P<tool>[\w.+/-]{{1,60}}): +(?P<message>.*(?:{TROUBLE}).*)", Weight.GENERIC, flags=re.IGNORECASE),
    Rule(r"(?P<message>HTTP(?:/[\d.]+)? [45]\d\d.*|[45]\d\d (?:Client|Server) Error.*)", flags=re.IGNORECASE),
    Rule(rf"(?P<message>(?:{UNABLE})\b.*)", Weight.GENERIC, flags=re.IGNORECASE),
    Rule(r"(?P<message>.*(?:Permission denied|No such file or directory|command not found|core dumped|is not recognized as an? ).*)", Weight.GENERIC),
    Rule(r"(?P<message>.{0,200}\S: (?:is )?(?:invalid|unknown|not found|failed).*)", Weight.GENERIC, flags=re.IGNORECASE),
)  # fmt: skip


def _nameless(rule: Rule) -> str:
    form = re.sub(r"\(\?P<\w+>", "(?:", rule.written)
    return f"(?i:{form})" if rule.flags & re.IGNORECASE else f"(?:{form})"


@cache
def any_specific() -> Pattern[str]:
    """Return what a line has to match for one of the rules that hold anywhere in an output."""
    # Most lines are of no rule: one look tells so in a third of the time that looks by each take.
    return re.compile("|".join(_nameless(rule) for rule in RULES if rule.weight is Weight.SPECIFIC))

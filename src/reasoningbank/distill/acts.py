"""How an act is named, and what kind of act it is: a command, a call of a tool, a change, a check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from reasoningbank.distill.cleaning import shorten
from reasoningbank.runs.trajectory import Step

LABEL = 60  # characters

SHELLS = frozenset(
    {"bash", "shell", "sh", "terminal", "execute", "run", "run_command", "execute_command", "python", "cmd", "exec"}
    | {"execute_bash", "run_terminal_cmd", "exec_command", "local_shell", "shell_command", "run_shell_command"}
    | {"bash_tool", "powershell", "console", "container.exec", "local_shell_call", "execute_ipython_cell", "ipython"}
)
# Tools that only hold a thought, or the end: they do nothing.
IDLE = frozenset(
    {"think", "thought", "reflect", "plan", "finish", "final_answer", "respond", "noop", "submit", "todowrite"}
    | {"update_plan", "attempt_completion", "task_complete", "ask_followup_question", "todo_write"}
)
# Commands that only hand in what was done.
HANDING_IN = re.compile(r"submit$|echo \W?COMPLETE_TASK_AND_SUBMIT|echo \W?MINI_SWE_AGENT_FINAL_OUTPUT")
# Tools that every coding agent has: that one was not used says nothing about what was asked.
CODING = re.compile(
    r"(?i)^(?:multi)?(?:read|write|edit|view|open|grep|glob|search|find|ls|list|cat|create|insert|apply|patch|str_?replace|replace|file|"
    r"notebook|diff|undo)(?:_?(?:file|files|dir|directory|code|text|patch|in_file|to_file|editor|edit|based_edit_tool|tool|"
    r"repo|lines?))*$"
)
EDITS = re.compile(r"(?i)^(?:multi)?(?:write|edit|create|insert|apply|patch|str_?replace|replace|append|notebookedit)")
PLACES = ("path", "file_path", "filepath", "filename", "file", "target_file", "relative_path", "notebook_path")
COMMANDS = ("command", "cmd", "script", "input", "code", "commands")

RUN_TEXTS = frozenset({"query", "sql", "pattern", "regex", "expression", "selector", "filter", "jq"})

# Programs whose next word says what they do.
TWO_WORDS = frozenset(
    {"git", "npm", "yarn", "pnpm", "npx", "cargo", "go", "docker", "kubectl", "pip", "pip3", "apt", "apt-get", "make"}
    | {"python", "python3", "node", "bash", "sh", "uv", "poetry", "conda", "helm", "terraform", "systemctl", "brew"}
    | {"mvn", "gradle", "./gradlew", "dotnet", "ruby", "perl", "php", "deno", "bun", "rustup", "psql", "aws", "gh"}
)
PREFIX = re.compile(
    r"""(?x)
        ^(?: \s+ | cd\ +(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s* | set\ -\w+(?:\ \w+)?\s*(?:&&|;|\n)\s* |
        sudo\ (?:-\w+\ )* | (?:[A-Z_][A-Z0-9_]*=(?:"[^"]*"|'[^']*'|\S*)\s+)+ | timeout\ (?:-\w+\ \w+\ )*\d+\w?\ |
        time\ | nohup\ | env\  | \$\ | >\ (?=\w) | act:\ | Action:\ | (?:source|\.)\ \S+\s*(?:&&|;)\s* |
        conda\ activate\ \S+\s*(?:&&|;)\s* | export\ [^;&]+(?:&&|;)\s* )"""
)
SUFFIX = re.compile(
    r"(?:\s*(?:\d?>&\d|\d?>\s*/dev/null|&>\s*/dev/null|\|\|\s*true|\|\s*(?:head|tail|cat|less)\b[^|]*|;\s*echo\s.*|;|&))+$"
)
# SWE-agent's own commands for changing files.
OWN_EDIT = re.compile(r"(?:edit|insert|append|create)\b")
HEREDOC = re.compile(r"(?P<program>.*?)\s*<<-?\s*[\"']?\w+[\"']?(?P<rest>.*)")
FIRST_LINE = 1_000  # characters of a command's first line in which a here-document is looked for
AROUND = 20  # things around a command that are taken off
INTO = re.compile(r">{1,2}\s*([^\s;&|<>]+)|\btee\s+(?:-a\s+)?([^\s;&|<>]+)")
WRITES = re.compile(
    r"""(?x)
        ^(?: (?:str_replace_editor\ )?(?:edit|create|insert|str_replace|append)\  |
        sed\ .*-i | perl\ .*-i | (?:cat|echo|printf)\b.*>{1,2}\ *[^\s&/] | (?:cat|echo|
        printf)\b.*>{1,2}\ */(?!dev/) | tee\b | patch\b | git\ (?:apply|checkout|revert|stash|reset|pull|merge|init|
        config) | write\ | mv\b | cp\b | rm\b | mkdir\b | touch\b | ln\b | chmod\b | chown\b |
        pip3?\ (?:un)?install | (?:apt|apt-get|brew|conda|yum|dnf|apk|gem|cargo|npm|yarn|pnpm|poetry|
        uv)\ .*\b(?:install|add|remove|i|ci|sync|update|upgrade)\b | (?:python3?|uv)\ -m\ (?:pip\ install|venv) |
        export\ | systemctl\ (?:start|restart|enable) | service\ \S+\ (?:re)?start | docker\ (?:start|run|build|
        pull|compose|login) | createdb\b | alembic\b | (?:python3?\ )?manage\.py\ migrate | go\ (?:mod|get)\b |
        kill )"""
)
LOOKS = re.compile(
    r"(?:ls|cat|head|tail|less|grep|rg|ag|find|fd|pwd|echo|which|whereis|type|file|stat|wc|tree|env|printenv|whoami|ps|df|"
    r"du|man|nl|diff|history|date|goto|scroll_\w+|"
    r"(?:find|search)_(?:file|dir)|str_replace_editor view|sed -n|"
    r"git (?:status|log|diff|show|branch|blame)|\S+ --?(?:version|help)|"
    r"(?:get|list|search|find|read|view|look|show|open|glob|fetch|describe|check|calculate)(?=[_.-]|$))(?![a-z])"
)
CHECKS = re.compile(
    r"""(?ix)
        ^(?: (?:\S*python[\d.]*\ (?:-\w\ )*-m\ )?(?:pytest|py\.test|unittest|nose2?|tox|nox|mypy|ruff|flake8|pylint|
        doctest)\b | \S*python[\d.]*\ \S*(?:test|check|repro|verify|validate)\S*\.py | \S*/?runtests\.py |
        \S*python[\d.]*\ (?:\./)?(?:tests?/\S+|manage\.py\ test) | (?:npm|yarn|pnpm|bun|deno)\ (?:run\ )?(?:test|
        lint|build|check|typecheck)\S* | (?:npx\ )?(?:jest|vitest|mocha|tsc|eslint|playwright\ test)\b |
        go\ (?:test|vet|build)\b | cargo\ (?:\+\S+\ )?(?:test|check|clippy|build)\b | (?:mvn|\./mvnw)\ .*\b(?:test|
        verify|package|compile)\b | (?:gradle|\./gradlew)\ .*\b(?:test|check|build)\b | make(?:\ -\S+)*(?:\ (?:test|
        check|all|lint|build)\S*|$) | ctest\b | dotnet\ (?:test|build)\b | (?:bundle\ exec\ )?(?:rspec|
        rake\ test)\b | (?:\./)?(?:vendor/bin/)?phpunit\b | (?:uv|poetry|pipenv|hatch)\ run\ (?:-\S+\ )*(?:pytest|
        mypy|ruff|tox)\b | tox\b | terraform\ (?:plan|validate)\b | nginx\ -t\b | bash\ -n\b | node\ --check\b )"""
)


def call_arguments(step: Step) -> dict[str, Any]:
    """Return the arguments of a tool call, as far as they can be read back."""
    inside = step.action[len(step.tool) + 1 : -1] if step.action.startswith(f"{step.tool}(") else ""
    try:
        read_back = json.loads(inside)
    except (ValueError, RecursionError):
        return {}
    return read_back if isinstance(read_back, dict) else {}


def command_of(step: Step) -> str:
    """Return the command that a step ran in a shell, without what is only around it; "" if it ran none."""
    if not step.tool or is_typed(step):
        return _bare(step.action)
    if step.tool.lower() not in SHELLS:
        return ""
    arguments = call_arguments(step)
    given = next((arguments[name] for name in COMMANDS if name in arguments), None)
    texts = [value for value in arguments.values() if isinstance(value, str)]
    if isinstance(given, list):
        given = " ".join(map(str, given[2:] if given[1:2] and str(given[1]) in ("-c", "-lc") else given))
    return _bare(given if isinstance(given, str) else texts[0] if len(texts) == 1 else "")


def is_typed(step: Step) -> bool:
    """Tell whether an act is a command as it was typed, not the call of a tool with arguments."""
    if step.action.startswith(f"{step.tool}("):
        return False
    return step.tool.lower() in SHELLS or step.action.split(maxsplit=1)[:1] == [step.tool]


def _bare(command: str) -> str:
    command = command.strip()
    for _ in range(AROUND):
        command = PREFIX.sub("", command)
    first, _, more = command.partition("\n")
    if OWN_EDIT.match(first):
        command = first  # what is written in stands below
    heredoc = HEREDOC.match(first[:FIRST_LINE]) if more else None
    if heredoc:
        into = INTO.search(f"{heredoc['program']} {heredoc['rest']}")
        command = f"write {into[1] or into[2]}" if into else heredoc["program"].strip()
    return SUFFIX.sub("", " ".join(command.split()))


def program_of(command: str) -> str:
    """Return what a command runs: the program of its last part, with the word that says what that does."""
    last = re.split(r"\s*(?:&&|\|\||;|\|)\s*", command)[-1] or command
    words = PREFIX.sub("", last).split()
    named = [word for word in words[1:] if not word.startswith("-") or word == "-m"]
    if not words or words[0] not in TWO_WORDS or not named:
        return words[0] if words else command
    return " ".join([words[0], *named[: 2 if named[0] in ("-m", "run") else 1]])


def place_of(step: Step) -> str:
    """Return the file that a tool call is about, "" if it names none."""
    arguments = call_arguments(step)
    return next((arguments[name] for name in PLACES if isinstance(arguments.get(name), str)), "")


def kind(step: Step) -> str:
    """Return the tool's name, or the program of a command."""
    return step.tool or program_of(command_of(step)) or "a command"


def key(step: Step) -> tuple[str, str]:
    """Return what two acts have in common that are tries of one thing: program, or tool and file."""
    command = command_of(step)
    return (program_of(command), "") if command else (step.tool, place_of(step))


def label(step: Step) -> str:
    """Name a step in few words: the command, or the tool with the file that it is about."""
    command = command_of(step)
    if command:
        return shorten(command, LABEL)
    place = place_of(step)
    if not place:
        return step.tool or "a command"
    verb = call_arguments(step).get("command")
    return shorten(f"{verb if isinstance(verb, str) and verb.isidentifier() else step.tool} {place}", LABEL)


def fold(labels: Iterable[str]) -> list[str]:
    """Fold a label that follows itself into one with a count."""
    counted = ((text, len(list(same))) for text, same in groupby(labels))
    return [text if count == 1 else f"{text} ×{count}" for text, count in counted]


def is_idle(step: Step) -> bool:
    """Tell whether an act only holds a thought, or the end of the run."""
    return kind(step).lower() in IDLE or HANDING_IN.match(command_of(step)) is not None


def is_check(step: Step) -> bool:
    """Tell whether an act runs tests, a build, a linter or a script that tries something out."""
    return any(CHECKS.match(PREFIX.sub("", part)) for part in re.split(r"\s*(?:&&|\|\||;)\s*", command_of(step)))


def is_edit(step: Step) -> bool:
    """Tell whether an act changes files, or what is installed or running."""
    command = command_of(step)
    if command:
        return bool(WRITES.match(command))
    verb = call_arguments(step).get("command")
    return bool(EDITS.match(verb if isinstance(verb, str) else step.tool)) and bool(
        place_of(step) or "patch" in step.tool
    )


def is_look(step: Step) -> bool:
    """Tell whether an act only looks at something."""
    command = command_of(step)
    return bool(LOOKS.match(command or step.tool.lower()) and not WRITES.match(command))


def is_coding(step: Step) -> bool:
    """Tell whether an act is of a tool that coding agents have, or a command."""
    return bool(command_of(step)) or bool(CODING.match(step.tool)) or step.tool.lower() in SHELLS


def difference(before: Step, after: Step) -> str:
    """Return the names of the arguments in which two calls of a tool differ, at most three.

    Of one that holds a text to be run, such as a query, it is said what it was changed to.
    """
    old, new = call_arguments(before), call_arguments(after)
    changed = [name for name in new if new[name] != old.get(name)] + [name for name in old if name not in new]
    if len(changed) == 1 and changed[0] in RUN_TEXTS and isinstance(new.get(changed[0]), str):
        return f"{changed[0]} to “{shorten(' '.join(new[changed[0]].split()), LABEL)}”"
    return ", ".join(changed[:3])


def told_apart(before: str, after: str) -> str:
    """Return what a command was changed to, in few words that show the change; "" if nothing was changed."""
    short = shorten(after, LABEL)
    if before == after or short != shorten(before, LABEL):
        return "" if before == after else short
    same = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(before))
    return f"… {shorten(after[max(0, same - LABEL // 3) :], LABEL)}"


def likeness(one: str, other: str) -> float:
    """Return the share of words that two commands have in common (Jaccard)."""
    first, second = set(one.split()), set(other.split())
    return len(first & second) / max(1, len(first | second))

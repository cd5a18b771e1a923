"""Aider's `.aider.chat.history.md`: what was asked after `####`, what the program did after `>`, and answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_turns
from reasoningbank.runs.readers.outcome import NOTHING, Outcome
from reasoningbank.runs.readers.turns import Call, Result, Turn
from reasoningbank.runs.transcript import as_text

START = re.compile(r"(?m)^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \t]*$")
ASKED, DID, SAID = "####", ">", ""
# `/code X` is followed by X itself; all other commands are to the program.
COMMAND = re.compile(r"[/!](?:(?:code|ask|architect|context)\b\s*(?P<request>.*))?", re.DOTALL)
RAN = re.compile(r"(?s)\AI ran this command:\s*(?P<command>.+?)\s*And got this output:\s*(?P<output>.*)\Z")
APPLIED = re.compile(r"Applied edit to (?P<file>.+)")
RUNNING = re.compile(r"Running (?P<command>.+)")
NOT_APPLIED = re.compile(r"(?i)did not conform to the edit format|failed to match|malformed response")


def fits(record: Any) -> bool:
    """Tell whether it is a text in which a chat starts."""
    return isinstance(record, str) and START.search(record) is not None


def read(record: str) -> Iterator[Found]:
    """Read each chat in which something was asked as one run."""
    starts = [*START.finditer(record)]
    ends = [*(start.start() for start in starts[1:]), len(record)]
    for start, end in zip(starts, ends, strict=True):
        ledger = Ledger()
        ledger.note("time without a zone, or no time", f"line {record.count(chr(10), 0, start.start()) + 1}")
        found = read_turns(_turns(record[start.end() : end], ledger), ledger)
        if found.task or found.steps:
            yield found


def _mark(line: str) -> str:
    return ASKED if line.startswith(ASKED) else DID if line.startswith(DID) else SAID


def _turns(chat: str, ledger: Ledger) -> Iterator[Turn]:
    before = ""
    for mark, lines in groupby(chat.splitlines(), _mark):
        text = "\n".join(line.removeprefix(mark).strip() if mark else line for line in lines).strip()
        if not text:
            continue
        if mark == SAID:
            yield Turn("assistant", text)
        elif mark == DID:
            yield from _acts(text, ledger)
        else:
            asked = _asked(text, ledger)
            if asked is not None and text != before:
                yield asked
                before = asked.text


def _asked(text: str, ledger: Ledger) -> Turn | None:
    """Return what a user asks, or the command whose output a user shows; None of a command to the program."""
    ran = RAN.match(text)
    if ran is not None:
        return _act("shell", ran["command"], ran["output"])
    command = COMMAND.match(text)
    if command is not None and not command["request"]:
        ledger.note("command to the program", as_text(text.split(maxsplit=1)[0]))
        return None
    return Turn("user", command["request"].strip() if command is not None else text)


def _acts(text: str, ledger: Ledger) -> Iterator[Turn]:
    """Yield the edits and commands that the program reports; what else it says is counted."""
    if NOT_APPLIED.search(text):
        yield _act("edit", "edit()", text, Outcome(failed=True))
        return
    for line in text.splitlines():
        applied, running = APPLIED.match(line), RUNNING.match(line)
        if applied is not None:
            yield _act("edit", f"edit({as_text({'path': applied['file'].strip()})})", line)
        elif running is not None:
            yield Turn("assistant", calls=[Call("", "shell", running["command"].strip(), waits=False)])
        elif line:
            ledger.note("text of the program")


def _act(tool: str, action: str, output: str, outcome: Outcome = NOTHING) -> Turn:
    return Turn("assistant", calls=[Call("", tool, action)], results=[Result("", tool, output, outcome)])

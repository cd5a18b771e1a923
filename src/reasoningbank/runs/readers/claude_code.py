"""Sessions of Claude Code, and of agents that write like it: one record a line, the message under `message`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_turns
from reasoningbank.runs.readers.parts import turns_of
from reasoningbank.runs.readers.turns import Turn
from reasoningbank.runs.readers.values import get, is_list

SAYS = ("user", "assistant")
# What the program itself puts into a user's mouth.
COMMAND = re.compile(
    r"<(?:command-name|command-message|local-command-stdout|local-command-stderr|bash-stdout|task-notification)>"
)
TYPED = re.compile(r"(?s)<bash-input>.*?</bash-input>")
INTERRUPTED = re.compile(r"\[Request interrupted by user")


def fits(records: Any) -> bool:
    """Tell whether records are of a session: some user's or assistant's record holds a message and an id of its own."""
    if not is_list(records):
        return False
    return any(_is_record(record) for record in islice(records, 60))


def _is_record(record: Any) -> bool:
    return isinstance(record, Mapping) and record.get("type") in SAYS and isinstance(record.get("message"), Mapping)


def read(records: Any) -> Iterator[Found]:
    """Read the sessions in records: one run for each session, and one for each agent that a session started."""
    sessions: dict[tuple[str, str], list[tuple[int, Mapping[str, Any]]]] = {}
    ledger = Ledger()
    seen: set[str] = set()
    agents = _agents(records)
    for number, record in enumerate(records):
        if not _is_record(record):
            kind = record.get("type", "no type") if isinstance(record, Mapping) else "no record"
            ledger.note(f"record of type {kind!s:.60}", f"[{number}]")
            continue
        own = str(record.get("uuid") or "")
        if own and own in seen:
            ledger.note("record that is there twice", f"[{number}]")
            continue
        seen.add(own)
        sessions.setdefault(_session_of(record, agents), []).append((number, record))
    for session, listed in sessions.items():
        yield _session(session, listed, ledger)
        ledger = Ledger()


def _agents(records: Any) -> set[str]:
    """Return the names of the agents that sessions started. The answer to the one that started it names it too."""
    aside = (record for record in records if _is_record(record) and record.get("isSidechain") is True)
    return {str(record["agentId"]) for record in aside if record.get("agentId")}


def _session_of(record: Mapping[str, Any], agents: set[str]) -> tuple[str, str]:
    """Return the session that a record is of, and the agent that the session started, or ""."""
    session = str(get(record, "sessionId", "session_id") or "")
    side = record.get("isSidechain")
    if side is False:
        return session, ""
    named = get(record, "agentId", "parent_tool_use_id")
    # Of one agent alone not every record has its name.
    unnamed = (next(iter(agents)) if len(agents) == 1 else "side") if side is True else ""
    return session, str(named or unnamed)


def _session(key: tuple[str, str], records: list[tuple[int, Mapping[str, Any]]], ledger: Ledger) -> Found:
    found = read_turns(_turns(records, ledger), ledger)
    name, aside = key
    times = [record["timestamp"] for _, record in records if isinstance(record.get("timestamp"), str)]
    found.fields = {
        "session": f"{name}/{aside}" if aside else name,
        "started_at": times[0] if times else None,
        "ended_at": times[-1] if times else None,
    }
    return found


def _turns(records: list[tuple[int, Mapping[str, Any]]], ledger: Ledger) -> Iterator[Turn]:
    for number, record in records:
        place = f"[{number}].message"
        if record.get("isMeta") is True or record.get("isCompactSummary") is True:
            ledger.note("text of the harness", place)
            continue
        if record.get("isApiErrorMessage") is True:
            ledger.note("error of the model's endpoint", place)
            continue
        message = {"role": record["type"], "timestamp": record.get("timestamp"), **record["message"]}
        for turn in turns_of(message, place, ledger):
            yield _typed(turn, place, ledger) if turn.role == "user" else turn


def _typed(turn: Turn, place: str, ledger: Ledger) -> Turn:
    """Leave out what the program, and not the user, has put into a user's message."""
    for what, is_it in (("command to the program", COMMAND.search), ("interruption by the user", INTERRUPTED.match)):
        if is_it(turn.text):
            ledger.note(what, place)
            turn.text = ""
    turn.text = TYPED.sub("", turn.text).strip()
    return turn

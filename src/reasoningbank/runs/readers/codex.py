"""Sessions of Codex: rollout files (items under `payload`, bare in old ones), and events of `codex exec --json`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_turns
from reasoningbank.runs.readers.outcome import Outcome, answer, outcome_of
from reasoningbank.runs.readers.parts import turns_of
from reasoningbank.runs.readers.turns import Call, Result, Turn
from reasoningbank.runs.readers.values import as_time, get, is_list, unpacked
from reasoningbank.runs.transcript import as_text

KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context"})
# Items that `codex exec --json` reports when they are done.
ACTS = {"command_execution": "shell", "file_change": "apply_patch", "mcp_tool_call": "", "web_search": "web_search"}
# How a shell's answer begins: its exit status, how long it took, and then the output.
HEAD = re.compile(r"(?s)^(?:Chunk ID:[^\n]*\n)?(?=.{0,300}?^Output:)(?:[^\n]*\n){1,8}?Output:\n?", re.MULTILINE)
EXIT = re.compile(r"(?:Exit code:|exited with code) (-?\d{1,9})")


def fits(records: Any) -> bool:
    """Tell whether records are of a session: by the kinds of records that only Codex has."""
    return is_list(records) and any(_is_record(record) for record in islice(records, 30))


def _is_record(record: Any) -> bool:
    if not isinstance(record, Mapping):
        return False
    kind = record.get("type")
    if kind in KINDS and isinstance(record.get("payload"), Mapping):
        return True
    if kind in ("thread.started", "item.completed", "item.started") and ("item" in record or "thread_id" in record):
        return True
    return record.get("record_type") == "state" or {"id", "timestamp", "instructions"} <= record.keys()


def read(records: Any) -> Iterator[Found]:
    """Read a session as one run.

    Messages are recorded twice, as items and as events; the events count only where there are no items.
    """
    ledger = Ledger()
    listed = [record for record in records if isinstance(record, Mapping)]
    items = list(_items(listed, ledger))
    found = read_turns(_turns(items, ledger), ledger)
    meta = next((record["payload"] for record in listed if record.get("type") == "session_meta"), None)
    first = meta if meta is not None else listed[0]
    times = [record["timestamp"] for record in listed if isinstance(record.get("timestamp"), str)]
    found.fields = {
        "session": get(first, "id", "session_id", "thread_id"),
        "started_at": times[0] if times else None,
        "ended_at": times[-1] if times else None,
    }
    yield found


def _items(records: Iterable[Mapping[str, Any]], ledger: Ledger) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the items that tell the run, each with its place."""
    listed = list(records)
    has_items = any(record.get("type") == "response_item" for record in listed)
    for number, record in enumerate(listed):
        place, kind = f"[{number}]", record.get("type")
        payload = record.get("payload") if isinstance(record.get("payload"), Mapping) else record.get("item")
        payload = payload if isinstance(payload, Mapping) else record
        around = {"timestamp": record["timestamp"]} if record.get("timestamp") else {}
        if kind in ("response_item", "item.completed") or (
            payload is record and "timestamp" not in record and kind in BARE
        ):
            yield place, {**around, **payload}
        elif kind == "event_msg" and not has_items:
            yield place, {**around, **payload, "event": True}
        elif kind not in ("event_msg", "session_meta", "turn_context", "item.started", "item.updated"):
            ledger.note(f"record of type {kind or record.get('record_type') or 'head'!s:.60}", place)


BARE = frozenset({
    "message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call",
    "custom_tool_call_output", "web_search_call",
})  # fmt: skip


def _turns(items: Iterable[tuple[str, Mapping[str, Any]]], ledger: Ledger) -> Iterator[Turn]:
    for place, item in items:
        kind = str(item.get("type"))
        turn = _event(item, kind, place) if item.get("event") or kind in ACTS or kind == "agent_message" else None
        own = [turn] if turn is not None else [] if item.get("event") else turns_of(item, place, ledger)
        for each in own:
            each.results[:] = [_shell(result) for result in each.results]
            yield each


def _event(item: Mapping[str, Any], kind: str, place: str) -> Turn | None:
    at = as_time(item.get("timestamp"))
    if kind in ("user_message", "agent_message"):
        text = as_text(get(item, "message", "text"))
        return Turn("user" if kind == "user_message" else "assistant", text, at=at, place=place)
    if kind in ("agent_reasoning", "reasoning"):
        return Turn("assistant", thought=as_text(item.get("text")), at=at, place=place)
    if kind == "exec_command_end":
        call = str(item.get("call_id") or "")
        command: Any = item.get("command")
        words = " ".join(map(str, command)) if is_list(command) else as_text(command)
        output = as_text(get(item, "aggregated_output", "formatted_output", "stdout"))
        result = Result(call, "shell", output, outcome_of(item))
        return Turn("assistant", calls=[Call(call, "shell", words)], results=[result], at=at, place=place)
    if kind not in ACTS:
        return None
    call, tool = str(item.get("id") or ""), ACTS[kind] or as_text(item.get("tool")) or "mcp"
    said = get(item, "command", "changes", "arguments", "query")
    action = said if isinstance(said, str) and kind == "command_execution" else f"{tool}({as_text(said)})"
    text, outcome = answer(get(item, "aggregated_output", "result", "error"))
    result = Result(call, tool, text, outcome_of(item).or_else(outcome))
    return Turn("assistant", calls=[Call(call, tool, action)], results=[result], at=at, place=place)


def _shell(result: Result) -> Result:
    """Take apart what the shell says around an output: JSON with `output` and `metadata`, or lines before `Output:`."""
    packed = unpacked(result.text)
    if isinstance(packed, Mapping) and "output" in packed and packed.keys() <= {"output", "metadata"}:
        text, outcome = answer(packed)
        return replace(result, text=text, outcome=result.outcome.or_else(outcome))
    head = HEAD.match(result.text)
    code = EXIT.search(head[0]) if head else None
    if head is None or code is None:
        return result
    return replace(
        result, text=result.text[head.end() :].strip(), outcome=result.outcome.or_else(Outcome(None, int(code[1])))
    )

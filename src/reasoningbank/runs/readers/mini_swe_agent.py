"""Trajectories of mini-swe-agent: messages whose commands stand fenced in the text, or are tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import are_messages, read_messages
from reasoningbank.runs.readers.values import get
from reasoningbank.runs.transcript import as_text


def fits(record: Any) -> bool:
    """Tell whether it says to be one, or has the version of the program in `info`."""
    if not isinstance(record, Mapping) or not are_messages(record.get("messages")):
        return False
    info = record.get("info")
    return str(record.get("trajectory_format", "")).startswith("mini-swe-agent") or (
        isinstance(info, Mapping) and ("mini_version" in info or {"exit_status", "submission"} <= info.keys())
    )


def read(record: Mapping[str, Any]) -> Iterator[Found]:
    """Read a trajectory as one run."""
    found = read_messages(record["messages"], commands=True)
    info = record["info"] if isinstance(record.get("info"), Mapping) else {}
    found.says = [record, info]
    found.result = as_text(info.get("submission")) or found.result
    found.fields = {"session": get(record, "instance_id", "session_id")}
    yield found

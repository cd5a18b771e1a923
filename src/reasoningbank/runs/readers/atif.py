"""Harbor's Agent Trajectory Interchange Format: steps with a `source`, tool calls, and observations that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list

ROLES = {"user": "user", "agent": "assistant", "system": "system"}


def fits(record: Any) -> bool:
    """Tell whether it names the format, or its steps are numbered and have a source."""
    if not isinstance(record, Mapping) or not is_list(record.get("steps")):
        return False
    return str(record.get("schema_version", "")).startswith("ATIF") or any(
        isinstance(step, Mapping) and {"step_id", "source"} <= step.keys() for step in islice(record["steps"], 3)
    )


def read(record: Mapping[str, Any]) -> Iterator[Found]:
    """Read a trajectory as one run."""
    found = read_messages(_messages(record["steps"]), place="steps")
    found.says = [record, record.get("extra"), record.get("final_metrics")]
    found.fields = {"session": get(record, "session_id", "trajectory_id")}
    yield found


def _messages(steps: Any) -> Iterator[dict[str, Any]]:
    for step in steps:
        content: Any = get(step, "message")
        yield {
            "role": ROLES.get(str(get(step, "source")), get(step, "source")),
            "content": content,
            "thought": get(step, "reasoning_content"),
            "tool_calls": get(step, "tool_calls"),
            "tool_results": [_answered(result) for result in get(get(step, "observation"), "results") or ()],
            "timestamp": get(step, "timestamp"),
        }


def _answered(result: Any) -> dict[str, Any]:
    extra: Any = get(result, "extra")
    flags = dict(extra) if isinstance(extra, Mapping) else {}
    return {**flags, "tool_call_id": get(result, "source_call_id"), "content": get(result, "content")}

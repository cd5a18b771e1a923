"""SWE-agent's `.traj` files: `trajectory` has the acts, `history` the same as messages, with the request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import is_demonstration
from reasoningbank.runs.readers.outcome import Outcome
from reasoningbank.runs.readers.parts import role_of, words
from reasoningbank.runs.readers.request import requested
from reasoningbank.runs.readers.values import get, is_list
from reasoningbank.runs.transcript import as_text, is_boot_text, without_blocks

FIELDS = ("action", "observation")


def fits(record: Any) -> bool:
    """Tell whether it is a trajectory: acts with observations, beside `history`, `info` or `environment`."""
    if not isinstance(record, Mapping) or not is_list(record.get("trajectory")):
        return False
    steps = record["trajectory"]
    if steps and not (isinstance(steps[0], Mapping) and all(name in steps[0] for name in FIELDS)):
        return False
    return any(name in record for name in ("history", "environment")) and any(
        name in record for name in ("info", "history")
    )


def read(record: Mapping[str, Any]) -> Iterator[Found]:
    """Read a trajectory as one run. Demonstrations in the history are not the task."""
    ledger = Ledger()
    info = record["info"] if isinstance(record.get("info"), Mapping) else {}
    found = Found(_task(record, ledger), ledger=ledger, says=[record, info])
    for number, step in enumerate(record["trajectory"]):
        if not isinstance(step, Mapping):
            ledger.note("step that is no dictionary", f"trajectory[{number}]", maybe_tool=True)
            continue
        observation = as_text(step.get("observation"))
        action = as_text(step.get("action")).strip()
        thought = as_text(get(step, "thought", "response")).strip()
        error = Outcome().error(observation)
        if action or thought or observation:
            tool = action.split(maxsplit=1)[0][:80] if action else ""
            found.steps.append(
                {"thought": thought, "action": action, "observation": observation, "error": error, "tool": tool}
            )
    found.result = as_text(info.get("submission"))
    found.fields = {"session": get(record, "instance_id", "environment"), "metadata": _metadata(info)}
    yield found


def _metadata(info: Mapping[str, Any]) -> dict[str, Any]:
    return {"exit_status": info["exit_status"]} if isinstance(info.get("exit_status"), str) else {}


def _task(record: Mapping[str, Any], ledger: Ledger) -> str:
    stated = get(record, "problem_statement", "task")
    if isinstance(stated, str):
        return stated
    history: Any = record.get("history")
    for number, message in enumerate(history if is_list(history) else ()):
        if is_demonstration(message):
            ledger.note("message of a demonstration", f"history[{number}]")
            continue
        text = without_blocks(words(get(message, "content"))) if role_of(message) == "user" else ""
        if text and not is_boot_text(text):
            return requested(text)
    return ""

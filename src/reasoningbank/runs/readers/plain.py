"""Runs in our own words: a dictionary with `task` and `steps` or `messages`, or a list of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import are_messages, is_message, read_messages
from reasoningbank.runs.readers.outcome import answer, outcome_of
from reasoningbank.runs.readers.parts import call_of, keys
from reasoningbank.runs.readers.values import TIMES, as_time, get, is_list, is_record
from reasoningbank.runs.readers.verdicts import NESTED, REASONS, RULES
from reasoningbank.runs.trajectory import Step
from reasoningbank.runs.transcript import as_text

FIELDS: dict[str, tuple[str, ...]] = {
    "task": ("task", "query", "instruction", "goal", "question", "problem", "problem_statement", "prompt", "request",
             "objective", "user_request", "intent", "task_description"),
    "result": ("result", "final_answer", "answer", "output", "final_output", "response", "final_result",
               "final_response"),
    "reason": REASONS,
    "tags": ("tags", "labels"),
    "session": ("session", "session_id", "sessionId", "run_id", "thread_id", "conversation_id", "task_id", "id",
                "uuid"),
    "started_at": ("started_at", "start_time", "startTime", "started", "created_at", "createdAt", "timestamp"),
    "ended_at": ("ended_at", "end_time", "endTime", "finished_at", "completed_at"),
    "trusted": ("trusted",),
    "metadata": ("metadata",),
}  # fmt: skip
STEPS = ("steps", "trajectory", "actions", "turns", "events", "intermediate_steps", "trace", "episode", "traj")
MESSAGES = ("messages", "history", "conversation", "conversations", "chat_history", "transcript", "chat", "dialogue",
            "log", "logs", "loglines", "entries", "contents", "items", "input", "records", "thread", "traj",
            "all_messages", "full_history", "new_messages")  # fmt: skip
STEP_FIELDS: dict[str, tuple[str, ...]] = {
    "thought": ("thought", "thinking", "reasoning", "thoughts", "reasoning_content", "rationale", "plan", "log"),
    "action": ("action", "tool_call", "command", "act", "tool_calls", "code", "cmd"),
    "observation": ("observation", "output", "result", "obs", "response", "tool_output", "stdout", "observations"),
    "error": ("error",),
    "tool": ("tool", "tool_name", "name", "function_name"),
    "at": TIMES,
}
OWN = {"form", "left_out", "tools_understood"}
KNOWN = {name for names in FIELDS.values() for name in names} | {*STEPS, *MESSAGES, *NESTED, *OWN}
KNOWN |= {name for names, _ in RULES for name in names}


def fits(record: Any) -> bool:
    """Tell whether it is a dictionary that says what was asked, what was done, or how it ended."""
    if not isinstance(record, Mapping):
        return False
    if any(isinstance(record.get(name), str) for name in (*FIELDS["task"][:6], *FIELDS["result"][:3])):
        return True
    return any(record.get(name) is not None for name in ("steps", "messages", "verdict")) or has_view(record)


def has_view(record: Mapping[str, Any]) -> bool:
    """Tell whether a dictionary holds a list of steps or of messages under one of the usual names."""
    views = (record.get(name) for name in (*STEPS, *MESSAGES))
    return any(are_messages(view) or are_steps(view) for view in views)


def are_steps(items: Any) -> bool:
    """Tell whether a list holds steps: the first is one, or a pair of an act and what came back."""
    if not is_list(items) or not items:
        return False
    first = items[0]
    return isinstance(first, Step) or _is_pair(first) or _is_step(first)


def fits_list(items: Any) -> bool:
    """Tell whether it is a list of steps, or of acts in words."""
    return are_steps(items) or (is_list(items) and bool(items) and all(isinstance(item, str) for item in items))


def _is_pair(item: Any) -> bool:
    return is_list(item) and len(item) == 2 and not is_list(item[0]) and not is_message(item[0])


def _is_step(item: Any) -> bool:
    named = (name for field in ("thought", "action", "observation", "error") for name in STEP_FIELDS[field])
    return is_record(item) and not isinstance(item, str) and any(get(item, name) is not None for name in named)


def read(record: Mapping[str, Any]) -> Iterator[Found]:
    """Read a dictionary. Of two views of one run, its steps and its messages, the one that shows more acts counts."""
    given = {field: get(record, *names) for field, names in FIELDS.items()}
    task = as_text(given["task"])
    views = list(_views(record, task))
    views.sort(key=lambda view: -sum(bool(step.get("action")) for step in view[1].steps))
    found = views[0][1] if views else Found()
    for name, other in views[1:]:
        found.ledger.note("second view of the same run", name)
        found.task, found.result = found.task or other.task, found.result or other.result
    found.task = task or found.task
    result = given["result"]
    found.result = as_text(result) if result is not None and not is_list(result) else found.result
    found.fields = {
        field: given[field] for field in ("reason", "tags", "session", "started_at", "ended_at", "trusted", "metadata")
    }
    found.says = [record]
    for name in record:
        if name not in KNOWN:
            found.ledger.note(f"key {name!s:.60}", "")
    yield found


def _views(record: Mapping[str, Any], task: str) -> Iterator[tuple[str, Found]]:
    """Yield each list in the record that tells the run."""
    for name in dict.fromkeys((*STEPS, *MESSAGES)):
        items: Any = record.get(name)
        if not is_list(items):
            continue
        answered: Any = record.get("output")
        if name == "input" and are_messages(items) and are_messages(answered):
            items = [*items, *answered]  # a request and its response, as of the Responses API
        if are_messages(items):
            yield name, read_messages(items, task, place=name)
        elif name in ("steps", "messages") or are_steps(items):
            yield name, read_steps(items, name)


def read_list(items: Any) -> Iterator[Found]:
    """Read a list of steps."""
    yield read_steps(items, "steps")


def read_steps(items: Any, place: str) -> Found:
    """Read a list of steps: dictionaries, pairs, texts (acts) or Steps."""
    found = Found()
    for number, item in enumerate(items):
        step = _step(item, f"{place}[{number}]", found.ledger)
        if step is not None:
            found.steps.append(step)
    if items and not found.steps:
        raise InvalidInputError(
            f"a step cannot be read from {items[0]!r:.100}: give a dictionary with thought, action, observation, error"
        )
    return found


def _step(item: Any, place: str, ledger: Ledger) -> dict[str, Any] | None:
    if isinstance(item, Step):
        return {name: getattr(item, name) for name in Step.model_fields}
    if isinstance(item, str):
        return {"action": item}
    if _is_pair(item):
        item = {"action": item[0], "observation": item[1]}
    if not _is_step(item):
        seen = f"step with the keys {', '.join(keys(item))}" if isinstance(item, Mapping) else "step of no known form"
        ledger.note(seen, place, maybe_tool=True)
        return None
    given = {field: get(item, *names) for field, names in STEP_FIELDS.items()}
    step = {"thought": as_text(given["thought"]), **_act(given, item)}
    text, inner = answer(given["observation"]) if given["observation"] is not None else ("", None)
    outcome = outcome_of(item).or_else(inner) if inner else outcome_of(item)
    if isinstance(given["observation"], str):
        text = given["observation"]
    error = given["error"] if isinstance(given["error"], str) else outcome.error(text)
    at = as_time(given["at"])
    if given["at"] is not None and at is None:
        ledger.note("time without a zone, or no time", place)
    return {**step, "observation": text, "error": error, "exit_code": outcome.exit_code, "at": at}


def _act(given: Mapping[str, Any], item: Any) -> dict[str, str]:
    """Return act and tool of a step: an act may be a text, a call of any framework, or a list of these."""
    action, tool = given["action"], as_text(given["tool"])
    if is_list(action) and len(action) == 1:
        action = action[0]
    if isinstance(action, Mapping) or (is_record(action) and not isinstance(action, str)):
        call = call_of(action)
        named = get(action, "name", "tool", "tool_name", "function", "function_name")
        return {"action": call.action if named else as_text(action), "tool": call.tool if named else tool}
    if action is None and tool and get(item, "arguments", "args", "input", "tool_input") is not None:
        call = call_of(item)
        return {"action": call.action, "tool": call.tool}
    return {"action": as_text(action), "tool": tool}

"""Event lists of OpenHands: actions and observations, of its first generation and of its SDK (`kind`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_turns
from reasoningbank.runs.readers.outcome import Outcome, answer, outcome_of
from reasoningbank.runs.readers.parts import words
from reasoningbank.runs.readers.turns import Call, Result, Turn
from reasoningbank.runs.readers.values import as_time, get, is_list
from reasoningbank.runs.transcript import as_text

SOURCES = ("user", "agent", "environment", "system")
# Events about the agent's own state, which are no part of the run.
ASIDE = frozenset({
    "system", "recall", "change_agent_state", "agent_state_changed", "null", "condensation", "condensation_request",
    "loop_detection", "server_ready", "status", "microagent",
})  # fmt: skip
# What an action does, out of its arguments; the others are written as `action(arguments)`.
COMMANDS = {"run": "command", "run_ipython": "code", "browse": "url"}


def fits(record: Any) -> bool:
    """Tell whether it is a list of events (or of pairs of them), or a dictionary that holds one as its history."""
    events = _events_in(record)
    first = next(iter(_flat(events)), None) if events is not None else None
    return first is not None and any(map(is_event, islice(_flat(events), 10)))


def _events_in(record: Any) -> Any:
    if isinstance(record, Mapping):
        named = (record.get(name) for name in ("history", "trajectory", "events"))
        return next((events for events in named if is_list(events)), None)
    return record if is_list(record) else None


def _flat(events: Any) -> Iterator[Any]:
    for event in events:
        if is_list(event):
            yield from event
        else:
            yield event


def is_event(event: Any) -> bool:
    if not isinstance(event, Mapping) or event.get("source") not in SOURCES:
        return False
    if isinstance(event.get("kind"), str) and event["kind"].endswith("Event"):
        return True
    return ("action" in event and ("args" in event or "message" in event)) or (
        "observation" in event and ("extras" in event or "content" in event)
    )


def read(record: Any) -> Iterator[Found]:
    """Read an event list as one run."""
    ledger = Ledger()
    about = record if isinstance(record, Mapping) else {}
    instance = about["instance"] if isinstance(about.get("instance"), Mapping) else {}
    found = read_turns(_turns(_flat(_events_in(record)), ledger), ledger)
    found.task = as_text(get(instance, "problem_statement")) or found.task or as_text(about.get("instruction"))
    found.says = [about]
    found.fields = {"session": get(about, "instance_id", "id", "conversation_id")}
    yield found


def _turns(events: Iterable[Any], ledger: Ledger) -> Iterator[Turn]:
    for number, event in enumerate(events):
        place = f"[{number}]"
        if not is_event(event):
            ledger.note("record that is no event", place, maybe_tool=True)
            continue
        turn = _of_sdk(event, place, ledger) if "kind" in event else _of_event(event, place, ledger)
        if turn is not None:
            turn.at = as_time(event.get("timestamp"))
            if event.get("timestamp") is not None and turn.at is None:
                ledger.note("time without a zone, or no time", place)
            yield turn


def _of_event(event: Mapping[str, Any], place: str, ledger: Ledger) -> Turn | None:
    name = str(event.get("action") or event.get("observation"))
    if name in ASIDE:
        ledger.note(f"event {name}", place)
        return None
    if "observation" in event:
        return _observed(event, place)
    args: Mapping[str, Any] = event["args"] if isinstance(event.get("args"), Mapping) else {}
    thought = as_text(args.get("thought"))
    if name in ("message", "finish", "think"):
        said = as_text(get(args, "content", "final_thought", "message", "thought") or event.get("message"))
        agent = event["source"] == "agent"
        return Turn("assistant" if agent else "user", said, place=place)
    metadata = event.get("tool_call_metadata")
    tool = as_text(get(metadata, "function_name") or (get(args, "name") if name == "call_tool_mcp" else name))
    own = COMMANDS.get(name, "")
    inner = {key: value for key, value in args.items() if key not in BOOKKEEPING and value not in (None, "")}
    action = as_text(args[own]) if args.get(own) else f"{tool}({as_text(inner)})"
    return Turn("assistant", thought=thought, calls=[Call(f"event {event.get('id')}", tool, action)], place=place)


BOOKKEEPING = frozenset(
    {"thought", "confirmation_state", "security_risk", "blocking", "hidden", "is_static", "is_input"}
)


def _observed(event: Mapping[str, Any], place: str) -> Turn | None:
    extras = event["extras"] if isinstance(event.get("extras"), Mapping) else {}
    if event["observation"] == "think":
        return None
    outcome = outcome_of(extras).or_else(outcome_of(event))
    if event["observation"] == "error":
        outcome = Outcome(True, outcome.exit_code, outcome.said)
    text = as_text(get(event, "content") or event.get("message"))
    return Turn("tool", results=[Result(f"event {event.get('cause')}", "", text, outcome)], place=place)


def _of_sdk(event: Mapping[str, Any], place: str, ledger: Ledger) -> Turn | None:
    kind = event["kind"]
    call = str(get(event, "tool_call_id", "action_id") or "")
    if kind == "MessageEvent":
        message = event.get("llm_message")
        return Turn("user" if event["source"] == "user" else "assistant", words(get(message, "content")), place=place)
    if kind == "ActionEvent":
        action = event["action"] if isinstance(event.get("action"), Mapping) else {}
        thought = words(event.get("thought")) or as_text(event.get("reasoning_content"))
        if "Finish" in str(action.get("kind")):
            return Turn("assistant", as_text(action.get("message")), place=place)
        tool = as_text(event.get("tool_name")) or "tool"
        inner = {key: value for key, value in action.items() if key != "kind" and value is not None}
        done = as_text(action["command"]) if "Bash" in str(action.get("kind")) and action.get("command") else ""
        return Turn(
            "assistant", thought=thought, calls=[Call(call, tool, done or f"{tool}({as_text(inner)})")], place=place
        )
    if kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        observed = get(event, "observation", "error", "rejection_reason")
        if "Finish" in str(get(observed, "kind")):
            return None
        text, outcome = answer(get(observed, "content", "output") if isinstance(observed, Mapping) else observed)
        wrong = Outcome(failed=True if kind != "ObservationEvent" else None)
        return Turn(
            "tool", results=[Result(call, "", text, outcome_of(observed).or_else(outcome).or_else(wrong))], place=place
        )
    ledger.note(f"event {kind:.60}", place)
    return None

"""Traces: trees of spans, each the call of a model, the use of a tool, or what holds these together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import are_messages, read_messages, read_turns
from reasoningbank.runs.readers.outcome import Outcome, answer
from reasoningbank.runs.readers.parts import role_of, turns_of, unwrapped, words
from reasoningbank.runs.readers.turns import Call, Result, Turn
from reasoningbank.runs.readers.values import get, is_list, unpacked
from reasoningbank.runs.transcript import as_text

MODEL, TOOL, OTHER = "model", "tool", "other"
# Where what was asked stands in the input of a chain or an agent.
ASKED = (
    "task",
    "question",
    "query",
    "input",
    "inputs",
    "prompt",
    "user_input",
    "request",
    "messages",
    "text",
    "content",
    "args",
)
# What models answer, in the wrappings of those that record it.
INSIDE = ("messages", "choices", "generations", "message", "output", "outputs", "response", "output_messages", "input",
          "inputs", "candidates")  # fmt: skip
DEPTH = 6
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Span:
    """A span of a trace.

    Attributes:
        kind: model, tool or other.
        given, gave: what went in, and what came out.
        wrong: what it says went wrong; "" if nothing.
        says: records in which a verdict may stand.
    """

    trace: str
    id: str
    parent: str
    kind: str
    name: str
    given: Any = None
    gave: Any = None
    wrong: str = ""
    at: datetime | None = None
    ended: datetime | None = None
    says: list[Any] = field(default_factory=list)


def read_spans(spans: Iterable[Span]) -> Iterator[Found]:
    """Read each trace as one run, in the order in which they begin.

    The root says what was asked and what came of it. Where tools have spans of their own these are the acts; else the
    messages of the model's longest call tell the run.
    """
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    for listed in traces.values():
        yield _read_trace(sorted(listed, key=lambda span: span.at or NEVER))


def _read_trace(spans: Sequence[Span]) -> Found:
    ledger = Ledger()
    ids = {span.id for span in spans}
    root = next((span for span in spans if not span.parent or span.parent not in ids), spans[0])
    models = [span for span in spans if span.kind == MODEL]
    told = max(models, key=lambda span: len(messages_in(span.given)), default=None)
    if any(span.kind == TOOL for span in spans):
        found = read_turns(_turns(spans), ledger)
        found.task = _asked(root.given) or (_asked(told.given) if told else "")
    elif told is not None:
        found = read_messages([*messages_in(told.given), *messages_in(told.gave)], ledger=ledger)
        found.task = found.task or _asked(root.given)
    else:
        ledger.note(f"trace of {len(spans)} spans without a model's or a tool's", maybe_tool=True)
        found = Found(_asked(root.given), result=answer(root.gave)[0], ledger=ledger)
    found.result = found.result or _said(root.gave)
    found.says = [*root.says, {"status": "error"} if root.wrong else None]
    found.fields = {"session": root.trace, "started_at": root.at, "ended_at": root.ended, "reason": root.wrong}
    return found


def _turns(spans: Sequence[Span]) -> Iterator[Turn]:
    """Yield what the model said before each use of a tool, and the uses with their answers."""
    for span in spans:
        if span.kind == MODEL:
            spoken = [turns_of(unwrapped(message), span.name, Ledger()) for message in messages_in(span.gave)]
            said = "\n".join(turn.text for turns in spoken for turn in turns)
            said = said or (span.gave if isinstance(span.gave, str) else "")
            yield Turn("assistant", said, at=span.at, place=span.name)
        elif span.kind == TOOL:
            text, outcome = answer(_unwrapped_answer(span.gave))
            failed = Outcome(failed=True if span.wrong else None, said=span.wrong)
            call = Call(span.id, span.name, f"{span.name}({as_text(_arguments(span.given))})")
            result = Result(span.id, span.name, text or span.wrong, failed.or_else(outcome))
            yield Turn("assistant", calls=[call], results=[result], at=span.at, place=span.name)


def _arguments(given: Any) -> Any:
    """Return what a tool was called with, without the wrapping `{"input": …}`."""
    given = unpacked(given)
    if (
        isinstance(given, Mapping)
        and len(given) == 1
        and (inner := get(given, "input", "args", "arguments")) is not None
    ):
        return inner
    return given


def _unwrapped_answer(gave: Any) -> Any:
    gave = unwrapped(unpacked(gave))
    inner = get(gave, "output") if isinstance(gave, Mapping) and len(gave) == 1 else None
    inner = unwrapped(inner) if isinstance(inner, Mapping) else inner
    return gave if inner is None else inner


def messages_in(value: Any, depth: int = DEPTH) -> list[Any]:
    """Return the messages inside the input or output of a model's call, in whatever it is wrapped."""
    value = unpacked(value)
    if are_messages(value):
        return list(value)
    if is_list(value) and value and depth:
        return messages_in(value[0], depth - 1)
    if not isinstance(value, Mapping) or not depth:
        return []
    if role_of(unwrapped(value)) in ("user", "assistant") and are_messages([value]):
        return [value]
    for name in INSIDE:
        found = messages_in(value.get(name), depth - 1) if value.get(name) is not None else []
        if found:
            return found
    text = get(value, "text")
    return [{"role": "assistant", "content": text}] if isinstance(text, str) else []


def _asked(value: Any, depth: int = DEPTH) -> str:
    """Return what was asked, out of the input of a chain, an agent or a model."""
    value = unpacked(value)
    if isinstance(value, str):
        return value.strip()
    messages = messages_in(value)
    if messages:
        return read_messages(messages).task
    if is_list(value) and value and depth:
        return _asked(value[0], depth - 1)
    if isinstance(value, Mapping) and depth:
        named = (value[name] for name in ASKED if value.get(name) is not None)
        return next((text for inner in named if (text := _asked(inner, depth - 1))), "")
    return ""


def _said(value: Any) -> str:
    """Return what a run ended with, out of the output of its root."""
    messages = messages_in(value)
    if messages:
        return words(get(unwrapped(messages[-1]), "content", "parts", "text"))
    return answer(_unwrapped_answer(value))[0] if value is not None else ""

"""Traces of Langfuse: a trace with its observations, or a list of observations; scores say how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.parts import call_of, unwrapped
from reasoningbank.runs.readers.spans import MODEL, OTHER, TOOL, Span, messages_in, read_spans
from reasoningbank.runs.readers.values import as_time, get, is_list

KINDS = {"GENERATION": MODEL, "TOOL": TOOL}
TYPES = frozenset((*KINDS, "SPAN", "EVENT", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"))


def fits(record: Any) -> bool:
    """Tell whether it is a trace with observations, or a list of these or of observations."""
    if is_list(record):
        return any(_is_observation(each) or _is_trace(each) for each in islice(record, 5))
    return _is_trace(record)


def _is_trace(record: Any) -> bool:
    observations: Any = get(record, "observations") if isinstance(record, Mapping) else None
    return is_list(observations) and any(map(_is_observation, islice(observations, 5)))


def _is_observation(record: Any) -> bool:
    return (
        isinstance(record, Mapping) and record.get("type") in TYPES and ("traceId" in record or "startTime" in record)
    )


def read(record: Any) -> Iterator[Found]:
    """Read each trace as one run."""
    records = record if is_list(record) else [record]
    traces = [each for each in records if _is_trace(each)]
    yield from read_spans(_spans([each for each in records if _is_observation(each)], {}))
    for trace in traces:
        yield from read_spans(_spans(trace["observations"], trace))


def _spans(observations: Any, trace: Mapping[str, Any]) -> Iterator[Span]:
    kept = [each for each in observations if _is_observation(each)]
    called = _called(kept)
    own = str(get(trace, "id") or "")
    if trace:
        root = Span(own, "trace", "", OTHER, "trace", trace.get("input"), trace.get("output"), says=_says(trace))
        root.at = as_time(trace.get("timestamp"))
        yield root
    for each in kept:
        name = str(each.get("name") or each["type"])
        kind = KINDS.get(each["type"], TOOL if each["type"] == "SPAN" and name in called else OTHER)
        wrong = str(get(each, "statusMessage") or "failed") if each.get("level") == "ERROR" else ""
        yield Span(
            trace=own or str(get(each, "traceId") or ""),
            id=str(get(each, "id") or id(each)),
            parent=str(get(each, "parentObservationId") or ("trace" if trace else "")),
            kind=kind,
            name=name,
            given=each.get("input"),
            gave=each.get("output"),
            wrong=wrong,
            at=as_time(each.get("startTime")),
            ended=as_time(each.get("endTime")),
        )


def _called(observations: list[Any]) -> set[str]:
    """Return the names of the tools that models asked for: older traces have their uses as spans of these names."""
    messages = [m for each in observations if each["type"] == "GENERATION" for m in messages_in(each.get("output"))]
    calls: list[Any] = []
    for message in messages:
        listed: Any = get(unwrapped(message), "tool_calls")
        calls += listed if is_list(listed) else ()
    return {call_of(call).tool for call in calls}


def _says(trace: Mapping[str, Any]) -> list[Any]:
    scores: Any = trace.get("scores")
    listed = scores if is_list(scores) else ()
    named = [{str(get(score, "name")).lower(): get(score, "value", "stringValue")} for score in listed]
    return [*named, trace.get("metadata")]

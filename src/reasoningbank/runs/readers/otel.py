"""Spans of OpenTelemetry: OTLP's JSON and what exporters print, with the attributes that instrumentations give them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.spans import MODEL, OTHER, TOOL, Span, read_spans
from reasoningbank.runs.readers.values import as_time, get, is_list, label, unpacked

# Attribute names, of the GenAI conventions first, then of OpenInference, Traceloop, the AI SDK, MLflow and Logfire.
KIND = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "ai.operationId", "mlflow.spanType",
        "operation.name")  # fmt: skip
MODELS = ("chat", "textcompletion", "generatecontent", "llm", "chatmodel", "completion", "aigeneratetextdogenerate",
          "aistreamtextdostream")  # fmt: skip
TOOLS = ("executetool", "tool", "aitoolcall")
TOOL_NAME = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "tool_name", "traceloop.entity.name")
GIVEN = (
    "gen_ai.tool.call.arguments",
    "gen_ai.input.messages",
    "input.value",
    "traceloop.entity.input",
    "ai.toolCall.args",
    "ai.prompt.messages",
    "ai.prompt",
    "tool_arguments",
    "mlflow.spanInputs",
    "all_messages_events",
    "gen_ai.prompt",
)
GAVE = (
    "gen_ai.tool.call.result",
    "gen_ai.output.messages",
    "output.value",
    "traceloop.entity.output",
    "ai.toolCall.result",
    "ai.response.text",
    "tool_response",
    "mlflow.spanOutputs",
    "final_result",
    "gen_ai.completion",
)
# Lists that are spread over attributes: `llm.input_messages.0.message.role`.
SPREAD_GIVEN = ("llm.input_messages", "gen_ai.prompt")
SPREAD_GAVE = ("llm.output_messages", "gen_ai.completion")
PLACE = re.compile(r"\.(\d{1,5})\.")


def fits(record: Any) -> bool:
    """Tell whether it is OTLP's JSON, a span, or a list of either."""
    if is_list(record):
        return any(map(_fits_one, islice(record, 5)))
    return _fits_one(record)


def _fits_one(record: Any) -> bool:
    if not isinstance(record, Mapping):
        return False
    return is_list(get(record, "resourceSpans", "resource_spans")) or _is_span(record)


def _is_span(record: Mapping[str, Any]) -> bool:
    has_ids = (
        get(record, "spanId", "span_id") is not None or get(get(record, "context"), "span_id", "spanId") is not None
    )
    return has_ids and ("attributes" in record or "name" in record) and "run_type" not in record


def read(record: Any) -> Iterator[Found]:
    """Read each trace as one run."""
    records = record if is_list(record) else [record]
    yield from read_spans(_span(raw) for each in records if isinstance(each, Mapping) for raw in _raw(each))


def _raw(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if _is_span(record):
        yield record
    for resource in get(record, "resourceSpans", "resource_spans") or ():
        for scope in get(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans") or ():
            yield from (span for span in get(scope, "spans") or () if isinstance(span, Mapping))


def _span(raw: Mapping[str, Any]) -> Span:
    attributes = _attributes(raw.get("attributes"))
    context = raw.get("context")
    given, gave = get(attributes, *GIVEN), get(attributes, *GAVE)
    kind = _kind(attributes)
    spread = kind == MODEL
    name = str(get(attributes, *TOOL_NAME) if kind == TOOL else raw.get("name")).removeprefix("execute_tool ")
    return Span(
        trace=str(get(raw, "traceId", "trace_id") or get(context, "trace_id", "traceId") or ""),
        id=str(get(raw, "spanId", "span_id") or get(context, "span_id", "spanId") or id(raw)),
        parent=str(get(raw, "parentSpanId", "parent_span_id", "parent_id", "parentId") or ""),
        kind=kind,
        name=name if name != "None" else str(raw.get("name")).removeprefix("execute_tool "),
        given=(
            _spread(attributes, SPREAD_GIVEN) or _events(raw, ("user", "system", "assistant", "tool"))
            if spread
            else None
        )
        or given,
        gave=(_spread(attributes, SPREAD_GAVE) or _events(raw, ("choice",)) if spread else None) or gave,
        wrong=_wrong(raw, attributes),
        at=as_time(get(raw, "startTimeUnixNano", "start_time", "startTime", "start_time_unix_nano")),
        ended=as_time(get(raw, "endTimeUnixNano", "end_time", "endTime", "end_time_unix_nano")),
        says=[attributes],
    )


def _kind(attributes: Mapping[str, Any]) -> str:
    kind = label(get(attributes, *KIND) or "")
    if kind in TOOLS or (not kind and get(attributes, "gen_ai.tool.name", "tool.name") is not None):
        return TOOL
    return MODEL if kind in MODELS else OTHER


def _attributes(given: Any) -> dict[str, Any]:
    """Return the attributes of a span: of a dictionary as it is, of OTLP's list of keys and typed values as one."""
    if isinstance(given, Mapping):
        return dict(given)
    return {str(get(pair, "key")): _value(get(pair, "value")) for pair in given} if is_list(given) else {}


def _value(value: Any) -> Any:
    for name in ("stringValue", "intValue", "doubleValue", "boolValue"):
        if isinstance(value, Mapping) and name in value:
            return value[name]
    listed: Any = get(get(value, "arrayValue"), "values")
    return (
        [_value(each) for each in listed] if is_list(listed) else _attributes(get(get(value, "kvlistValue"), "values"))
    )


def _spread(attributes: Mapping[str, Any], prefixes: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the messages that are spread over attributes, in their order."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        prefix = next((prefix for prefix in prefixes if name.startswith(f"{prefix}.")), None)
        place = PLACE.match(name, len(prefix)) if prefix else None
        if place is not None:
            field = name[place.end() :].removeprefix("message.")
            _put(found.setdefault(int(place[1]), {}), field, value)
    return [found[number] for number in sorted(found)]


def _put(message: dict[str, Any], field: str, value: Any) -> None:
    """Set a field of a message; of a call, `tool_calls.0.tool_call.function.name`, its place in the list of calls."""
    place = PLACE.search(f".{field}") if field.startswith("tool_calls.") else None
    if place is None:
        message[field] = value
        return
    calls = message.setdefault("tool_calls", [])
    while len(calls) <= min(int(place[1]), 1_000):
        calls.append({})
    own = field[place.end() - 1 :].removeprefix("tool_call.").removeprefix("function.")
    calls[min(int(place[1]), 1_000)][own] = value


def _events(raw: Mapping[str, Any], kinds: tuple[str, ...]) -> list[Any]:
    """Return the messages that are events of a span: `gen_ai.user.message`, `gen_ai.choice`."""
    events: Any = raw.get("events")
    found = []
    for event in events if is_list(events) else ():
        kind = str(get(event, "name")).removeprefix("gen_ai.").removesuffix(".message")
        fields = _attributes(get(event, "attributes"))
        if kind in kinds and fields:
            message = unpacked(get(fields, "message")) if isinstance(get(fields, "message"), str) else None
            own = message if isinstance(message, Mapping) else fields
            found.append({"role": "assistant" if kind == "choice" else kind, **own})
    return found


def _wrong(raw: Mapping[str, Any], attributes: Mapping[str, Any]) -> str:
    status: Any = raw.get("status")
    code = get(status, "code", "status_code") if isinstance(status, Mapping) else status
    if label(code or "") not in ("2", "error", "statuscodeerror"):
        return ""
    return str(get(status, "message", "description") or get(attributes, "error.type") or "failed")

"""Traces of the OpenAI Agents SDK, as its processors export them; its run items are messages (`messages`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.spans import MODEL, OTHER, TOOL, Span, read_spans
from reasoningbank.runs.readers.values import as_time, get, is_list

KINDS = {"generation": MODEL, "response": MODEL, "function": TOOL, "mcp_tools": OTHER}


def fits(record: Any) -> bool:
    """Tell whether it is a list of the SDK's traces and spans."""
    return is_list(record) and any(map(_is_span, islice(record, 10)))


def _is_span(record: Any) -> bool:
    return get(record, "object") == "trace.span" and isinstance(get(record, "span_data"), Mapping)


def read(record: Any) -> Iterator[Found]:
    """Read each trace as one run."""
    yield from read_spans(_span(each) for each in record if _is_span(each))


def _span(record: Any) -> Span:
    data, error = get(record, "span_data"), get(record, "error")
    return Span(
        trace=str(get(record, "trace_id") or ""),
        id=str(get(record, "id") or id(record)),
        parent=str(get(record, "parent_id") or ""),
        kind=KINDS.get(str(get(data, "type")), OTHER),
        name=str(get(data, "name") or get(data, "type")),
        given=get(data, "input"),
        gave=get(data, "output"),
        wrong=str(get(error, "message") or error) if error else "",
        at=as_time(get(record, "started_at")),
        ended=as_time(get(record, "ended_at")),
    )

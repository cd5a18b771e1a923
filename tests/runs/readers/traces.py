"""The same run as tracers record it."""

from __future__ import annotations

from typing import Any

from tests.runs.readers.more_samples import ARGS, AT
from tests.runs.readers.samples import TASK


def langchain_message(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


def langsmith() -> dict[str, Any]:
    calls = [{"name": "bash", "args": ARGS, "id": "c1"}]
    said = {
        "text": "Run it first.",
        "message": langchain_message("AIMessage", content="Run it first.", tool_calls=calls),
    }
    model = {
        "id": "m",
        "run_type": "llm",
        "name": "model",
        "start_time": AT.format(1),
        "inputs": {"messages": [[langchain_message("HumanMessage", content=TASK)]]},
        "outputs": {"generations": [[said]]},
    }
    tool = {
        "id": "t",
        "run_type": "tool",
        "name": "bash",
        "start_time": AT.format(2),
        "inputs": {"input": "pytest"},
        "error": "Error: 1 failed\nTraceback",
    }
    done = {"messages": [{"role": "user", "content": TASK}, {"role": "assistant", "content": "One test fails."}]}
    return {"id": "S", "run_type": "chain", "name": "agent", "start_time": "2026-01-01T00:00:00",
            "child_runs": [model, tool, {}],
            "inputs": {"messages": done["messages"][:1]}, "outputs": done,
            "feedback_stats": {"correctness": {"n": 1, "avg": 0.0}}}  # fmt: skip


def langsmith_lines() -> list[Any]:
    root = langsmith()
    children = root.pop("child_runs")[:2]
    return [root, *({**child, "parent_run_id": "S", "trace_id": "S"} for child in children)]


def langfuse() -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "pytest"}'}}
    asked = [{"role": "user", "content": TASK}]
    observations = [
        {
            "id": "g",
            "type": "GENERATION",
            "name": "model",
            "startTime": AT.format(1),
            "input": asked,
            "output": {"role": "assistant", "content": "Run it first.", "tool_calls": [call]},
        },
        {
            "id": "s",
            "type": "SPAN",
            "name": "bash",
            "startTime": AT.format(2),
            "input": "pytest",
            "output": "1 failed",
            "level": "ERROR",
            "statusMessage": "1 failed",
        },
        {"id": "o", "type": "SPAN", "name": "cleanup", "startTime": AT.format(3)},
    ]
    return {"id": "S", "timestamp": AT.format(0), "input": {"question": TASK}, "output": "One test fails.",
            "observations": observations, "scores": [{"name": "Success", "value": 0}]}  # fmt: skip


def langfuse_observations() -> list[Any]:
    trace = langfuse()
    root = {
        "id": "r",
        "type": "AGENT",
        "name": "agent",
        "startTime": AT.format(0),
        "input": TASK,
        "output": "One test fails.",
    }
    return [{**each, "traceId": "S", "parentObservationId": "r" if each is not root else None}
            for each in (root, *trace["observations"])]  # fmt: skip


def otlp(**attributes: Any) -> list[Any]:
    typed = {str: "stringValue", int: "intValue"}
    return [{"key": key.replace("__", "."), "value": {typed[type(value)]: value}} for key, value in attributes.items()]


def otel() -> dict[str, Any]:
    asked = f'[{{"role": "user", "parts": [{{"type": "text", "content": "{TASK}"}}]}}]'
    parts = '{"type": "text", "content": "Run it first."}, {"type": "tool_call", "id": "c1"}'
    run = f'[{{"role": "assistant", "parts": [{parts}]}}]'
    said = '[{"role": "assistant", "parts": [{"type": "text", "content": "One test fails."}]}]'

    def span(own: str, name: str, attributes: list[Any], **more: Any) -> dict[str, Any]:
        at = f"17000000{own}0000000000"
        return {
            "traceId": "S",
            "spanId": own,
            "parentSpanId": "00",
            "name": name,
            "startTimeUnixNano": at,
            "attributes": attributes,
            **more,
        }

    spans = [
        {**span("00", "invoke_agent", otlp(gen_ai__operation__name="invoke_agent")), "parentSpanId": ""},
        span(
            "01",
            "chat m",
            otlp(gen_ai__operation__name="chat", gen_ai__input__messages=asked, gen_ai__output__messages=run),
        ),
        span(
            "02",
            "execute_tool bash",
            otlp(
                gen_ai__operation__name="execute_tool",
                gen_ai__tool__name="bash",
                gen_ai__tool__call__arguments='{"command": "pytest"}',
                gen_ai__tool__call__result="1 failed",
            ),
            status={"code": 2, "message": "1 failed"},
        ),
        span("03", "chat m", otlp(gen_ai__operation__name="chat", gen_ai__output__messages=said)),
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans, None]}]}]}  # fmt: skip


def openinference() -> list[Any]:
    prefix, call = "llm.input_messages", "tool_calls.0.tool_call"
    attributes = {
        "openinference.span.kind": "LLM",
        f"{prefix}.0.message.role": "user",
        f"{prefix}.0.message.content": TASK,
        f"{prefix}.1.message.role": "assistant",
        f"{prefix}.1.message.content": "Run it first.",
        f"{prefix}.1.message.{call}.id": "c1",
        f"{prefix}.1.message.{call}.function.name": "bash",
        f"{prefix}.1.message.{call}.function.arguments": '{"command": "pytest"}',
        f"{prefix}.2.message.role": "tool",
        f"{prefix}.2.message.content": "Error: 1 failed",
        f"{prefix}.2.message.tool_call_id": "c1",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "One test fails.",
        "llm.token_count.total": 3,
    }
    return [
        {"name": "model", "context": {"trace_id": "S", "span_id": "1"}, "parent_id": None, "attributes": attributes}
    ]


def otel_events() -> list[Any]:
    def event(name: str, **fields: Any) -> dict[str, Any]:
        return {"name": f"gen_ai.{name}", "attributes": fields}

    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "pytest"}}
    events = [
        event("user.message", content=TASK),
        event("assistant.message", content="Run it first.", tool_calls=[call]),
        event("tool.message", content="Error: 1 failed", id="c1"),
        event("choice", message='{"role": "assistant", "content": "One test fails."}'),
    ]
    return [
        {
            "trace_id": "S",
            "span_id": "1",
            "name": "chat",
            "attributes": {"gen_ai.operation.name": "chat"},
            "events": events,
        }
    ]


def agents_sdk() -> list[Any]:
    def span(own: str, number: int, **data: Any) -> dict[str, Any]:
        return {
            "object": "trace.span",
            "id": own,
            "trace_id": "S",
            "parent_id": "a" if own != "a" else None,
            "started_at": AT.format(number),
            "span_data": data,
        }

    asked = [{"role": "user", "content": TASK}]
    return [
        {"object": "trace", "id": "S"},
        span("a", 0, type="agent", name="agent"),
        span("g", 1, type="generation", input=asked, output=[{"role": "assistant", "content": "Run it first."}]),
        {**span("f", 2, type="function", name="bash", input='{"command": "pytest"}'), "error": {"message": "1 failed"}},
        span("h", 3, type="generation", input=asked, output=[{"role": "assistant", "content": "One test fails."}]),
    ]  # fmt: skip

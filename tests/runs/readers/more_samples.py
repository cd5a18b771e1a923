"""The same run in the forms of frameworks, other coding agents and tracers."""

from __future__ import annotations

from typing import Any

from tests.runs.readers.samples import TASK

AT = "2026-01-01T00:00:0{}.000Z"
ARGS = {"command": "pytest"}


def sharegpt() -> dict[str, Any]:
    call = '{"name": "bash", "arguments": {"command": "pytest"}}'
    said = [("system", "Be brief."), ("human", TASK), ("gpt", "Run it first."), ("function_call", call)]
    said += [("observation", "Error: 1 failed"), ("gpt", "One test fails.")]
    return {"id": "S", "conversations": [*({"from": who, "value": words} for who, words in said), "torn"]}


def pydantic_ai() -> list[Any]:
    call = {"part_kind": "tool-call", "tool_name": "bash", "args": ARGS, "tool_call_id": "c1"}
    retry = {"part_kind": "retry-prompt", "tool_name": "bash", "tool_call_id": "c1", "content": "1 failed"}
    asked = [{"part_kind": "system-prompt", "content": "x"}, {"part_kind": "user-prompt", "content": TASK}]
    return [
        {"kind": "request", "parts": asked},
        {
            "kind": "response",
            "parts": [{"part_kind": "thinking", "content": "Run it first."}, call],
            "timestamp": AT.format(1),
        },
        {"kind": "request", "parts": [retry]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "One test fails."}]},
    ]


def autogen() -> dict[str, Any]:
    result = {"call_id": "c1", "name": "bash", "content": "1 failed", "is_error": True}
    messages = [
        {"source": "user", "type": "TextMessage", "content": TASK},
        {"source": "coder", "type": "ThoughtEvent", "content": "Run it first."},
        {
            "source": "coder",
            "type": "ToolCallRequestEvent",
            "content": [{"id": "c1", "name": "bash", "arguments": "pytest"}],
        },
        {"source": "coder", "type": "ToolCallExecutionEvent", "content": [result]},
        {"source": "coder", "type": "ToolCallSummaryMessage", "content": "1 failed"},
        {"source": "coder", "type": "TextMessage", "content": "One test fails."},
    ]
    return {"messages": messages, "stop_reason": "done"}


def google_adk() -> dict[str, Any]:
    def event(author: str, *parts: Any, **more: Any) -> dict[str, Any]:
        return {"author": author, "content": {"parts": list(parts)}, "timestamp": 1_700_000_000.5, **more}

    events = [
        event("user", {"text": TASK}),
        event("root", {"text": "Run"}, partial=True),
        event("root", {"text": "Run it first."}, {"functionCall": {"id": "c1", "name": "bash", "args": ARGS}}),
        event("root", {"functionResponse": {"id": "c1", "name": "bash", "response": {"error": "1 failed"}}}),
        {"author": "root", "actions": {}},
        event("root", {"text": "One test fails."}),
    ]
    return {"id": "S", "appName": "app", "userId": "u", "events": events}


def gemini_cli() -> dict[str, Any]:
    answer = {"functionResponse": {"id": "c1", "name": "shell", "response": {"output": "1 failed"}}}
    call = {"id": "c1", "name": "shell", "args": ARGS, "status": "error", "result": [answer]}
    return {
        "sessionId": "S",
        "startTime": AT.format(0),
        "messages": [
            {"type": "info", "content": "ready"},
            {"type": "user", "content": TASK, "timestamp": AT.format(1)},
            {
                "type": "gemini",
                "content": "",
                "thoughts": [{"subject": "s", "description": "Run it first."}],
                "toolCalls": [call],
            },
            {"type": "gemini", "content": "One test fails."},
        ],
    }


def opencode() -> dict[str, Any]:
    def message(role: str, *parts: Any) -> dict[str, Any]:
        return {"info": {"role": role, "time": {"created": 1_700_000_000_000}}, "parts": list(parts)}

    state = {"status": "completed", "input": ARGS, "output": "1 failed", "metadata": {"exit": 1}}
    return {
        "info": {"id": "S", "time": {"created": 1_700_000_000_000, "updated": 1_700_000_001_000}},
        "messages": [
            message("user", {"type": "text", "text": TASK}, {"type": "text", "text": "files", "synthetic": True}),
            message(
                "assistant",
                {"type": "step-start"},
                {"type": "reasoning", "text": "Run it first."},
                {"type": "tool", "tool": "bash", "callID": "c1", "state": state},
                {"type": "text", "text": "One test fails."},
            ),
        ],
    }


def copilot() -> list[Any]:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": kind, "timestamp": AT.format(1)}

    return [
        event("session.start", sessionId="S", startTime=AT.format(0)),
        event("user.message", content=TASK),
        event("assistant.message", content="Run it first.", toolRequests=[{"toolCallId": "c1", "name": "bash"}]),
        event("tool.execution_start", toolCallId="c1", toolName="bash", arguments=ARGS),
        event("tool.execution_complete", toolCallId="c1", success=False, result={"content": "1 failed"}),
        event("assistant.message", content="One test fails."),
    ]


def copilot_chat() -> dict[str, Any]:
    tool = {
        "kind": "toolInvocationSerialized",
        "toolId": "run",
        "toolCallId": "c1",
        "invocationMessage": {"value": "pytest"},
    }
    response = [
        {"kind": "thinking", "value": "Run it first."},
        {**tool, "resultDetails": "Error: 1 failed"},
        {"kind": "progressTask"},
        {"value": "One test fails."},
    ]
    return {"sessionId": "S", "requests": [{"message": {"text": TASK}, "response": response}, {"torn": True}]}


def cursor() -> list[Any]:
    def record(role: str, *content: Any) -> dict[str, Any]:
        return {"role": role, "message": {"content": list(content)}}

    call = {"type": "tool_use", "name": "Shell", "input": ARGS}
    result = {"type": "tool_result", "content": "Error: 1 failed"}
    return [
        record("user", {"type": "text", "text": f"<user_query>\n{TASK}\n</user_query>"}),
        record("assistant", {"type": "text", "text": "Run it first."}, call, result),
        record("assistant", {"type": "text", "text": "One test fails."}),
    ]


def atif() -> dict[str, Any]:
    call = {"tool_call_id": "c1", "function_name": "bash", "arguments": ARGS}
    observation = {"results": [{"source_call_id": "c1", "content": "1 failed", "extra": {"exit_code": 1}}]}
    return {
        "schema_version": "ATIF-v1.4",
        "session_id": "S",
        "steps": [
            {"step_id": 1, "source": "system", "message": "x"},
            {"step_id": 2, "source": "user", "message": TASK},
            {"step_id": 3, "source": "agent", "message": "", "reasoning_content": "Run it first.", "tool_calls": [call],
             "observation": observation, "timestamp": AT.format(1)},
            {"step_id": 4, "source": "agent", "message": "One test fails."},
        ],
    }  # fmt: skip


def letta() -> dict[str, Any]:
    def message(role: str, text: str, **more: Any) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}], **more}

    def call(own: str, name: str, arguments: str) -> dict[str, Any]:
        return {"id": own, "type": "function", "function": {"name": name, "arguments": arguments}}

    messages = [
        message("system", "You are a memory agent."),
        message("user", '{"type": "login", "time": "now"}'),
        message("user", f'{{"type": "user_message", "message": "{TASK}"}}'),
        message("assistant", "Run it first.", tool_calls=[call("c1", "bash", '{"command": "pytest"}')]),
        message("tool", '{"status": "Failed", "message": "1 failed"}', tool_call_id="c1", name="bash"),
        message("assistant", "", tool_calls=[call("c2", "send_message", '{"message": "One test fails."}')]),
        message("tool", '{"status": "OK", "message": "None"}', tool_call_id="c2"),
    ]
    return {"agents": [{"id": "S", "agent_type": "memgpt_agent", "messages": messages}, "torn"], "blocks": []}


def llm_calls() -> list[Any]:
    def call(messages: list[Any], said: str) -> dict[str, Any]:
        answer = {"choices": [{"message": {"role": "assistant", "content": said}}]}
        return {"input": {"model": "m", "messages": messages}, "output": answer}

    act = "Run it first.\n```python\npytest()\n```"
    first = [
        {"role": "system", "content": "x"},
        {"role": "user", "content": "An example to show how"},
        {"role": "assistant", "content": "```python\nexample()\n```"},
        {"role": "user", "content": f"Now solve the actual task:\n\nMy name is X.\n\nTask:\n\n{TASK}"},
    ]
    answered = [
        {"role": "assistant", "content": act},
        {"role": "user", "content": "Output:\n```\nError: 1 failed\n```"},
    ]
    return [call(first, act), call([*first, *answered], "One test fails.")]

"""A tool's call and its answer as each framework writes them; and answers that are marked as failed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

ARGS = {"city": "Oslo"}


def assistant(*parts: Any, key: str = "content") -> dict[str, Any]:
    return {"role": "assistant", key: list(parts)}


def user(*parts: Any, key: str = "content") -> dict[str, Any]:
    return {"role": "user", key: list(parts)}


def tool(*parts: Any, key: str = "content") -> dict[str, Any]:
    return {"role": "tool", key: list(parts)}


CALLS: dict[str, list[Any]] = {
    "bedrock-converse": [
        assistant({"toolUse": {"toolUseId": "c", "name": "weather", "input": ARGS}}),
        user({"toolResult": {"toolUseId": "c", "content": [{"text": "rain"}], "status": "success"}}),
    ],
    "bedrock-converse json": [
        assistant(
            {"reasoningContent": {"reasoningText": {"text": "", "signature": "x"}}},
            {"toolUse": {"toolUseId": "c", "name": "weather", "input": ARGS}},
            {"cachePoint": {"type": "default"}},
        ),
        user({"toolResult": {"toolUseId": "c", "content": [{"json": "rain"}, {"image": {"format": "png"}}]}}),
    ],
    "vercel-model": [
        assistant({"type": "tool-call", "toolCallId": "c", "toolName": "weather", "input": ARGS}),
        tool(
            {
                "type": "tool-result",
                "toolCallId": "c",
                "toolName": "weather",
                "output": {"type": "text", "value": "rain"},
            }
        ),
    ],
    "vercel-model four": [
        assistant({"type": "tool-call", "toolCallId": "c", "toolName": "weather", "args": ARGS}),
        tool({"type": "tool-result", "toolCallId": "c", "toolName": "weather", "result": "rain"}),
    ],
    "vercel-ui": [
        assistant(
            {"type": "step-start"},
            {"type": "tool-weather", "toolCallId": "c", "state": "output-available", "input": ARGS, "output": "rain"},
            key="parts",
        ),
    ],
    "vercel-ui dynamic": [
        assistant(
            {
                "type": "dynamic-tool",
                "toolName": "weather",
                "toolCallId": "c",
                "state": "output-available",
                "input": ARGS,
                "output": "rain",
            },
            key="parts",
        ),
    ],
    "vercel-ui four": [
        assistant(
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "result",
                    "toolCallId": "c",
                    "toolName": "weather",
                    "args": ARGS,
                    "result": "rain",
                },
            },
            key="parts",
        ),
    ],
    "anthropic mcp": [
        assistant(
            {"type": "mcp_tool_use", "id": "c", "name": "weather", "server_name": "s", "input": ARGS},
            {
                "type": "mcp_tool_result",
                "tool_use_id": "c",
                "is_error": False,
                "content": [{"type": "text", "text": "rain"}],
            },
        ),
    ],
    "anthropic server tool": [
        assistant(
            {"type": "server_tool_use", "id": "c", "name": "weather", "input": ARGS},
            {
                "type": "code_execution_tool_result",
                "tool_use_id": "c",
                "content": {"type": "code_execution_result", "stdout": "rain", "stderr": "", "return_code": 0},
            },
        ),
    ],
    "langchain v1 blocks": [
        assistant(
            {"type": "server_tool_call", "id": "c", "name": "weather", "args": ARGS},
            {"type": "server_tool_result", "tool_call_id": "c", "status": "success", "output": "rain"},
        ),
    ],
    "opentelemetry": [
        assistant({"type": "tool_call", "id": "c", "name": "weather", "arguments": ARGS}, key="parts"),
        tool({"type": "tool_call_response", "id": "c", "response": "rain"}, key="parts"),
    ],
    "gemini": [
        {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": ARGS}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"output": "rain"}}}]},
    ],
    "gemini objects": [
        SimpleNamespace(
            role="model", parts=[SimpleNamespace(text=None, function_call=SimpleNamespace(name="weather", args=ARGS))]
        ),
        SimpleNamespace(
            role="user",
            parts=[
                SimpleNamespace(
                    text=None,
                    function_call=None,
                    function_response=SimpleNamespace(name="weather", response={"result": "rain"}),
                )
            ],
        ),
    ],
    "openai-responses custom": [
        {"type": "custom_tool_call", "call_id": "c", "id": "ctc_1", "name": "weather", "input": '{"city":"Oslo"}'},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "rain"},
    ],
    "openai-responses mcp": [
        {
            "type": "mcp_call",
            "id": "m",
            "name": "weather",
            "arguments": '{"city":"Oslo"}',
            "output": "rain",
            "error": None,
        },
    ],
    "gemini cli": [
        {
            "role": "assistant",
            "content": "",
            "toolCalls": [
                {
                    "id": "c",
                    "name": "weather",
                    "args": ARGS,
                    "status": "success",
                    "result": [{"functionResponse": {"id": "c", "name": "weather", "response": {"output": "rain"}}}],
                }
            ],
        },
    ],
    "goose": [
        assistant(
            {
                "type": "toolRequest",
                "id": "c",
                "toolCall": {"status": "success", "value": {"name": "weather", "arguments": ARGS}},
            }
        ),
        user(
            {
                "type": "toolResponse",
                "id": "c",
                "toolResult": {"status": "success", "value": [{"type": "text", "text": "rain"}]},
            }
        ),
    ],
    "autogen two": [
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": ARGS}}],
        },
        {
            "role": "tool",
            "content": "rain",
            "tool_responses": [{"tool_call_id": "c", "role": "tool", "content": "rain"}],
        },
    ],
    "pi": [
        {
            "type": "message",
            "message": assistant({"type": "toolCall", "id": "c", "name": "weather", "arguments": ARGS}),
        },
        {
            "type": "message",
            "message": {
                "role": "toolResult",
                "toolCallId": "c",
                "toolName": "weather",
                "isError": False,
                "content": [{"type": "text", "text": "rain"}],
            },
        },
    ],
}


FAILURES: dict[str, list[Any]] = {
    "bedrock-converse": [
        assistant({"toolUse": {"toolUseId": "c", "name": "weather", "input": ARGS}}),
        user({"toolResult": {"toolUseId": "c", "content": [{"text": "down"}], "status": "error"}}),
    ],
    "vercel-model": [
        assistant({"type": "tool-call", "toolCallId": "c", "toolName": "weather", "input": ARGS}),
        tool(
            {
                "type": "tool-result",
                "toolCallId": "c",
                "toolName": "weather",
                "output": {"type": "error-text", "value": "down"},
            }
        ),
    ],
    "vercel-ui": [
        assistant(
            {"type": "tool-weather", "toolCallId": "c", "state": "output-error", "input": ARGS, "errorText": "down"},
            key="parts",
        ),
    ],
    "anthropic": [
        assistant({"type": "tool_use", "id": "c", "name": "weather", "input": ARGS}),
        user({"type": "tool_result", "tool_use_id": "c", "content": "down", "is_error": True}),
    ],
    "anthropic server tool": [
        assistant(
            {"type": "server_tool_use", "id": "c", "name": "weather", "input": ARGS},
            {
                "type": "web_fetch_tool_result",
                "tool_use_id": "c",
                "content": {"type": "web_fetch_tool_result_error", "error_code": "down"},
            },
        ),
    ],
    "mcp in camel case": [
        assistant({"type": "tool_use", "id": "c", "name": "weather", "input": ARGS}),
        {"role": "tool", "tool_call_id": "c", "content": "down", "isError": True},
    ],
    "error: true": [
        assistant({"type": "tool_use", "id": "c", "name": "weather", "input": ARGS}),
        {"role": "tool", "tool_call_id": "c", "content": "down", "error": True},
    ],
    "success: false": [
        assistant({"type": "tool_use", "id": "c", "name": "weather", "input": ARGS}),
        {"role": "tool", "tool_call_id": "c", "content": {"success": False, "message": "down"}},
    ],
    "error object": [
        assistant({"type": "tool_use", "id": "c", "name": "weather", "input": ARGS}),
        {"role": "tool", "tool_call_id": "c", "error": {"message": "down", "code": 3}},
    ],
    "gemini error": [
        {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": ARGS}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"error": "down"}}}]},
    ],
    "responses mcp": [
        {"type": "mcp_call", "id": "m", "name": "weather", "arguments": ARGS, "status": "failed", "error": "down"}
    ],
}

"""One small record of each form, written for these tests after the shape of real files: the same run, told in each."""

from __future__ import annotations

from typing import Any

TASK = "Fix the failing test"
SESSION = {"sessionId": "S", "isSidechain": False, "userType": "external"}


def claude_code() -> list[Any]:
    def record(kind: str, content: Any, uuid: str, **more: Any) -> dict[str, Any]:
        at = f"2026-01-01T00:00:0{len(uuid)}.000Z"
        return {
            "type": kind,
            "message": {"role": kind, "content": content},
            "uuid": uuid,
            "timestamp": at,
            **SESSION,
            **more,
        }

    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "1 failed", "is_error": True}
    return [
        {"type": "summary", "summary": "Fix", "leafUuid": "u"},
        record("user", "Caveat: written by the program", "u", isMeta=True),
        record("user", "<command-name>/clear</command-name>", "uu"),
        record("user", TASK, "uuu"),
        record("assistant", [{"type": "thinking", "thinking": "Run it first.", "signature": "x"}], "a"),
        record("assistant", [call], "aa"),
        record("assistant", [call], "aa"),
        record("user", [result], "uuuu", toolUseResult="Error: 1 failed"),
        record("user", "[Request interrupted by user for tool use]", "uuuuu"),
        record("assistant", [{"type": "text", "text": "API Error: overloaded"}], "aaa", isApiErrorMessage=True),
        record("assistant", [{"type": "text", "text": "One test fails."}], "aaaa"),
        {"type": "file-history-snapshot", "messageId": "u", "snapshot": {}},
        "no record",
    ]


def codex() -> list[Any]:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-01T00:00:00.000Z", "type": "response_item", "payload": payload}

    output = '{"output":"1 failed\\n","metadata":{"exit_code":1,"duration_seconds":0.4}}'
    return [
        {"timestamp": "2026-01-01T00:00:00.000Z", "type": "session_meta", "payload": {"id": "S", "cwd": "/x"}},
        item(
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "<environment_context>x</environment_context>"}],
        ),
        item(type="message", role="user", content=[{"type": "input_text", "text": TASK}]),
        {
            "timestamp": "2026-01-01T00:00:00.000Z",
            "type": "event_msg",
            "payload": {"type": "user_message", "message": TASK},
        },
        {"timestamp": "2026-01-01T00:00:00.000Z", "type": "turn_context", "payload": {"model": "m"}},
        item(type="reasoning", summary=[{"type": "summary_text", "text": "Run it first."}], encrypted_content="x"),
        item(type="function_call", name="shell", arguments='{"command":["pytest"]}', call_id="c1"),
        item(type="function_call_output", call_id="c1", output=output),
        {"timestamp": "2026-01-01T00:00:00.000Z", "type": "compacted", "payload": {"message": "short"}},
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "One test fails."}]),
    ]


def codex_events() -> list[Any]:
    return [
        {"type": "thread.started", "thread_id": "S"},
        {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "Run it first."}},
        {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "pytest"}},
        {
            "type": "item.completed",
            "item": {
                "id": "i1",
                "type": "command_execution",
                "command": "pytest",
                "aggregated_output": "1 failed",
                "exit_code": 1,
                "status": "failed",
            },
        },
        {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "One test fails."}},
        {"type": "turn.completed", "usage": {}},
    ]


def codex_only_events() -> list[Any]:
    def event(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-01T00:00:00.000Z", "type": "event_msg", "payload": payload}

    return [
        {"timestamp": "2026-01-01T00:00:00.000Z", "type": "session_meta", "payload": {"id": "S"}},
        event(type="user_message", message=TASK),
        event(type="agent_reasoning", text="Run it first."),
        event(type="exec_command_end", call_id="c", command=["pytest"], aggregated_output="1 failed", exit_code=1),
        event(type="token_count", info={}),
        event(type="agent_message", message="One test fails."),
    ]


def codex_old() -> list[Any]:
    output = "Exit code: 1\nWall time: 0.4 seconds\nOutput:\n1 failed\n"
    return [
        {"id": "S", "timestamp": "2025-05-01T00:00:00.000Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TASK}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Run it first."}]},
        {
            "type": "local_shell_call",
            "id": "l",
            "call_id": "c1",
            "status": "completed",
            "action": {"type": "exec", "command": ["pytest"]},
        },
        {"type": "function_call_output", "call_id": "c1", "output": output},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One test fails."}]},
    ]


def openhands() -> list[Any]:
    def event(number: int, source: str, **more: Any) -> dict[str, Any]:
        return {"id": number, "timestamp": "2026-01-01T00:00:00.123", "source": source, "message": "m", **more}

    run = {"command": "pytest", "thought": "Run it first.", "blocking": False, "hidden": False}
    return [
        event(0, "agent", action="system", args={"content": "You are an agent."}),
        event(1, "user", action="message", args={"content": TASK}),
        event(2, "user", action="recall", args={"query": TASK}),
        event(
            3,
            "agent",
            action="run",
            args=run,
            tool_call_metadata={"function_name": "execute_bash", "tool_call_id": "x"},
        ),
        event(4, "agent", cause=3, observation="run", content="1 failed", extras={"metadata": {"exit_code": 1}}),
        event(5, "environment", observation="agent_state_changed", content="", extras={"agent_state": "finished"}),
        event(6, "agent", action="finish", args={"final_thought": "One test fails.", "outputs": {}}),
        "no event",
    ]


def openhands_output() -> dict[str, Any]:
    events = openhands()[:-1]
    return {
        "instance_id": "S",
        "instance": {"problem_statement": TASK},
        "history": [[events[3], events[4]], [events[6]]],
        "test_result": {"report": {"resolved": False}, "git_patch": ""},
    }


def openhands_sdk() -> list[Any]:
    def text(words: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": words}]

    action = {"kind": "ExecuteBashAction", "command": "pytest", "timeout": None}
    observed = {"kind": "ExecuteBashObservation", "content": text("1 failed"), "exit_code": 1}
    act = {"source": "agent", "thought": text("Run it first."), "tool_name": "terminal", "tool_call_id": "c1"}
    return [
        {"kind": "SystemPromptEvent", "id": "e0", "source": "agent", "system_prompt": {"text": "x"}},
        {"kind": "MessageEvent", "id": "e1", "source": "user", "llm_message": {"role": "user", "content": text(TASK)}},
        {"kind": "ActionEvent", "id": "e2", "action": action, **act},
        {
            "kind": "ObservationEvent",
            "id": "e3",
            "source": "environment",
            "observation": observed,
            "tool_call_id": "c1",
        },
        {
            "kind": "ActionEvent",
            "id": "e4",
            "source": "agent",
            "action": {"kind": "FinishAction", "message": "One test fails."},
            "tool_name": "finish",
            "tool_call_id": "c2",
        },
        {"kind": "ObservationEvent", "id": "e5", "source": "environment", "observation": {"kind": "FinishObservation"}},
    ]


def swe_agent() -> dict[str, Any]:
    prompt = f"We are solving an issue.\nISSUE:\n{TASK}\n\nINSTRUCTIONS:\nUse the shell."
    step = {
        "action": "pytest\n",
        "observation": "1 failed\nexit code: 1",
        "thought": "Run it first.",
        "response": "r",
        "state": "{}",
    }
    return {
        "environment": "swe_main",
        "trajectory": [step, "torn"],
        "history": [
            {"role": "system", "content": "You are a programmer."},
            {"role": "user", "content": "Here is a demonstration", "is_demo": True},
            {"role": "user", "content": [{"type": "text", "text": prompt}]},
            {"role": "assistant", "content": "pytest"},
        ],
        "info": {"exit_status": "submitted", "submission": "One test fails.", "model_stats": {}},
    }


def mini_swe_agent() -> dict[str, Any]:
    return {
        "trajectory_format": "mini-swe-agent-1",
        "info": {"exit_status": "Submitted", "submission": "One test fails.", "mini_version": "1.0.0"},
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {
                "role": "user",
                "content": f"<pr_description>\nConsider the following PR description:\n{TASK}\n</pr_description>",
            },
            {"role": "assistant", "content": "THOUGHT: Run it first.\n\n```bash\npytest\n```"},
            {"role": "user", "content": "<returncode>1</returncode>\n<output>\n1 failed\n</output>"},
        ],
        "instance_id": "S",
    }


def mini_swe_agent_two() -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"pytest"}'}}
    return {
        "info": {"exit_status": "Submitted", "submission": "One test fails.", "mini_version": "2.3.0"},
        "messages": [
            {"role": "user", "content": f"<pr_description>\n{TASK}\n</pr_description>\n<instructions>x</instructions>"},
            {"role": "assistant", "content": "Run it first.", "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": "<returncode>1</returncode>\n<output>\n1 failed\n</output>",
            },
            {"role": "exit", "content": "patch", "extra": {"exit_status": "Submitted"}},
        ],
    }


def tau_messages() -> list[Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"pytest"}'}}
    return [
        {"role": "system", "content": "# Policy"},
        {"role": "assistant", "content": "Hi! How can I help you today?"},
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": "Run it first.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "Error: 1 failed"},
        {"role": "assistant", "content": "One test fails."},
        {"role": "user", "content": "###STOP###"},
    ]


def tau_bench() -> dict[str, Any]:
    task = {"user_id": "u", "instruction": "You are u and want a test fixed.", "actions": []}
    return {"task_id": 7, "reward": 0.0, "info": {"task": task}, "traj": tau_messages(), "trial": 1}


def tau2_bench() -> dict[str, Any]:
    run = {"id": "S", "task_id": "7", "messages": tau_messages(), "reward_info": {"reward": 0.0}, "trial": 0}
    return {"timestamp": "2026", "info": {}, "tasks": [], "simulations": [run, {"messages": []}]}

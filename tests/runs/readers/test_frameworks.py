"""What the forms of frameworks, other coding agents and tracers hold beside the common run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reasoningbank import Trajectory, Verdict
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers.recognise import read_all
from tests.runs.readers import more_samples as samples
from tests.runs.readers import traces


def left_out(record: Any) -> dict[str, int]:
    return {each.what: each.count for each in Trajectory.of(record).left_out}


@pytest.mark.parametrize(
    ("sample", "verdict"),
    [(traces.langsmith(), "failure"), (traces.langfuse(), "failure"), (traces.otel(), "unknown")],
)
def test_what_a_trace_says_of_its_end_is_read(sample: Any, verdict: str) -> None:
    assert Trajectory.of(sample).verdict is Verdict(verdict)


def test_a_trace_whose_root_broke_down_failed_and_says_why() -> None:
    run = Trajectory.of(
        {"id": "S", "run_type": "chain", "name": "a", "inputs": {"question": "Why?"}, "error": "ValueError('x')"}
    )

    assert (run.task, run.verdict, run.reason) == ("Why?", Verdict.FAILURE, "ValueError('x')")
    assert not run.tools_understood


def test_a_trace_without_tools_of_its_own_is_told_by_the_longest_call_of_its_model() -> None:
    run = Trajectory.of(traces.openinference())

    assert [step.tool for step in run.steps] == ["bash"]
    assert run.session == "S"


def test_traces_in_one_file_are_runs_of_their_own() -> None:
    first, second = traces.langsmith(), {**traces.langsmith(), "id": "T", "trace_id": "T"}

    assert [run.session for run in read_all([first, second])] == ["S", "T"]
    assert len(list(read_all([traces.langfuse(), traces.langfuse()]))) == 2


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("Why?", "Why?"),
        ('{"question": "Why?"}', "Why?"),
        ({"input": {"task": "Why?"}}, "Why?"),
        ([{"args": ["Why?"]}], "Why?"),
        ({"messages": [{"role": "user", "content": "Why?"}]}, "Why?"),
        ({"rows": 3}, ""),
        (3, ""),
        (None, ""),
    ],
)
def test_what_was_asked_is_found_in_the_input_of_the_root(given: Any, asked: str) -> None:
    root = {"id": "S", "run_type": "chain", "inputs": given, "outputs": {"output": "Because."}}
    tool = {
        "id": "t",
        "run_type": "tool",
        "name": "f",
        "inputs": {"a": 1, "b": 2},
        "outputs": {"output": {"content": "x"}},
    }

    run = Trajectory.of({**root, "child_runs": [tool]})

    assert (run.task, run.result) == (asked, "Because.")
    assert (run.steps[0].action, run.steps[0].observation) == ('f({"a":1,"b":2})', "x")


def test_a_model_that_answers_in_plain_text_says_that() -> None:
    root = {"id": "S", "run_type": "chain", "inputs": "Why?", "outputs": None, "start_time": 1_700_000_000}
    model = {"id": "m", "run_type": "llm", "inputs": "Why?", "outputs": "Look first.", "start_time": 1_700_000_001}
    tool = {"id": "t", "run_type": "tool", "name": "f", "inputs": "x", "outputs": "y", "start_time": 1_700_000_002}

    run = Trajectory.of({**root, "child_runs": [tool, model]})

    assert (run.steps[0].thought, run.steps[0].action) == ("Look first.", "f(x)")


@pytest.mark.parametrize("sort", ["list", "text", "deep"])
def test_what_a_model_got_is_found_in_whatever_it_is_wrapped(sort: str) -> None:
    wrapped: Any = {"messages": [{"role": "user", "content": "Why?"}]}
    if sort == "list":
        wrapped = [wrapped]
    if sort == "deep":
        for _ in range(12):
            wrapped = {"input": wrapped}
    gave = {"text": "Because."} if sort == "text" else {"role": "assistant", "content": "Because."}

    run = Trajectory.of({"id": "S", "run_type": "llm", "inputs": wrapped, "outputs": gave})

    assert run.result == "Because."
    assert (run.task == "Why?") is (sort != "deep")


def test_attributes_of_every_type_of_otlp_are_read() -> None:
    from reasoningbank.runs.readers.otel import read

    values = (
        {"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": 2}]}},
        {"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": True}}]}},
    )
    attributes = [
        {"key": "gen_ai.tool.name", "value": {"stringValue": "f"}},
        {"key": "gen_ai.tool.call.arguments", "value": values[0]},
        {"key": "gen_ai.tool.call.result", "value": values[1]},
    ]
    (found,) = read({"spanId": "1", "name": "execute_tool f", "attributes": attributes})

    assert found.steps[0]["action"] == 'f(["a",2])'
    assert found.steps[0]["observation"] == '{"k":true}'


def test_a_tool_span_without_a_tools_name_has_its_own() -> None:
    run = Trajectory.of(
        [
            {
                "spanId": "1",
                "name": "execute_tool f",
                "attributes": {"gen_ai.operation.name": "execute_tool"},
                "status": "OK",
            }
        ]
    )

    assert run.steps[0].tool == "f"


def test_a_conversation_without_tools_says_nothing_of_their_use() -> None:
    turns = [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "Because."}]

    assert not Trajectory.of({"conversations": turns}).tools_understood
    assert Trajectory.of(turns).result == "Because."


def test_a_history_of_pydantic_ai_may_be_objects_and_ask_again_in_words() -> None:
    part = SimpleNamespace
    history = [
        part(kind="request", parts=[part(part_kind="user-prompt", content="Why?")]),
        part(kind="response", parts=[part(part_kind="text", content="Hm.")]),
        part(kind="request", parts=[part(part_kind="retry-prompt", content="Say more.")]),
        part(kind="response", parts=[part(part_kind="text", content="Because.")]),
    ]

    run = Trajectory.of(history)

    assert (run.task, run.result, run.steps[0].observation) == ("Why?", "Because.", "User: Say more.")


def test_code_that_a_team_of_autogen_runs_is_answered_by_its_output() -> None:
    said = {
        "source": "coder",
        "type": "AssistantMessage",
        "content": [{"id": "c", "name": "python", "arguments": "1/0"}],
    }
    ran = {"source": "runner", "type": "CodeExecutionEvent", "result": {"output": "boom", "exit_code": 1}}
    asked = {"source": "user", "type": "UserMessage", "content": "Try"}

    run = Trajectory.of(
        [{"type": "SystemMessage", "content": "x"}, asked, said, ran, {"type": "MemoryQueryEvent", "source": "coder"}]
    )

    assert (run.steps[0].observation, run.steps[0].exit_code, run.task) == ("boom", 1, "Try")
    assert left_out([asked, said, ran, {"type": "MemoryQueryEvent", "source": "coder"}]) == {
        "message of type MemoryQueryEvent": 1
    }


def test_the_summary_of_tool_results_is_the_result_where_nothing_follows() -> None:
    summary = {"source": "coder", "type": "ToolCallSummaryMessage", "content": "rain"}

    assert Trajectory.of([{"source": "user", "type": "TextMessage", "content": "Weather?"}, summary]).result == "rain"


def test_an_older_agent_file_of_letta_is_one_agent() -> None:
    agent = samples.letta()["agents"][0]
    agent["messages"].append({"role": "assistant", "content": "plain"})
    agent["messages"].append({"role": "tool", "tool_call_id": "x", "content": "bare"})
    agent["messages"].append({"role": "user", "content": "More"})

    run = Trajectory.of(agent)

    assert run.steps[-1].observation == "User: More"
    assert "bare" in [step.observation for step in run.steps]


def test_what_gemini_and_adk_hold_beside_the_run_is_counted() -> None:
    assert left_out(samples.gemini_cli()) == {"record of type info": 1}
    assert left_out(samples.gemini_cli()["messages"]) == {"record of type info": 1}
    assert left_out(samples.google_adk()) == {"part of an answer that comes whole later": 1, "event without words": 1}
    assert Trajectory.of(samples.google_adk()["events"]).session is None
    assert Trajectory.of(samples.opencode()["messages"]).result == "One test fails."


def test_parts_of_a_chat_in_an_editor_that_are_no_words_are_counted() -> None:
    assert left_out(samples.copilot_chat()) == {"part of kind progressTask": 1, "request without a response": 1}
    assert left_out(samples.copilot()) == {"event session.start": 1}


def test_of_the_calls_of_one_conversation_the_longest_counts() -> None:
    one = samples.llm_calls()[1]

    assert left_out(samples.llm_calls())["earlier view of the same run in 1 calls"] == 1
    assert Trajectory.of(one).result == "One test fails."
    said: dict[str, Any] = {"message": {"role": "assistant", "content": "Ok"}}
    asked = {"messages": [{"role": "user", "content": "The real task is this."}]}
    bare = {"request": asked, "response": said}
    assert (Trajectory.of(bare).task, Trajectory.of(bare).result) == ("The real task is this.", "Ok")
    assert Trajectory.of([bare, {**asked, "response": "torn"}]).result == "Ok"


@pytest.mark.parametrize("record", [{"steps": [{"step_id": 1, "source": "robot"}]}, {"agents": 3}, {"requests": [3]}])
def test_a_record_that_only_looks_like_a_form_is_read_or_refused_in_words(record: Any) -> None:
    try:
        run = Trajectory.of(record)
    except InvalidInputError as error:
        assert any(words in str(error) for words in ("keys seen", "no words of a run"))  # noqa: PT017
    else:
        assert run.left_out


def test_a_call_without_an_example_is_the_whole_conversation() -> None:
    call = {
        "input": {"messages": [{"role": "user", "content": "Why?"}]},
        "output": {"message": {"role": "assistant", "content": "So."}},
    }

    run = Trajectory.of([call])

    assert (run.form, run.task, run.result) == ("llm-calls", "Why?", "So.")


def test_a_record_that_a_form_trips_over_is_not_of_that_form() -> None:
    with pytest.raises(InvalidInputError, match="keys seen: type"):
        Trajectory.of([{"type": []}])


def test_of_a_log_of_calls_another_task_after_an_example_is_the_task() -> None:
    asked = [
        "Task: an example",
        "Now here is another task in a different environment.\nMy name is: Ada.\nTask: Find it",
    ]
    messages = [{"role": "user", "content": asked[0]}, {"role": "assistant", "content": "done"},
                {"role": "user", "content": asked[1]}]  # fmt: skip

    run = Trajectory.of({"input": {"messages": messages}, "output": {"choices": [{"message": messages[1]}]}})

    assert (run.form, run.task) == ("llm-calls", "Find it")

"""Parts of messages: the names that frameworks give to a text, a thought, a call and an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage, messages_to_dict

from reasoningbank import Trajectory
from tests.runs.readers.dialects import ARGS, CALLS, FAILURES, assistant, user

ASKED = {"role": "user", "content": "Weather in Oslo?"}
SAID = {"role": "assistant", "content": "It rains."}


def run_of(*between: Any) -> Trajectory:
    return Trajectory.of([ASKED, *between, SAID])


@pytest.mark.parametrize("name", CALLS)
def test_a_call_and_its_answer_are_one_step_whatever_they_are_called(name: str) -> None:
    run = run_of(*CALLS[name])

    (step,) = run.steps
    assert (step.action, step.tool) == ('weather({"city":"Oslo"})', "weather")
    assert step.observation in ("rain", '"rain"')
    assert step.error == ""
    assert (run.task, run.result) == ("Weather in Oslo?", "It rains.")
    assert run.tools_understood


@pytest.mark.parametrize("name", FAILURES)
def test_an_answer_that_is_marked_as_failed_failed_whatever_its_words(name: str) -> None:
    (step,) = run_of(*FAILURES[name]).steps

    assert "down" in step.error
    assert "down" in step.observation


def test_the_shell_items_of_responses_are_acts_with_their_exit_status() -> None:
    outcome = {"type": "exit", "exit_code": 2}
    (step,) = run_of(
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls x"]}, "status": "completed"},
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "", "stderr": "no x", "outcome": outcome}]},
    ).steps

    assert (step.action, step.tool) == ('shell({"commands":["ls x"]})', "shell")
    assert (step.observation, step.error, step.exit_code) == ("no x", "no x", 2)


def test_a_hosted_call_whose_answer_is_not_told_does_not_wait_for_one() -> None:
    search, call = run_of(
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "Oslo"}},
        {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "output": "rain"},
    ).steps

    assert (search.tool, search.observation) == ("web_search", "")
    assert call.observation == "rain"


def test_parallel_answers_without_ids_find_their_calls_by_name() -> None:
    calls = [{"name": "f", "args": {}}, {"name": "g", "args": {}}]
    f, g = run_of(
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "name": "g", "content": "G"},
        {"role": "tool", "name": "f", "content": "F"},
    ).steps

    assert (f.observation, g.observation) == ("F", "G")


def test_calls_of_one_tool_are_answered_in_their_order() -> None:
    calls = [{"name": "f", "args": {"n": n}} for n in range(3)]
    steps = run_of(
        {"role": "assistant", "content": "", "tool_calls": calls},
        *({"role": "tool", "name": "f", "content": str(n)} for n in range(3)),
    ).steps

    assert [step.observation for step in steps] == ["0", "1", "2"]


def test_an_answer_that_comes_in_two_parts_is_one() -> None:
    call = assistant({"type": "tool_use", "id": "c", "name": "f", "input": {}})
    part = [{"role": "tool", "tool_call_id": "c", "content": words} for words in ("one", "two", "")]

    (step,) = run_of(call, *part).steps

    assert step.observation == "one\ntwo"


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "", "reasoning_content": "Hm."},
        {"role": "assistant", "content": "", "reasoning": {"text": "Hm."}},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"}]},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "Hm."}]},
        {"role": "assistant", "content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}]},
        {"role": "model", "parts": [{"text": "Hm.", "thought": True}]},
        {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "Hm."}}}]},
        {"role": "assistant", "content": "", "additional_kwargs": {"reasoning_content": "Hm."}},
    ],
)
def test_what_the_agent_thought_is_the_thought_of_its_next_act(message: dict[str, Any]) -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "f", "args": {}}]}

    (step,) = run_of(message, call).steps

    assert (step.thought, step.action) == ("Hm.", "f({})")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "content": "Oslo"},
        {"type": "text", "text": {"value": "Oslo"}},
        {"type": "markdown", "value": "Oslo"},
    ],
)
def test_a_text_is_found_under_its_names(part: dict[str, Any]) -> None:
    assert Trajectory.of([user(part), SAID]).task == "Oslo"


def test_what_is_not_understood_is_named_with_its_place_and_tools_are_then_not_said_to_be_unused() -> None:
    run = run_of(assistant({"type": "quantum", "q": 1}, {"spin": 1, "up": 2}, {"type": "image", "data": "x"}))

    assert [str(each) for each in run.left_out] == [
        "1 × part of unknown kind 'quantum' ([1].content[0])",
        "1 × part with the keys spin, up ([1].content[1])",
        "1 × image ([1].content[2])",
    ]
    assert not run.tools_understood


def test_many_kinds_of_things_left_out_are_counted_together_in_the_end() -> None:
    run = run_of(assistant(*({"type": f"odd {number}"} for number in range(60))))

    assert len(run.left_out) == 41
    assert (run.left_out[-1].what, run.left_out[-1].count) == ("other things", 20)


MESSAGES = [
    HumanMessage("Weather in Oslo?"),
    AIMessage("", tool_calls=[{"name": "weather", "args": ARGS, "id": "c"}]),
    ToolMessage("rain", tool_call_id="c"),
    AIMessage("It rains."),
]


@pytest.mark.parametrize(
    "given",
    [MESSAGES, messages_to_dict(MESSAGES), dumpd(MESSAGES), [*MESSAGES[:3], AIMessageChunk(content="It rains.")]],
)
def test_messages_of_langchain_are_read_as_objects_and_in_both_dictionary_forms(given: Any) -> None:
    run = Trajectory.of(given)

    assert run.form == "langchain"
    assert [step.observation for step in run.steps] == ["rain"]
    assert (run.task, run.result) == ("Weather in Oslo?", "It rains.")


def test_a_serialised_object_that_is_no_message_costs_itself() -> None:
    run = Trajectory.of([*dumpd(MESSAGES), {"lc": 1, "type": "constructor", "id": [], "kwargs": {"x": 1}}])

    assert run.result == "It rains."
    assert "message" in run.left_out[0].what


def test_where_nobody_is_known_to_be_the_agent_unknown_speakers_are() -> None:
    run = Trajectory.of(
        [ASKED, {"role": "Planner", "content": "Look outside."}, {"role": "Coder", "content": "It rains."}]
    )

    assert (run.steps[0].thought, run.result) == ("Look outside.", "It rains.")


def test_time_of_a_message_is_the_time_of_its_step() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "args": {}}]}

    at, none = run_of({**call, "timestamp": 1_700_000_000_000}, {**call, "timestamp": "2026-01-01T00:00:00"}).steps

    assert (at.at is None, none.at) == (False, None)


def test_the_task_said_once_more_at_the_head_of_the_conversation_is_no_step() -> None:
    run = Trajectory.of({"task": "Weather in Oslo?", "messages": [ASKED, SAID]})

    assert (run.steps, run.result) == ((), "It rains.")


def test_a_demonstration_is_not_the_task() -> None:
    run = Trajectory.of([{**ASKED, "content": "An example", "is_demo": True}, ASKED, SAID])

    assert run.task == "Weather in Oslo?"
    assert run.left_out[0].what == "message of a demonstration"


def test_a_call_without_a_name_has_the_name_of_its_kind() -> None:
    assert (
        run_of({"type": "apply_patch_call", "call_id": "c", "operation": {"type": "create"}}).steps[0].tool
        == "apply_patch"
    )
    assert run_of(assistant({"executableCode": {"code": "1"}}, key="parts")).steps[0].action == "executablecode(1)"


@pytest.mark.parametrize(
    ("answer", "observation"),
    [
        ({"stdout": "rain", "stderr": "wind"}, "rain\nwind"),
        ({"content": [{"type": "image", "data": "x"}]}, ""),
        ({"content": [{"image": {"format": "png"}}]}, ""),
        ({"content": SimpleNamespace(content=[SimpleNamespace(type="text", text="rain")], isError=False)}, "rain"),
        ({"content": SimpleNamespace(rows=3)}, "namespace(rows=3)"),
        ({"content": {"rows": 3, "text": "rain"}}, '{"rows":3,"text":"rain"}'),
        ({"content": ["rain", {"type": "text", "text": "wind"}]}, "rain\nwind"),
        ({"content": '{"rows": 3}'}, '{"rows": 3}'),
    ],
)
def test_an_answer_is_told_in_the_words_that_it_holds(answer: dict[str, Any], observation: str) -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "f", "args": {}}]}

    assert run_of(call, {"role": "tool", "tool_call_id": "c", **answer}).steps[0].observation == observation


def test_an_answer_that_is_nested_without_end_is_kept_as_it_is() -> None:
    deep: Any = "rain"
    for _ in range(40):
        deep = {"output": deep}
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "f", "args": {}}]}

    assert '"output"' in run_of(call, {"role": "tool", "tool_call_id": "c", "content": deep}).steps[0].observation


def test_a_message_may_be_wrapped_in_others() -> None:
    assert Trajectory.of([{"data": {"payload": {"message": ASKED}}}, {"data": SAID}]).result == "It rains."


def test_what_an_assistant_says_after_an_answer_in_its_own_message_is_a_turn_of_its_own() -> None:
    parts = [
        {"type": "server_tool_use", "id": "c", "name": "f", "input": {}},
        {"type": "f_tool_result", "tool_use_id": "c", "content": "a"},
    ]

    run = Trajectory.of([ASKED, assistant("Look.", *parts, "Then look again.", *parts, "It rains.")])

    assert [step.thought for step in run.steps] == ["Look.", "Then look again."]
    assert run.result == "It rains."


def test_two_answers_of_which_the_first_names_its_call_find_theirs() -> None:
    calls = [{"id": "1", "name": "f", "args": {}}, {"id": "2", "name": "f", "args": {}}]
    first, second = run_of(
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "name": "f", "content": "a"},
        {"role": "tool", "name": "f", "content": "b"},
    ).steps

    assert (first.observation, second.observation) == ("a", "b")


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("<task>\nWeather?\n</task>\n<environment_details>x</environment_details>", "Weather?"),
        ("<user_query>Weather?</user_query>", "Weather?"),
        ("<task>never closed", "<task>never closed"),
        ("<task>\n</task>\nWeather?", "<task>\n</task>\nWeather?"),
        ("ISSUE:\nWeather?\n\nINSTRUCTIONS:\nx", "Weather?"),
        ("ISSUE:\nWeather?", "ISSUE:\nWeather?"),
        ("ISSUE:\n\nINSTRUCTIONS:\nx", "ISSUE:\n\nINSTRUCTIONS:\nx"),
    ],
)
def test_the_task_is_what_stands_in_the_tag_that_a_harness_puts_around_it(message: str, task: str) -> None:
    assert Trajectory.of([{"role": "user", "content": message}, SAID]).task == task

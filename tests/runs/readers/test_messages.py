from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock

from reasoningbank import Trajectory
from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import read_messages


def left_out(found: Found) -> dict[str, int]:
    return {left.what: left.count for left in found.ledger.left_out()}


RAN = {"action": 'run({"cmd":"ls"})', "tool": "run", "observation": "a.txt"}


def openai_style() -> list[Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd":"ls"}'}}
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is here?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
        {"role": "assistant", "content": "One file."},
    ]


def plain_calls() -> list[Any]:
    return [
        {"role": "user", "content": "What is here?"},
        {"role": "assistant", "content": None, "tool_calls": [{"name": "run", "arguments": '{"cmd":"ls"}'}]},
        {"role": "tool", "name": "run", "content": "a.txt"},
        {"role": "assistant", "content": "One file."},
    ]


def anthropic_style() -> list[Any]:
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    return [
        {"role": "user", "content": [{"type": "text", "text": "What is here?"}, picture]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "run", "input": {"cmd": "ls"}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a.txt"}, picture]}
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
    ]


def langchain_style() -> list[Any]:
    return [
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": "What is here?"}, {"type": "image_url", "image_url": "x"}]),
        AIMessage("", tool_calls=[{"name": "run", "args": {"cmd": "ls"}, "id": "c1"}]),
        RemoveMessage("m1"),
        ToolMessage("a.txt", tool_call_id="c1"),
        AIMessage("One file."),
    ]


def llama_index_style() -> list[Any]:
    call = {"id": "c1", "function": {"name": "run", "arguments": '{"cmd":"ls"}'}}
    return [
        ChatMessage(role=MessageRole.SYSTEM, content="Be brief."),
        ChatMessage(role=MessageRole.USER, blocks=[TextBlock(text="What is here?"), ImageBlock(url="http://x.test/a")]),
        ChatMessage(role=MessageRole.ASSISTANT, content="", additional_kwargs={"tool_calls": [call]}),
        ChatMessage(role=MessageRole.TOOL, content="a.txt", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role=MessageRole.ASSISTANT, content="One file."),
    ]


def gemini_style() -> list[Any]:
    return [
        {"role": "user", "parts": [{"text": "What is here?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {"cmd": "ls"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": "a.txt"}}]},
        {"role": "model", "parts": ["One file."]},
    ]


def responses_style() -> list[Any]:
    return [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is here?"}]},
        {"type": "function_call", "call_id": "c1", "name": "run", "arguments": '{"cmd":"ls"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
    ]


def old_function_style() -> list[Any]:
    return [
        {"role": "user", "content": "What is here?"},
        {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": '{"cmd":"ls"}'}},
        {"role": "function", "name": "run", "content": "a.txt"},
        {"role": "assistant", "content": "One file."},
    ]


STYLES = [
    openai_style,
    plain_calls,
    anthropic_style,
    langchain_style,
    llama_index_style,
    gemini_style,
    responses_style,
    old_function_style,
]


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
def test_messages_of_any_framework_give_the_same_run(style: Any) -> None:
    transcript = read_messages(style())

    assert (transcript.task, transcript.steps, transcript.result) == ("What is here?", [RAN], "One file.")


def test_system_messages_are_counted_and_not_kept() -> None:
    transcript = read_messages(openai_style())

    assert left_out(transcript) == {"system message": 1}
    assert "brief" not in str(transcript.steps)


def test_boot_files_and_reminders_before_the_request_are_not_the_task() -> None:
    messages = [
        {"role": "user", "content": "# AGENTS.md instructions\nUse tabs."},
        {"role": "user", "content": "<environment_context>os: linux</environment_context>"},
        {"role": "user", "content": "Rename the files. <system-reminder>be kind</system-reminder>"},
    ]

    transcript = read_messages(messages)

    assert transcript.task == "Rename the files."
    assert left_out(transcript) == {"text of the harness": 2}


def test_several_calls_of_one_message_get_their_own_answers() -> None:
    calls = [{"name": "read", "args": {"path": name}, "id": name} for name in "ab"]
    messages = [
        {"role": "user", "content": "Compare a and b"},
        {"role": "assistant", "content": "I read both.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "second"},
        {"role": "tool", "tool_call_id": "a", "content": "first"},
    ]

    first, second = read_messages(messages).steps

    assert (first["observation"], second["observation"]) == ("first", "second")
    assert first["thought"] == "I read both."
    assert "thought" not in second


def test_an_answer_without_a_call_is_a_step_of_its_own() -> None:
    messages = [{"role": "user", "content": "go"}, {"role": "tool", "content": "42"}]

    assert read_messages(messages).steps == [{"observation": "42"}]


def test_what_the_user_says_later_is_an_observation() -> None:
    messages = [
        {"role": "user", "content": "Book a flight"},
        {"role": "assistant", "content": "Which day?"},
        {"role": "user", "content": "Monday"},
        {"role": "user", "content": "Or Tuesday"},
        {"role": "assistant", "content": "Booked."},
    ]

    transcript = read_messages(messages)

    assert transcript.steps == [
        {"thought": "Which day?", "observation": "User: Monday"},
        {"observation": "User: Or Tuesday"},
    ]
    assert transcript.result == "Booked."


def test_a_given_task_makes_the_first_user_message_an_observation() -> None:
    transcript = read_messages([{"role": "user", "content": "Hi"}], task="Greet")

    assert transcript.task == "Greet"
    assert transcript.steps == [{"observation": "User: Hi"}]


def test_thinking_is_the_thought_of_the_step() -> None:
    blocks = [{"type": "thinking", "thinking": "It may be a path."}, {"type": "tool_use", "name": "ls", "input": {}}]
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": blocks}]

    assert read_messages(messages).steps == [{"action": "ls({})", "tool": "ls", "thought": "It may be a path."}]


def test_reasoning_that_stands_alone_is_a_thought() -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look first."}]},
    ]

    assert read_messages(messages).steps == [{"thought": "Look first."}]


@pytest.mark.parametrize("mark", [{"status": "error"}, {"is_error": True}])
def test_a_tool_that_says_it_failed_failed_whatever_its_words(mark: dict[str, Any]) -> None:
    messages = [{"role": "user", "content": "go"}, {"role": "tool", "content": "\nquota used up\nmore", **mark}]

    assert read_messages(messages).steps[0]["error"] == "quota used up"


def test_a_block_that_failed_is_an_error() -> None:
    block = {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True}

    assert read_messages([{"role": "user", "content": "go"}, {"role": "user", "content": [block]}]).steps == [
        {"observation": "no", "error": "no"},
    ]


def test_a_call_that_stands_in_the_content_and_beside_it_counts_once() -> None:
    message = AIMessage(
        [{"type": "tool_use", "id": "c1", "name": "run", "input": {}}],
        tool_calls=[{"name": "run", "args": {}, "id": "c1"}],
    )

    assert len(read_messages([HumanMessage("go"), message]).steps) == 1


def test_objects_with_attributes_are_read_like_dictionaries() -> None:
    messages = [
        SimpleNamespace(type="human", content="go"),
        SimpleNamespace(type="ai", content="", tool_calls=[SimpleNamespace(id="c", name="ls", args=None)]),
        SimpleNamespace(type="tool", content=b"raw", tool_call_id="c"),
    ]

    assert read_messages(messages).steps == [{"action": "ls()", "tool": "ls", "observation": "b'raw'"}]


def test_a_tool_message_whose_content_is_data_is_kept_as_json() -> None:
    messages = [{"role": "user", "content": "go"}, {"role": "tool", "content": [{"row": 1}, {"row": 2}]}]

    assert read_messages(messages).steps[0]["observation"] == '[{"row":1},{"row":2}]'


def test_a_call_named_by_a_bare_text_is_kept() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": "refresh", "arguments": None}]}

    assert read_messages([message], task="t").steps == [{"action": "refresh()", "tool": "refresh"}]


def test_an_assistant_that_says_nothing_leaves_no_step() -> None:
    assert read_messages([{"role": "assistant", "content": ""}], task="t").steps == []


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ({"role": "narrator", "content": "x"}, "message of unknown role 'narrator'"),
        ({"content": "x"}, "message without a role"),
        (object(), "message without a role"),
        ({"type": "message"}, "message of unknown role 'message'"),
    ],
)
def test_a_message_of_an_unknown_speaker_costs_itself_and_is_named(message: Any, what: str) -> None:
    found = read_messages([{"role": "user", "content": "x"}, message, {"role": "assistant", "content": "y"}])

    assert (found.task, found.steps, found.result) == ("x", [], "y")
    assert left_out(found) == {what: 1}
    assert found.ledger.left_out()[0].places == ("messages[1]",)


def test_no_messages_are_an_empty_run() -> None:
    transcript = read_messages([])

    assert (transcript.task, transcript.steps, transcript.result) == ("", [], "")


def test_an_answer_without_an_id_goes_to_a_call_that_no_other_answer_names() -> None:
    calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("f", "g")]
    messages = [
        {"role": "user", "content": "t"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "of g"},
        {"role": "tool", "tool_call_id": "f", "content": "of f"},
    ]

    assert [step.observation for step in Trajectory.of(messages).steps] == ["of f", "of g"]


def test_what_is_said_as_a_number_is_said() -> None:
    run = Trajectory.of([{"role": "user", "content": 3}, {"role": "assistant", "content": [4, 0.5]}])

    assert (run.task, run.result) == ("3", "4\n0.5")

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from reasoningbank.distill.lenient import BACKSLASHES, CUT, LOOSE
from reasoningbank.distill.parse import Answer, json_values, read_answer, without_thinking

LESSON = {"title": "Pin numpy", "content": "ABI break"}
REPLY = json.dumps({"memories": [LESSON]})
FINAL = {"title": "final", "content": "c"}
DRAFT = 'maybe {"memories": [{"title": "draft", "content": "d"}]}'
FINAL_REPLY = json.dumps({"memories": [FINAL]})


def items(text: str) -> list[Any]:
    return list(read_answer(text).items)


@pytest.mark.parametrize("open_fence", ["```json", "```JSON", "```", "~~~", "~~~json", "```json5 title=x"])
def test_json_in_a_fence_is_unwrapped_whatever_the_fence_is_called(open_fence: str) -> None:
    assert items(f"{open_fence}\n{REPLY}\n{open_fence[:3]}") == [LESSON]


def test_a_block_is_unwrapped_and_the_explanation_after_it_ignored() -> None:
    assert items(f"```json\n{REPLY}\n```\nExplanation: {{nothing}} else is new.") == [LESSON]

    empty = read_answer('```json\n{"memories": []}\n```\nExplanation: nothing new.')
    assert (empty.found, empty.items) == (True, ())


@pytest.mark.parametrize("tag", ["think", "thinking", "analysis", "reasoning", "THINK"])
def test_a_draft_inside_thinking_is_never_taken(tag: str) -> None:
    assert items(f"<{tag}>{DRAFT}</{tag}>\n{FINAL_REPLY}") == [FINAL]
    assert items(f"{DRAFT}</{tag}>\n{FINAL_REPLY}") == [FINAL]
    assert items(f"<{tag}>a</{tag}><{tag}>{DRAFT}</{tag}>{FINAL_REPLY}") == [FINAL]


def test_a_draft_in_another_channel_is_never_taken() -> None:
    assert items(f"<|channel|>analysis<|message|>{DRAFT}<|end|><|channel|>final<|message|>{FINAL_REPLY}") == [FINAL]
    assert items(f"[THINK]{DRAFT}[/THINK]{FINAL_REPLY}") == [FINAL]


def test_a_closing_tag_that_a_lesson_quotes_cuts_nothing() -> None:
    lesson = {"title": "Strip </think> tags", "content": "before parsing"}

    assert items(json.dumps([lesson])) == [lesson]
    assert items(f"<think>x</think>Here: {json.dumps([lesson])}") == [lesson]
    assert items(f"Here: {json.dumps([lesson])}") == [lesson]


def test_nothing_to_learn_after_thinking_is_found() -> None:
    assert read_answer("hm</think>NO_EXTRACTIONS") == Answer(found=True)


def test_thinking_that_never_ends_is_cut_off_and_not_empty() -> None:
    answer = read_answer("<think>Let me look at step 1")

    assert (answer.cut, answer.found, answer.problem) == (True, False, "thinking that never ended")


def test_an_empty_answer_is_not_an_empty_list() -> None:
    answer = read_answer("  \n")

    assert (answer.found, answer.problem) == (False, "an empty answer")


@pytest.mark.parametrize(
    ("reply", "titles"),
    [
        ('[{"title": "A", "content": "a"}, {"title": "B", "content": "b"}]', ["A", "B"]),
        ('{"title": "A", "content": "a"}', ["A"]),
    ],
)
def test_a_bare_list_gives_all_its_items_and_a_bare_object_gives_one(reply: str, titles: list[str]) -> None:
    assert [item["title"] for item in items(reply)] == titles


@pytest.mark.parametrize(
    "reply",
    [
        {"lessons": [LESSON]},
        {"memories": LESSON},
        {"memories": {"1": LESSON, "note": "x"}},
        {"result": {"memories": [LESSON]}},
        {"answer": REPLY},
        {"name": "record", "arguments": REPLY},
        {"name": "record", "arguments": {"memories": [LESSON]}},
        {"type": "function", "function": {"name": "record", "arguments": REPLY}},
        REPLY,
    ],
)
def test_a_wrong_envelope_is_opened(reply: Any) -> None:
    assert items(json.dumps(reply)) == [LESSON]


def test_envelopes_in_envelopes_are_opened_to_a_bound() -> None:
    reply: Any = {"memories": [LESSON]}
    for _ in range(3):
        reply = {"result": reply}

    assert items(json.dumps(reply)) == [LESSON]
    assert items(json.dumps({"result": reply})) == []


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        ({"memories": [LESSON], "wisdom": [{"title": "B", "content": "b"}]}, "not understood: 'wisdom'"),
        ({"result": {"lessons": [LESSON], "pearls": ["Look twice"]}}, "not understood: 'pearls'"),
        ({"data": {"items": [LESSON], "pearls": ["Look twice"]}, "gems": {"a": 1}}, "not understood: 'pearls', 'gems'"),
    ],
)
def test_keys_that_are_not_known_are_named_beside_what_was_read(reply: Any, note: str) -> None:
    answer = read_answer(json.dumps(reply))

    assert (list(answer.items), answer.notes) == ([LESSON], (note,))


@pytest.mark.parametrize(
    ("reply", "missed", "problem"),
    [
        ({"wisdom": {"nuggets": [LESSON]}}, True, "JSON without a list of lessons: 'wisdom' is not understood"),
        ({"memories": [], "wisdom": [LESSON]}, True, "lessons under 'wisdom', which is not understood"),
        ({"memories": [], "usage": {"tokens": 3}}, False, ""),
        ({"memories": [], "wisdom": []}, False, ""),
        ({"data": {"by name": LESSON}}, False, ""),
    ],
)
def test_lessons_under_a_key_that_is_not_known_are_not_nothing(reply: Any, missed: bool, problem: str) -> None:
    answer = read_answer(json.dumps(reply))

    assert (answer.missed, answer.problem) == (missed, problem)


def test_several_objects_one_after_another_are_all_taken_and_repeats_once() -> None:
    other = {"title": "B", "content": "b"}

    assert items(json.dumps(LESSON) + json.dumps(other) + json.dumps(LESSON)) == [LESSON, other]
    assert items(f"First:\n{json.dumps(LESSON)}\nThen:\n{{'title': 'B', content: \"b\"}}") == [LESSON, other]


@pytest.mark.parametrize(
    "reply",
    [
        '{"properties": {"memories": {"type": "array"}}, "type": "object"}',
        '{"$schema": "x", "memories": [{"title": "t", "content": "c"}]}',
        '{"$defs": {}, "title": "Lessons", "description": "d"}',
    ],
)
def test_an_echo_of_the_schema_is_no_answer(reply: str) -> None:
    answer = read_answer(reply)

    assert (answer.found, answer.problem) == (False, "a JSON schema instead of an answer")


def test_single_quotes_and_inner_marks_keep_every_key() -> None:
    reply = "{'memories': [{'title': 'panel 7\" by 5\"', 'content': None, 'reusable': True}]}"

    assert items(reply) == [{"title": 'panel 7" by 5"', "content": None, "reusable": True}]


def test_a_windows_path_keeps_its_backslashes_and_is_flagged() -> None:
    answer = read_answer(r'{"memories":[{"title":"path","content":"open C:\work\new\temp and match \d+"}]}')

    assert answer.items[0]["content"] == r"open C:\work\new\temp and match \d+"
    assert BACKSLASHES in answer.notes


def test_a_cut_answer_gives_its_whole_items_and_says_that_it_was_cut() -> None:
    answer = read_answer(f'Sure! {{"memories": [{json.dumps(LESSON)}, {{"title": "cut", "content": "hal')

    assert answer.items[0] == LESSON
    assert answer.cut
    assert set(answer.notes) == {CUT, LOOSE}


@pytest.mark.parametrize(
    "refusal",
    [
        "I'm sorry, but I can't help with that.",
        "I’m really sorry, no.",
        "Unfortunately, I cannot analyse this.",
        "As an AI language model, I …",
    ],
)
def test_a_refusal_in_prose_is_a_refusal(refusal: str) -> None:
    answer = read_answer(refusal)

    assert answer.refused
    assert answer.problem == refusal


def test_words_of_refusal_inside_a_lesson_refuse_nothing() -> None:
    quoting = {"title": "Linter", "content": 'When the linter prints "I cannot parse this", rerun with --fix'}

    answer = read_answer(json.dumps({"memories": [quoting]}))

    assert answer.items == (quoting,)
    assert not answer.refused
    assert not read_answer("I cannot say. {}").refused


@pytest.mark.parametrize("nothing", ["NO_EXTRACTIONS", "**NO_EXTRACTIONS**", "Nothing here.\nNO_EXTRACTIONS\n", "[]"])
def test_saying_that_there_is_nothing_is_found_and_empty(nothing: str) -> None:
    answer = read_answer(nothing)

    assert (answer.found, answer.items) == (True, ())


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("just prose", "no JSON"),
        ("{}", "JSON without a list of lessons"),
        ("null", "JSON without a list of lessons"),
        ('["a", "b"]', "JSON without a list of lessons"),
        ('{"result": "{cut"}', "JSON without a list of lessons"),
        ('{"answer": "words"}', "JSON without a list of lessons"),
    ],
)
def test_what_stood_there_instead_is_named(reply: str, problem: str) -> None:
    answer = read_answer(reply)

    assert (answer.found, answer.problem) == (False, problem)


@pytest.mark.parametrize(
    "reply",
    [
        "# Memory Item 1\n## Title Run it first\n## Description: when x\n## Content\nDo y.\n\n"
        "# Memory Item 2\n## Title: Two\n## Content: Do z.",
        "```markdown\n**Title:** Run it first\n**Description:** when x\n**Content:** Do y.\n\n"
        "1. Title: Two\n- Content: Do z.\n```",
        "Description: when x\nTitle: Run it first\nContent: Do y.\nTitle: Two\nContent: Do z.",
    ],
)
def test_the_markdown_form_of_the_paper_is_read(reply: str) -> None:
    answer = read_answer(reply)

    assert [(item["title"], item["content"]) for item in answer.items] == [("Run it first", "Do y."), ("Two", "Do z.")]
    assert answer.notes == ("Markdown instead of JSON",)


def test_a_title_without_a_content_is_no_item() -> None:
    assert not read_answer("Title: alone").found


def test_prose_with_braces_before_the_answer_does_not_swallow_it() -> None:
    assert items(f"Use {{name: x and then: {REPLY}") == [LESSON]
    assert items(f"In [1] and {{a}} I say: {REPLY}") == [LESSON]


def test_an_answer_full_of_braces_is_read_in_bounded_time() -> None:
    answer = read_answer('{"a": ' * 20_000)

    assert not answer.found


def test_thinking_is_cut_off_only_where_there_is_some() -> None:
    assert without_thinking("plain") == ("plain", False)
    assert without_thinking("quoted </think> text") == ("quoted </think> text", False)


def test_json_values_come_outermost_first() -> None:
    assert list(json_values('a {"x": {"y": 1}} b [{"z": 2}]')) == [{"x": {"y": 1}}, [{"z": 2}]]


ITEM = {"title": "Back up", "content": "Back up before dropping a table."}
OTHER = {"title": "Ask first", "content": "Ask before force pushing."}


@pytest.mark.parametrize(
    "envelope",
    [
        {"data": {"lessons_learned": [ITEM, OTHER]}},
        {"memories": [], "lessons": [ITEM, OTHER]},
        {"strategies": [ITEM], "guardrails": [OTHER]},
        {"output": {"first": ITEM, "second": OTHER}},
        {"result": {"memories": [ITEM], "insights": [OTHER]}},
    ],
)
def test_lessons_in_several_or_nested_envelopes_are_all_read(envelope: dict[str, Any]) -> None:
    assert list(read_answer(json.dumps(envelope)).items) == [ITEM, OTHER]


@pytest.mark.parametrize(
    "around",
    [
        "◁think▷{0}◁/think▷{1}",
        "<antThinking>{0}</antThinking>{1}",
        "<|channel|>analysis<|message|>{0}<|end|><|channel|>final <|constrain|>json<|message|>{1}",
    ],
)
def test_drafts_in_any_kind_of_thinking_are_not_looked_at(around: str) -> None:
    text = around.replace("{0}", json.dumps([OTHER])).replace("{1}", json.dumps([ITEM]))

    assert list(read_answer(text).items) == [ITEM]


def test_an_answer_of_dashes_takes_time_in_proportion_to_its_length() -> None:
    def seconds(lines: int) -> float:
        began = time.process_time()
        read_answer("---\n" * lines)
        return time.process_time() - began

    assert seconds(40_000) < 20 * max(seconds(10_000), 0.01)

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import Verdict
from reasoningbank.distill.items import LESSON_LIMIT, Rules, read_item, sort_items
from reasoningbank.distill.lenient import BACKSLASHES
from reasoningbank.distill.parse import read_answer
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import TITLE_LIMIT, Draft, Source, fingerprint_text

SOURCE = Source(how="distilled", by="m", session="s")
RULES = Rules(cap=3, outcome=Verdict.SUCCESS, source=SOURCE)


def reasons(items: list[Any], rules: Rules = RULES) -> list[str]:
    return [rejection.reason for rejection in sort_items(items, rules).rejected]


def lesson(**fields: Any) -> dict[str, Any]:
    return {"title": "T", "content": "do c", **fields}


def test_odd_shapes_are_normalised_or_rejected_and_neighbours_live() -> None:
    answer = read_answer(
        '{"memories": ["Run migrations first", {"Never force-push main": "learned the hard way"},'
        ' {"title": "ok", "content": "ok then"}]}'
    )

    found = sort_items(answer.items, RULES)

    assert [draft.title for draft in found.drafts] == ["Never force-push main", "ok"]
    assert [(r.reason, r.excerpt) for r in found.rejected] == [("not an object but str", "Run migrations first")]


def test_an_item_with_a_missing_field_is_rejected_alone_and_the_field_is_named() -> None:
    found = sort_items([{"title": "A"}, lesson(title="B"), {"content": "x"}], RULES)

    assert [draft.title for draft in found.drafts] == ["B"]
    assert [r.reason for r in found.rejected] == ["content is missing", "title is missing"]


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        (r'{"memories":[{"title":"emoji \ud83d","content":"ok"}]}', "emoji \ufffd"),
        (r'{"memories":[{"title":"pair \ud83c\udf78","content":"yes"}]}', "pair \U0001f378"),
        (r'{"memories":[{"title":"bad \u12G4","content":"yes"}]}', r"bad \u12G4"),
    ],
)
def test_broken_escapes_cost_no_more_than_that_text_and_all_can_be_written(reply: str, title: str) -> None:
    (draft,) = sort_items(read_answer(reply).items, RULES).drafts

    assert draft.title == title
    assert draft.model_dump_json().encode()


@pytest.mark.parametrize(
    "title",
    [
        "No items in the cart: stop",
        "No memory left on the device",
        "Nothing to commit is no error",
        "No lessons without tests",
    ],
)
def test_a_title_that_only_begins_so_is_a_lesson(title: str) -> None:
    assert sort_items([lesson(title=title)], RULES).drafts[0].title == title


def test_lessons_that_quote_an_error_or_name_a_file_are_kept() -> None:
    contents = ['When the linter prints "I cannot parse this", rerun with --fix', "Run build_wheel.py before uploading"]

    found = sort_items([lesson(title=str(n), content=content) for n, content in enumerate(contents)], RULES)

    assert [draft.content for draft in found.drafts] == contents


def test_made_up_ids_are_skipped_by_name_and_the_valid_addition_runs() -> None:
    answer = read_answer(
        '{"actions":[{"op":"update","id":"12","content":"x"},{"op":"link","id":"0","to":["999"]},'
        '{"op":"add","title":"t","content":"do c"}]}'
    )

    found = sort_items(answer.items, RULES)

    assert [draft.title for draft in found.drafts] == ["t"]
    assert [r.reason for r in found.rejected] == ["update of the unknown id '12'", "link of the unknown id '0'"]


def test_caps_are_kept_in_code_and_the_overflow_is_counted() -> None:
    essay = lesson(title="essay", content="x" * 20_000)

    found = sort_items([essay, *(lesson(title=f"T{n}") for n in range(39))], RULES)

    assert [draft.title for draft in found.drafts] == ["T0", "T1", "T2"]
    assert found.rejected[0].reason == f"content is longer than {LESSON_LIMIT:,} characters"
    assert [r.reason for r in found.rejected[1:]] == ["over the cap of 3"] * 36


@pytest.mark.parametrize(("cap", "given"), [(3, 4), (5, 6)])
def test_four_items_of_a_run_leave_three_and_six_of_a_contrast_five(cap: int, given: int) -> None:
    found = sort_items([lesson(title=f"T{n}") for n in range(given)], Rules(cap, Verdict.SUCCESS, SOURCE))

    assert len(found.drafts) == cap


@pytest.mark.parametrize("confidence", ["85%", 1.7, float("nan"), "high", -0.1, None])
def test_a_confidence_made_up_by_the_model_is_not_read(confidence: object) -> None:
    (draft,) = sort_items([lesson(confidence=confidence)], RULES).drafts

    assert draft.confidence is None
    assert draft.initial_confidence == 0.6


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"title": "T", "lesson": "do c"}, "do c"),
        ({"name": "T", "steps": ["one", "two", 3, None]}, "one\ntwo\n3"),
        ({"Title": "T", "description": "in one sentence"}, "in one sentence"),
        ({"title": "T", "content": 42}, "42"),
    ],
)
def test_other_names_and_kinds_of_a_field_are_understood(fields: dict[str, Any], expected: str) -> None:
    assert read_item(fields, RULES).content == expected


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (lesson(title="string"), "title says nothing"),
        (lesson(content="..."), "content says nothing"),
        (lesson(content={"a": 1}), "content says nothing"),
        (lesson(title=True), "title says nothing"),
        ({"note": {"a": 1}}, "content says nothing"),
    ],
)
def test_a_form_that_was_copied_and_not_filled_in_is_rejected(fields: dict[str, Any], reason: str) -> None:
    assert reasons([fields]) == [reason]


def test_a_repeat_and_a_copied_example_are_rejected() -> None:
    rules = Rules(3, Verdict.SUCCESS, SOURCE, examples=frozenset({fingerprint_text("Ex", "do e")}))

    found = sort_items([lesson(title="ex", content="Do e."), lesson(), lesson(title="t", content="Do C")], rules)

    assert len(found.drafts) == 1
    assert {r.reason for r in found.rejected} == {"repeats an item", "copies an example of the prompt"}


def test_a_lesson_patched_together_from_the_examples_is_rejected_and_one_of_its_own_words_is_not() -> None:
    example = fingerprint_text("Read the schema first", "List the tables and the columns first, then write the query.")
    patched = lesson(title="List the tables and the columns first", content="Then list the columns first, then write.")
    own = lesson(title="Read the error first", content="List the folders, make the one that is missing, then write.")

    found = sort_items([patched, own], Rules(3, Verdict.SUCCESS, SOURCE, examples=frozenset({example})))

    assert [draft.title for draft in found.drafts] == ["Read the error first"]
    assert [rejection.reason for rejection in found.rejected] == ["copies an example of the prompt"]


def test_a_title_too_long_is_cut_at_a_word() -> None:
    words, unbroken = (read_item(lesson(title=title), RULES).title for title in ("word " * 80, "x" * 300))

    assert words.endswith("word…")
    assert len(words) <= TITLE_LIMIT
    assert unbroken == "x" * (TITLE_LIMIT - 1) + "…"


def test_an_optional_field_that_says_nothing_is_empty() -> None:
    draft = read_item(lesson(description="n/a", applies_when="when x"), RULES)

    assert (draft.description, draft.applies_when) == ("", "when x")


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["SQL", "#Error handling", 3, "", "x" * 65], ("given", "sql", "error-handling")),
        ("a, b; c", ("given", "a", "b", "c")),
        ({"a": 1}, ("given",)),
        (list("abcdefghijk"), ("given", *"abcdefg")),
        (None, ("given",)),
    ],
)
def test_tags_are_tidied_and_those_of_the_run_come_first(tags: Any, expected: tuple[str, ...]) -> None:
    assert read_item(lesson(tags=tags), Rules(3, Verdict.SUCCESS, SOURCE, tags=("given",))).tags == expected


@pytest.mark.parametrize(
    ("stated", "outcome"),
    [
        ("success", Verdict.SUCCESS),
        ("Failure", Verdict.FAILURE),
        ("unsuccessful", Verdict.FAILURE),
        (None, Verdict.FAILURE),
    ],
)
def test_where_runs_differ_the_item_says_its_outcome_and_without_one_starts_low(stated: Any, outcome: Verdict) -> None:
    assert read_item(lesson(outcome=stated), Rules(5, None, SOURCE)).outcome is outcome


def test_the_outcome_of_one_run_is_the_run_s_whatever_the_item_says() -> None:
    assert read_item(lesson(outcome="failure"), RULES).outcome is Verdict.SUCCESS


def test_a_guessed_backslash_is_noted() -> None:
    answer = read_answer(r'{"memories":[{"title":"a","content":"match \d+"}]}')

    assert sort_items(answer.items, RULES).notes == (BACKSLASHES,)


def test_the_source_is_the_one_given() -> None:
    assert read_item(lesson(), RULES).source == SOURCE
    assert isinstance(read_item(lesson(), RULES), Draft)


def test_a_cut_item_is_rejected() -> None:
    assert reasons(list(read_answer('{"memories":[{"title":"a","content":"half').items)) == ["cut off"]


def test_a_limit_of_the_bank_is_a_reason() -> None:
    with pytest.raises(InvalidInputError, match="tag has 65 characters"):
        read_item(lesson(), Rules(3, Verdict.SUCCESS, SOURCE, tags=("x" * 65,)))


@pytest.mark.parametrize("word", ["worked", "SUCCESS.", "positive", "1"])
def test_other_words_for_success_are_no_failure(word: str) -> None:
    assert read_item(lesson(outcome=word), Rules(5, None, SOURCE)).outcome is Verdict.SUCCESS


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"outcome": "kinda"}, "neither success nor failure"),
        ({"content": "I'm sorry, but I cannot analyze this transcript."}, "a refusal"),
        ({"title": "Short title here"}, "title says nothing"),
        ({"title": "No lessons found"}, "there is no lesson"),
        ({"title": "There are no useful insights."}, "there is no lesson"),
        ({"title": "Nothing to learn"}, "there is no lesson"),
        ({"title": "nothing was learned"}, "there is no lesson"),
    ],
)
def test_refusals_copied_forms_and_unknown_outcomes_are_no_lessons(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        read_item(lesson(**fields), Rules(5, None, SOURCE))


def test_a_quotation_mark_that_is_not_escaped_makes_no_half_lesson() -> None:
    said = '{"memories": [{"title": "T", "content": "Set "skip_tests", "force": "true" in staging only"}]}'

    result = sort_items(read_answer(said).items, RULES)

    assert result.drafts == ()

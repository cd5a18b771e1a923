from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import Verdict
from reasoningbank.errors import InvalidInputError, LimitExceededError
from reasoningbank.memory import (
    CONTENT_LIMIT,
    DESCRIPTION_LIMIT,
    METADATA_LIMIT,
    TAG_LIMIT,
    TAGS_LIMIT,
    TITLE_LIMIT,
    Draft,
    Memory,
    Source,
    clean_text,
    fingerprint_text,
)
from reasoningbank.validation import validated

ANY_TEXT = st.text(st.characters(exclude_categories=[]))


def draft(**fields: Any) -> Draft:
    return validated(Draft, {"title": "Quote the path", "content": "Quote it.", "outcome": "success"} | fields)


@given(ANY_TEXT)
def test_a_cleaned_text_can_be_written_and_is_clean_for_good(text: str) -> None:
    cleaned = clean_text(text)

    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert "\0" not in cleaned
    assert clean_text(cleaned) == cleaned == unicodedata.normalize("NFC", cleaned)


@given(st.text())
def test_cleaning_changes_nothing_but_form_and_nuls(text: str) -> None:
    assert clean_text(text) == unicodedata.normalize("NFC", text).replace("\0", "\ufffd")


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("tail\0", "tail\ufffd"),
        ("caf\u0065\u0301 \0", "café \ufffd"),
        ("\ud800", "\ufffd"),
        ("x\ud800y", "x\ufffdy"),
        ("a\udc00b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\ufeffstart", "\ufeffstart"),
    ],
)
def test_what_cannot_be_stored_is_marked_and_not_dropped(dirty: str, clean: str) -> None:
    assert clean_text(dirty) == clean


@pytest.mark.parametrize("blank", ["", "  \n\t", "\u200b\u200d", "\u202e"])
@pytest.mark.parametrize("field", ["title", "content"])
def test_a_text_that_nobody_could_see_is_empty(field: str, blank: str) -> None:
    with pytest.raises(InvalidInputError, match=f"{field} is empty"):
        draft(**{field: blank})


@pytest.mark.parametrize(
    ("field", "limit"),
    [
        ("title", TITLE_LIMIT),
        ("description", DESCRIPTION_LIMIT),
        ("applies_when", DESCRIPTION_LIMIT),
        ("content", CONTENT_LIMIT),
    ],
)
def test_a_text_may_be_as_long_as_its_limit_and_no_longer(field: str, limit: int) -> None:
    assert len(getattr(draft(**{field: "é" * limit}), field)) == limit

    with pytest.raises(LimitExceededError, match=f"{field} has .* the limit is {limit:,}") as caught:
        draft(**{field: "é" * (limit + 1)})
    assert (caught.value.field, caught.value.limit, caught.value.actual) == (field, limit, limit + 1)


def test_content_keeps_its_spaces_and_a_title_does_not() -> None:
    stored = draft(title="  Indent  ", content="    if x:\n        y()\n")

    assert (stored.title, stored.content) == ("Indent", "    if x:\n        y()\n")


def test_tags_are_cleaned_and_said_once_in_their_order() -> None:
    assert draft(tags=[" git ", "csv", "git", "", "e\u0301", "\u200b"]).tags == ("git", "csv", "é")


def test_a_text_is_no_list_of_tags() -> None:
    with pytest.raises(InvalidInputError, match=r"give a list of tags, such as \['git'\]"):
        draft(tags="git")


def test_tags_of_the_wrong_type_are_an_error_that_names_them() -> None:
    with pytest.raises(InvalidInputError, match="tags"):
        draft(tags=7)


def test_there_may_be_so_many_tags_and_so_long() -> None:
    assert len(draft(tags=[str(n) for n in range(TAGS_LIMIT)]).tags) == TAGS_LIMIT
    with pytest.raises(LimitExceededError, match=f"tags has {TAGS_LIMIT + 1} tags"):
        draft(tags=[str(n) for n in range(TAGS_LIMIT + 1)])
    with pytest.raises(LimitExceededError, match="tag has"):
        draft(tags=["x" * (TAG_LIMIT + 1)])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_metadata_that_json_holds_comes_back(value: Any) -> None:
    kept = draft(metadata={"key": value}).metadata

    assert json.loads(json.dumps(kept, allow_nan=False)) == kept


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        np.float32(0.5),
        Decimal("0.5"),
        Path("x"),
        {1, 2},
        pytest.param(object(), id="object"),
        b"bytes",
        datetime(2026, 1, 1, tzinfo=UTC),
    ],
    ids=lambda value: type(value).__name__,
)
def test_metadata_that_json_cannot_hold_is_an_error_that_names_the_key(value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"metadata 'when' holds"):
        draft(metadata={"deep": [{"when": value}]})


def test_metadata_keys_are_texts() -> None:
    with pytest.raises(InvalidInputError, match="metadata key 1"):
        draft(metadata={"map": {1: "one"}})


def test_metadata_is_a_dictionary() -> None:
    with pytest.raises(InvalidInputError, match="metadata"):
        draft(metadata=["a"])


def test_metadata_that_holds_itself_is_an_error() -> None:
    endless: dict[str, object] = {}
    endless["self"] = endless

    with pytest.raises(InvalidInputError, match="nested too deeply"):
        draft(metadata=endless)


def test_metadata_has_a_limit() -> None:
    with pytest.raises(LimitExceededError, match="metadata"):
        draft(metadata={"log": "x" * METADATA_LIMIT})


def test_metadata_texts_are_cleaned_as_all_others() -> None:
    assert draft(metadata={"na\0me": ("a\ud800",)}).metadata == {"na\ufffdme": ["a\ufffd"]}


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), "often"])
def test_a_confidence_is_a_probability(confidence: object) -> None:
    with pytest.raises(InvalidInputError, match="confidence"):
        draft(confidence=confidence)


def test_an_outcome_is_a_success_or_a_failure() -> None:
    with pytest.raises(InvalidInputError, match="outcome"):
        draft(outcome="partial")


@pytest.mark.parametrize(
    ("how", "outcome", "initial"),
    [
        ("manual", "success", 0.8),
        ("manual", "failure", 0.8),
        ("distilled", "success", 0.6),
        ("distilled", "failure", 0.5),
        ("imported", "success", 0.6),
        ("imported", "failure", 0.6),
        ("replicated", "success", 0.6),
    ],
)
def test_a_memory_starts_from_a_belief_that_goes_with_how_it_came(how: str, outcome: str, initial: float) -> None:
    assert draft(outcome=outcome, source={"how": how}).initial_confidence == initial


def test_a_stated_confidence_comes_first() -> None:
    assert draft(confidence=0.0, source={"how": "distilled"}).initial_confidence == 0.0


def test_a_memory_cannot_be_changed_in_place() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    memory = Memory(
        id="m-1",
        project="p",
        title="t",
        content="c",
        outcome=Verdict.SUCCESS,
        confidence=0.8,
        initial_confidence=0.8,
        source=Source(),
        created_at=now,
        updated_at=now,
    )

    with pytest.raises(AttributeError):
        memory.confidence = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run migrations first", "  run   MIGRATIONS first. "),
        ("Quote the `path`.", "quote the path"),
        ("Use café", "use cafe\u0301"),
        ("ﬁx it", "fix it"),
        ("Use it — always", "use it, always"),
    ],
)
def test_a_trivial_rewrite_is_the_same_lesson(one: str, other: str) -> None:
    assert fingerprint_text(one, "c") == fingerprint_text(other, "c")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use a >= b", "use a <= b"),
        ("set -e", "set +e"),
        ("stop at ≤ 5", "stop at ≥ 5"),
        ("ends with ✅", "ends with ❌"),
        ("cost in €", "cost in £"),
        ("split on \\n", "split on n"),
        ("हिन्दी में की", "हिन्दी में का"),
        ("ดูที่นี่", "ดูทีนี"),
        ("версия 1", "версия 2"),
    ],
)
def test_a_lesson_that_means_something_else_is_another(one: str, other: str) -> None:
    assert fingerprint_text(one, "c") != fingerprint_text(other, "c")

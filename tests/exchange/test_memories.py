"""The exchange format: what a line may say, and what is made of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank import Verdict
from reasoningbank.errors import InvalidInputError
from reasoningbank.exchange.memories import (
    DERIVED_TITLE,
    FIELDS,
    Incoming,
    derived_title,
    incoming,
    outgoing,
    parse,
    to_line,
)
from reasoningbank.exchange.own import FORMAT
from reasoningbank.memory import Memory, Source, State
from reasoningbank.signals import SignalKind, Tally

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def read(record: dict[str, Any], *, trusted: bool = False) -> Incoming:
    return incoming(1, record, trusted=trusted, by="lessons.jsonl", now=NOON)


def own(**fields: Any) -> dict[str, Any]:
    return {"format": FORMAT, "title": "t", "content": "c"} | fields


def test_a_line_needs_no_more_than_a_text() -> None:
    draft = read({"text": "Quote paths. Names hold blanks."}).draft

    assert (draft.title, draft.content) == ("Quote paths", "Quote paths. Names hold blanks.")
    assert (draft.outcome, draft.tags, draft.metadata) == (Verdict.SUCCESS, (), {})
    assert draft.source == Source(how="imported", by="lessons.jsonl", trusted=False)
    assert draft.initial_confidence == 0.6


def test_a_line_may_say_all_that_record_takes() -> None:
    item = read(
        {
            "id": 7,
            "title": "Quote paths",
            "content": "Put paths in quotes",
            "description": "on blanks",
            "applies_when": "paths come from outside",
            "outcome": "failure",
            "tags": ["shell"],
            "metadata": {"domain": "files"},
        }
    )

    assert item.memory_id == "7"
    assert item.draft.outcome is Verdict.FAILURE
    assert (item.draft.description, item.draft.applies_when) == ("on blanks", "paths come from outside")
    assert (item.draft.tags, item.draft.metadata) == (("shell",), {"domain": "files"})


def test_keys_that_are_no_fields_become_metadata() -> None:
    item = read(
        {"text": "x", "problem": "humaneval-111", "solved": True, "state": "Bavaria", "source": "web", "gone": None}
    )

    assert item.draft.metadata == {"problem": "humaneval-111", "solved": True, "state": "Bavaria", "source": "web"}


def test_names_of_other_tools_are_understood() -> None:
    assert read({"text": "x", "when_to_use": "at night"}).draft.applies_when == "at night"


def test_tags_in_one_text_are_split_at_commas() -> None:
    assert read({"text": "x", "tags": "shell, files,"}).draft.tags == ("shell", "files")


@pytest.mark.parametrize("given_id", [None, "", "  ", True])
def test_a_blank_id_is_no_id(given_id: object) -> None:
    assert read({"text": "x", "id": given_id}).memory_id is None


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ({}, "no text"),
        ({"content": "", "text": ""}, "no text"),
        ({"text": " \n "}, "content is empty"),
        ({"text": 5}, "content is a int"),
        ({"text": "x", "title": ["a"]}, "title"),
        ({"text": "x", "outcome": "maybe"}, "'maybe'"),
        ({"text": "x", "metadata": [1]}, "metadata is a list"),
        ({"text": "x", "id": [1]}, "id is a list"),
        ({"format": "reasoningbank/2", "content": "x"}, "newer version"),
        (own(state="asleep"), "'asleep'"),
    ],
)
def test_a_line_that_cannot_be_taken_says_why(record: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInputError, match=complaint):
        read(record)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"created_at": "noon"}, "created_at 'noon'"),
        ({"created_at": 5}, "created_at 5"),
        ({"evidence": {}}, "evidence is not a list"),
        ({"evidence": [1]}, "evidence is not a list of objects"),
        ({"evidence": [{"kind": "usage"}]}, "without its time"),
        ({"evidence": [{"kind": "rumour", "last": "2026-03-14"}]}, "'rumour'"),
        ({"evidence": [{"kind": "usage", "last": "2026-03-14", "positive": -1}]}, "positive -1"),
        ({"evidence": [{"kind": "usage", "last": "2026-03-14", "negative": True}]}, "negative True"),
        ({"taught": []}, "taught is not an object"),
        ({"taught": {"usage": [1]}}, "not two counts"),
        ({"taught": {"usage": [1, -1]}}, "not two counts"),
        ({"source": {"how": "stolen"}}, "stolen"),
        ({"archived": "yes"}, "archived is not an object"),
        ({"archived": {"from": "nowhere"}}, "'nowhere'"),
        ({"forgotten": "mallory"}, "forgotten is not a list"),
        ({"forgotten": [""]}, "forgotten is not a list"),
    ],
)
def test_what_a_trusted_line_brings_along_is_checked(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInputError, match=complaint):
        read(own(**fields), trusted=True)


def test_an_untrusted_line_brings_along_no_trust_and_no_evidence() -> None:
    item = read(
        own(
            initial_confidence=0.99,
            confidence=0.99,
            source={"how": "manual", "trusted": True},
            created_at="2020-01-01",
            evidence=[{"kind": "explicit", "positive": 9, "last": "2026-03-14"}],
            taught={"usage": [9, 0]},
        )
    )

    assert item.draft.source == Source(how="imported", by="lessons.jsonl", trusted=False)
    assert item.draft.initial_confidence == 0.6
    assert item.draft.metadata == {}
    assert (item.created_at, item.tallies, item.taught) == (None, (), ())


@pytest.mark.parametrize(
    ("state", "taken"), [("active", None), ("archived", State.ARCHIVED), ("quarantined", State.QUARANTINED)]
)
def test_an_untrusted_line_may_only_ask_to_be_served_less(state: str, taken: State | None) -> None:
    assert read(own(state=state)).state is taken


def test_a_trusted_line_of_ours_without_a_source_is_by_hand() -> None:
    assert read(own(), trusted=True).draft.source == Source()


def test_a_trusted_line_of_others_is_imported_and_trusted() -> None:
    item = read({"text": "x", "confidence": 0.9}, trusted=True)

    assert item.draft.source == Source(how="imported", by="lessons.jsonl", trusted=True)
    assert (item.draft.initial_confidence, item.draft.metadata) == (0.6, {"confidence": 0.9})


def test_what_goes_out_comes_back_the_same() -> None:
    tally = Tally(SignalKind.EXPLICIT, 20526, "s-1", "ada", 2.0, 0.5, NOON, superseded=True)
    memory = Memory(
        id="m-1",
        project="billing",
        title="Quote paths",
        content="Put paths in quotes: ü, \u2028, 試験",
        description="d",
        applies_when="a",
        outcome=Verdict.FAILURE,
        tags=("shell",),
        confidence=0.9,
        initial_confidence=0.8,
        state=State.ARCHIVED,
        source=Source(by="ada", session="s-1"),
        metadata={"n": [1, None]},
        created_at=NOON,
        updated_at=NOON,
    )

    line = to_line(outgoing(memory, [tally]))
    item = read(parse(line), trusted=True)

    assert line.count("\n") == 1
    for name in ("title", "content", "description", "applies_when", "outcome", "tags", "source", "metadata"):
        assert getattr(item.draft, name) == getattr(memory, name)
    assert (item.memory_id, item.draft.confidence, item.state) == ("m-1", 0.8, State.ARCHIVED)
    assert (item.created_at, item.updated_at) == (NOON, NOON)
    assert item.tallies == (tally,)


def test_an_archived_memory_goes_back_to_the_state_it_had() -> None:
    item = read(own(state="archived", archived={"from": "quarantined", "why": "forgotten: mallory"}), trusted=True)

    assert (item.before, item.why) == (State.QUARANTINED, "forgotten: mallory")
    assert read(own(forgotten=["mallory"]), trusted=True).blocked == ("mallory",)
    assert read(own(forgotten=["mallory"])).blocked == ()


def test_what_votes_taught_comes_along_with_a_trusted_line() -> None:
    assert read(own(taught={"usage": [3, 1]}), trusted=True).taught == ((SignalKind.USAGE, 3, 1),)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{bad", "not JSON"),
        ("[1]", "not a JSON object but a list"),
        ("5", "not a JSON object but a int"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", "not JSON"),
        (5, "not a line of JSON but a int"),
    ],
)
def test_a_line_that_is_no_json_object_says_so(line: object, complaint: str) -> None:
    with pytest.raises(InvalidInputError, match=complaint):
        parse(line)


def test_a_byte_order_mark_and_numbers_that_are_none_are_tolerated() -> None:
    assert parse(b'\xef\xbb\xbf{"text": "x", "score": NaN}') == {"text": "x", "score": None}


def test_dictionaries_need_no_reading() -> None:
    assert parse({"text": "x"}) == {"text": "x"}


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("Quote paths. Names hold blanks.", "Quote paths"),
        ("## What it does\nChecks.", "What it does"),
        ("\n\n- first\n- second", "first"),
        ("Is it v1.2? Yes.", "Is it v1.2?"),
        ("...", "..."),
        ("x" * 200, "x" * DERIVED_TITLE + "…"),
        ("word " * 40, "word " * 15 + "word…"),
    ],
)
def test_a_title_is_the_first_sentence_cut_at_a_word(content: str, title: str) -> None:
    assert derived_title(content) == title


@given(st.text(min_size=1, max_size=300))
def test_a_derived_title_is_never_too_long_nor_blank(content: str) -> None:
    try:
        title = derived_title(content)
    except InvalidInputError:
        return
    assert 0 < len(title) <= DERIVED_TITLE + 1


ANYTHING = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=20), st.lists, max_leaves=4)


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=12) | st.sampled_from(sorted(FIELDS)), ANYTHING, max_size=6))
def test_any_object_is_taken_or_refused_in_words(record: dict[str, Any]) -> None:
    try:
        item = read(json.loads(json.dumps(record)))
    except InvalidInputError:
        return
    assert item.draft.title


def test_an_empty_place_among_the_tags_is_no_tag() -> None:
    assert read({"text": "Quote paths.", "tags": ["shell", None, " "]}).draft.tags == ("shell",)

"""Recording, reading, changing and deleting memories through the public API."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import InvalidInputError, LimitExceededError, MemoryNotFoundError, ReasoningBank, Source, Verdict
from tests.conftest import Clock

QUOTE = {"title": "Quote paths", "content": "Put paths in quotes: names may hold blanks", "outcome": "failure"}


def record(bank: ReasoningBank, **changes: Any) -> Any:
    return bank.record(**(QUOTE | changes))


def test_a_recorded_memory_reads_back_as_it_was_given(bank: ReasoningBank, clock: Clock) -> None:
    recorded = record(
        bank,
        description="Shell commands break at blanks",
        applies_when="a path comes from outside; not for fixed names",
        tags=["shell", "files"],
        metadata={"domain": "shell", "nested": {"n": [1, 2.5, None, True]}},
        source=Source(by="ada", session="s-1"),
    )

    memory = bank.get(recorded.memory.id)
    assert recorded.created
    assert memory == recorded.memory
    assert (memory.title, memory.content, memory.outcome) == ("Quote paths", QUOTE["content"], Verdict.FAILURE)
    assert memory.tags == ("shell", "files")
    assert memory.metadata == {"domain": "shell", "nested": {"n": [1, 2.5, None, True]}}
    assert memory.source == Source(by="ada", session="s-1")
    assert memory.created_at == memory.updated_at == clock.now
    assert (memory.usage_count, memory.last_used) == (0, None)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 0.8),
        ({"confidence": 0.95}, 0.95),
        ({"confidence": 0.5}, 0.5),
        ({"confidence": 0.0}, 0.0),
        ({"source": {"how": "distilled"}}, 0.5),
        ({"source": {"how": "distilled"}, "outcome": "success"}, 0.6),
        ({"source": {"how": "imported"}}, 0.6),
    ],
)
def test_a_memory_starts_from_the_confidence_stated_or_that_of_its_source(
    bank: ReasoningBank, options: dict[str, Any], expected: float
) -> None:
    assert record(bank, **options).memory.initial_confidence == expected


@pytest.mark.parametrize(
    "again",
    [
        {},
        {"title": "Quote\t paths"},
        {"content": " Put paths in quotes:\n names may hold blanks "},
        {"tags": ["other"]},
        {"title": " Quote paths "},
    ],
)
def test_the_same_lesson_is_not_stored_twice(bank: ReasoningBank, again: dict[str, Any]) -> None:
    first = record(bank)
    second = record(bank, **again)

    assert not second.created
    assert second.memory == first.memory
    assert bank.count() == 1


@pytest.mark.parametrize(
    "other", [{"outcome": "success"}, {"content": "Put URLs in quotes"}, {"title": "Quote -paths"}]
)
def test_a_lesson_that_says_something_else_is_stored(bank: ReasoningBank, other: dict[str, Any]) -> None:
    record(bank)

    assert record(bank, **other).created
    assert bank.count() == 2


def test_a_near_duplicate_is_stored_and_reported(bank: ReasoningBank) -> None:
    first = record(bank)
    near = record(bank, content="Put paths in quotes: names may hold blanks, too")
    unlike = record(bank, title="Port", content="If the port is taken, pick another one")
    opposite = record(bank, content="Put paths in quotes: names may hold blanks, also", outcome="success")

    assert near.created
    assert near.possible_duplicate_of == first.memory.id
    assert unlike.possible_duplicate_of is None
    assert opposite.possible_duplicate_of is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"title": ""}, "title is empty"),
        ({"title": " \u200b "}, "title is empty"),
        ({"content": "  \n"}, "content is empty"),
        ({"content": 123}, "content 123"),
        ({"outcome": "maybe"}, "outcome 'maybe' is not one of success, failure"),
        ({"outcome": "partial"}, "outcome 'partial' is not one of success, failure"),
        ({"tags": "go"}, "give a list of tags"),
        ({"confidence": 1.2}, "confidence 1.2"),
        ({"confidence": math.nan}, "confidence nan"),
        ({"metadata": {"score": math.inf}}, "metadata 'score'"),
        ({"metadata": {"path": Path("x")}}, "metadata 'path'"),
        ({"metadata": {1: "x"}}, "metadata key 1"),
        ({"source": {"who": "me"}}, "who"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_the_fields_name(
    bank: ReasoningBank, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        record(bank, **wrong)

    assert bank.count(state=None) == 0


@pytest.mark.parametrize(
    ("field", "limit"), [("title", 200), ("description", 1_000), ("applies_when", 1_000), ("content", 20_000)]
)
def test_each_text_has_a_limit_that_the_error_names(bank: ReasoningBank, field: str, limit: int) -> None:
    assert record(bank, **{field: "x" * limit}).created

    with pytest.raises(LimitExceededError, match=f"{field} has .* the limit is {limit:,}"):
        record(bank, **{field: "x" * (limit + 1)})


def test_tags_have_limits(bank: ReasoningBank) -> None:
    record(bank, tags=[f"{i:064}" for i in range(64)])

    with pytest.raises(LimitExceededError, match="65 tags"):
        record(bank, tags=[str(i) for i in range(65)])
    with pytest.raises(LimitExceededError, match="tag has 65"):
        record(bank, tags=["x" * 65])


def test_lone_surrogates_and_nuls_become_replacement_characters(bank: ReasoningBank) -> None:
    memory = record(bank, title="odd \udc81", content="x\x00y\ud83d", metadata={"k\ud800": "\udfff"}).memory

    assert (memory.title, memory.content) == ("odd \ufffd", "x\ufffdy\ufffd")
    assert bank.get(memory.id).metadata == {"k\ufffd": "\ufffd"}


def test_code_reads_back_unchanged_and_can_be_used_in_the_prompt(bank: ReasoningBank) -> None:
    line = "const x = { a: `${VAR}`, b: <T>(y) => y < 3 && '\\\\n' }; // 😀 {{braces}} <b>&amp;</b>\n"
    code = "Run this:\n```js\n" + line * 12 + "```\n"
    assert len(code) > 900

    memory = record(bank, title="Run the script", content=code).memory

    assert bank.get(memory.id).content == code
    assert code.strip() in bank.recall("run the script", max_tokens=2_000).text


def test_texts_are_kept_in_nfc(bank: ReasoningBank) -> None:
    memory = record(bank, title="nai\u0308ve", tags=["cafe\u0301"]).memory

    assert (memory.title, memory.tags) == ("na\u00efve", ("caf\u00e9",))
    assert bank.list(tags=["cafe\u0301"]).memories == (memory,)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_pages_follow_each_other_by_key_and_miss_nothing(bank: ReasoningBank) -> None:
    titles = [f"lesson {i}" for i in range(25)]
    for title in titles:
        record(bank, title=title)
    bank.delete(bank.list(limit=1).memories[0].id)

    seen, after = [], None
    while True:
        page = bank.list(limit=10, after=after)
        seen += [memory.title for memory in page.memories]
        after = page.next
        if after is None:
            break

    assert seen == titles[1:]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"tags": ["shell"]}, ["Quote paths", "Globs"]),
        ({"outcome": "success"}, ["Globs"]),
        ({"text": "BLANKS"}, ["Quote paths"]),
        ({"text": "50%_"}, []),
        ({"where": {"domain": "net"}}, ["Port"]),
        ({"where": {"n": 1}}, ["Globs"]),
        ({"where": {"list": [1]}}, ["Port"]),
        ({"where": {"none": None}}, ["Port"]),
        ({"tags": ["shell"], "outcome": "failure"}, ["Quote paths"]),
        ({"tags": ["absent"]}, []),
        ({"state": "archived"}, []),
        ({"state": None}, ["Quote paths", "Globs", "Port"]),
    ],
)
def test_list_and_count_take_the_same_filters(
    bank: ReasoningBank, filters: dict[str, Any], expected: list[str]
) -> None:
    record(bank, tags=["shell"])
    record(
        bank, title="Globs", content="Check what it expands to", tags=["shell"], outcome="success", metadata={"n": 1}
    )
    record(bank, title="Port", content="Pick another", metadata={"domain": "net", "list": [1], "none": None})

    assert [memory.title for memory in bank.list(**filters).memories] == expected
    assert bank.count(**filters) == len(expected)


def test_a_truth_value_is_no_number_and_where_that_fits_nothing_it_is_said(bank: ReasoningBank) -> None:
    record(bank, metadata={"n": 1})

    with pytest.raises(InvalidInputError, match="'n' is a number wherever it is, and a truth value was asked for"):
        bank.count(where={"n": True})
    assert bank.list(where={"n": True}).memories == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": 1_001},
        {"limit": True},
        {"limit": "5"},
        {"state": "x"},
        {"tags": "shell"},
        {"after": 3},
        {"after": "page 2"},
        {"outcome": "x"},
        {"where": [1]},
    ],
)
def test_filters_that_make_no_sense_are_refused(bank: ReasoningBank, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        bank.list(**wrong)


def test_an_unknown_filter_is_never_dropped_in_silence(bank: ReasoningBank) -> None:
    with pytest.raises(InvalidInputError, match="unknown name 'user_id'"):
        bank.search("x", user_id="u")  # type: ignore[call-arg]


# -- changing ----------------------------------------------------------------------------------------------------------


def test_an_update_changes_what_is_named_and_nothing_else(bank: ReasoningBank, clock: Clock) -> None:
    before = record(bank, tags=["shell"], metadata={"a": 1}).memory
    clock.move(hours=1)
    after = bank.update(before.id, tags=["files"], metadata={"b": 2})

    assert after == bank.get(before.id)
    unchanged = {name: getattr(before, name) for name in ("tags", "metadata", "updated_at")}
    assert replace(after, **unchanged) == before
    assert after.updated_at == clock.now


@pytest.mark.parametrize("field", ["title", "content", "description", "applies_when"])
def test_evidence_starts_anew_when_a_memory_says_something_else(bank: ReasoningBank, field: str) -> None:
    memory = record(bank).memory
    for i in range(5):
        bank.vote(memory.id, True, ref=f"r{i}")
    assert bank.get(memory.id).confidence > 0.85

    after = bank.update(memory.id, **{field: "something else altogether"})

    assert after.confidence == pytest.approx(0.8, abs=1e-3)
    assert bank.upkeep.doctor(dry_run=True) == []


def test_evidence_stays_when_only_tags_change(bank: ReasoningBank) -> None:
    memory = record(bank).memory
    voted = bank.vote(memory.id, True, ref="r").memory

    assert bank.update(memory.id, tags=["shell"]).confidence == voted.confidence


def test_an_updated_memory_is_found_by_its_new_words_and_not_by_the_old(bank: ReasoningBank) -> None:
    memory = record(bank).memory
    bank.update(memory.id, title="Ports", content="Take a free port when the wanted one is busy")

    assert bank.search("which port is free and not busy").memories[0].id == memory.id
    assert bank.search("quotes around blanks").hits == ()


def test_an_update_with_an_unknown_field_names_the_nearest(bank: ReasoningBank) -> None:
    memory = record(bank).memory

    with pytest.raises(InvalidInputError, match="did you mean 'content'"):
        bank.update(memory.id, contents="x")


def test_deleting_says_whether_there_was_one(bank: ReasoningBank) -> None:
    memory = record(bank).memory

    assert bank.delete(memory.id)
    assert not bank.delete(memory.id)
    assert not bank.delete("3b1f0c9e-7d42-4a6b-9e15-0c8f2ad6b713")
    assert bank.search("quote paths").hits == ()
    with pytest.raises(InvalidInputError):
        bank.delete(" ")


def test_bulk_deletion_answers_for_each_id(bank: ReasoningBank) -> None:
    memory = record(bank).memory

    assert bank.upkeep.delete_many([memory.id, "other", memory.id]) == {memory.id: True, "other": False}


@pytest.mark.parametrize("call", ["get", "update", "vote"])
def test_an_id_that_is_not_there_is_not_found(bank: ReasoningBank, call: str) -> None:
    record(bank)
    verdict = [True] if call == "vote" else []

    with pytest.raises(MemoryNotFoundError, match="no memory 'nope' in this project"):
        getattr(bank, call)("nope", *verdict)


def test_a_memory_recorded_again_under_an_old_id_starts_without_the_old_ones_evidence(bank: ReasoningBank) -> None:
    bank.record_many([QUOTE], ids=["x"])
    bank.vote("x", False, ref="r")
    bank.delete("x")
    bank.record_many([QUOTE], ids=["x"])
    bank.upkeep.rebuild()

    assert bank.get("x").confidence == pytest.approx(0.8, abs=1e-3)

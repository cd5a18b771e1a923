"""Filters mean the same in every call, and never leave a result empty without a word."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import InvalidInputError, ReasoningBank
from tests.conftest import Clock, OpenBank


@pytest.fixture
def bank(open_bank: OpenBank) -> ReasoningBank:
    """Three lessons about one thing, told apart by all that filters know."""
    bank = open_bank()
    for n, (tags, source, occurred) in enumerate(
        [(["shell"], "ada", "2026-01-01"), (["shell", "paths"], "run-7", "2026-02-01"), (["sql"], "ada", None)]
    ):
        bank.record(
            f"Quote paths {n}",
            f"Put path number {n} in quotes.",
            outcome="success" if n else "failure",
            tags=tags,
            source={"by": source},
            metadata={"priority": n, "team": "abc"[n]},
            occurred_at=occurred,
        )
    return bank


def titles(bank: ReasoningBank, call: str, filters: dict[str, Any]) -> list[str]:
    if call == "list":
        return [memory.title[-1] for memory in bank.list(**filters).memories]
    if call == "count":
        return ["?"] * bank.count(**filters)
    if call == "export":
        bank.exchange.export_to(target := io.StringIO(), **filters)
        return [json.loads(line)["title"][-1] for line in target.getvalue().splitlines()]
    found: Any = bank.search("quote paths", **filters) if call == "search" else bank.recall("quote paths", **filters)
    return sorted(memory.title[-1] for memory in found.memories)


CALLS = ("search", "recall", "list", "count", "export")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"where": {"priority": {"gte": 1}}}, "12"),
        ({"where": {"priority": {"gt": 0, "lt": 2}}}, "1"),
        ({"where": {"team": {"in": ["a", "c", "never"]}}}, "02"),
        ({"where": {"team": "b"}}, "1"),
        ({"tags": ["shell", "paths"]}, "1"),
        ({"tags": {"any": ["paths", "sql"]}}, "12"),
        ({"tags": {"all": ["shell"], "none": ["paths"]}}, "0"),
        ({"outcome": "failure"}, "0"),
        ({"source": ["run-7", "never"]}, "1"),
        ({"since": "2026-02-01"}, "12"),
        ({"until": "2026-02-01"}, "01"),
        ({"since": "2026-01-02", "until": "2026-02-28"}, "1"),
        ({"since": "7d"}, "2"),
        ({}, "012"),
    ],
)
def test_every_call_understands_the_same_filters(
    bank: ReasoningBank, call: str, filters: dict[str, Any], expected: str
) -> None:
    found = titles(bank, call, filters)

    assert len(found) == len(expected)
    assert call == "count" or found == list(expected)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "filters",
    [
        {"where": {"priority": {"gtee": 1}}},
        {"where": {"$or": []}},
        {"where": {"priority": {"gte": None}}},
        {"tags": [None]},
        {"tags": "shell"},
        {"tags": {"some": ["shell"]}},
        {"tag": ["shell"]},
        {"outcome": "perhaps"},
        {"source": 5},
        {"since": "soon"},
        {"since": "2026-02-01", "until": "2026-01-01"},
    ],
)
def test_what_cannot_be_asked_is_an_error_in_every_call(
    bank: ReasoningBank, call: str, filters: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError):
        titles(bank, call, filters)


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"where": {"prioritty": 1}}, "no memory has metadata 'prioritty' (did you mean 'priority'?)"),
        ({"where": {"priority": "1"}}, "metadata 'priority' is a number wherever it is, and a text was asked for"),
        ({"tags": ["shel"]}, "no memory has the tag 'shel' (did you mean 'shell'?)"),
        ({"tags": {"any": ["x", "y"]}}, "no memory has the tag 'x'; no memory has the tag 'y'"),
        ({"source": "bob"}, "no memory comes from 'bob'"),
        ({"where": {"k": 2**70}}, "no memory has metadata 'k'"),
        ({"where": {"priority": 2}, "tags": ["shell"]}, "filters"),
    ],
)
def test_what_no_memory_has_is_named(bank: ReasoningBank, filters: dict[str, Any], named: str) -> None:
    assert bank.search("quote paths", **filters).withheld == {named: 3}
    assert bank.recall("quote paths", **filters).withheld == {named: 3}
    assert bank.list(**filters).withheld == {named: 3}


@pytest.mark.parametrize("where", [{"prioritty": 1}, {"priority": "1"}])
def test_a_count_and_an_export_say_what_no_memory_has(bank: ReasoningBank, tmp_path: Path, where: Any) -> None:
    with pytest.raises(InvalidInputError, match="priorit"):
        bank.count(where=where)
    with pytest.raises(InvalidInputError, match="priorit"):
        bank.exchange.export_to(tmp_path / "out.jsonl", where=where)

    assert not list(tmp_path.glob("out*"))


def test_an_export_of_nothing_that_could_have_been_there_is_empty(bank: ReasoningBank) -> None:
    assert titles(bank, "export", {"where": {"priority": 2}, "tags": ["shell"]}) == []


def test_a_bank_without_memories_leaves_nothing_out(open_bank: OpenBank) -> None:
    empty = open_bank(project="empty")
    assert empty.search("quote paths", where={"k": 1}).withheld == {}

    empty.delete(empty.record("Wait", "Wait.", outcome="success").memory.id)
    assert empty.search("quote paths", where={"k": 1}).withheld == empty.list(where={"k": 1}).withheld == {}
    assert empty.count(where={"k": 1}) == 0


def test_an_object_under_a_key_is_of_a_kind_that_cannot_be_asked_for(bank: ReasoningBank) -> None:
    bank.record("Nest", "Nest it.", outcome="success", metadata={"nested": {"a": 1}})

    (said,) = bank.list(where={"nested": "a"}).withheld
    assert said == "metadata 'nested' is a object wherever it is, and a text was asked for"


@pytest.mark.parametrize("call", ["search", "list", "export"])
def test_what_happened_last_comes_first_where_that_is_asked_for(bank: ReasoningBank, clock: Clock, call: str) -> None:
    clock.move(days=1)
    bank.record("Quote paths 3", "Put every path in quotes.", outcome="success", occurred_at="2026-01-15")
    if call == "search":
        found = [memory.title[-1] for memory in bank.search("quote paths", newest_first=True).memories]
    else:
        found = titles(bank, call, {"newest_first": True})

    assert found == ["2", "1", "3", "0"]


def test_recency_counts_from_when_it_happened(bank: ReasoningBank) -> None:
    hits = bank.search("quote paths", policy="four_factor").hits
    recency = {hit.memory.title[-1]: hit.why["recency"] for hit in hits}

    assert recency["0"] < recency["1"] < recency["2"]


def test_a_partial_export_carries_nothing_that_belongs_to_the_whole_bank(bank: ReasoningBank) -> None:
    bank.exchange.export_to(whole := io.StringIO())
    bank.exchange.export_to(part := io.StringIO(), outcome="failure")

    assert "parameters" in json.loads(whole.getvalue().splitlines()[0])
    assert "parameters" not in json.loads(part.getvalue().splitlines()[0])


def test_a_setting_of_the_floor_holds(open_bank: OpenBank) -> None:
    strict = open_bank(settings={"floor": 0.9})
    strict.record("Quote paths", "Put paths in quotes.", outcome="success")

    (hit,) = strict.search("quote paths").hits
    assert hit.provisional

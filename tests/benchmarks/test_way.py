from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import way_counted
from benchmarks.way import table, ways
from benchmarks.way_counted import Way, statements_sent, way_of
from reasoningbank import Draft, ReasoningBank, Verdict


@pytest.fixture
def counts_this_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the functions of this file stand for those of the package."""
    monkeypatch.setattr(way_counted, "OWN", __file__)


def inner() -> int:
    return abs(-1)


def outer() -> int:
    return inner() + inner()


def two() -> Iterator[int]:
    yield 1
    yield 2


def doubled() -> list[int]:
    return [2 * number for number in two()]


@pytest.mark.usefixtures("counts_this_file")
def test_functions_calls_and_depth_are_counted() -> None:
    assert way_of(outer, []) == Way(files=1, functions=2, calls=3, depth=2, statements=0, validations=0)


def test_what_is_not_the_package_s_is_not_counted() -> None:
    assert way_of(outer, []) == Way(files=0, functions=0, calls=0, depth=0, statements=0, validations=0)


@pytest.mark.usefixtures("counts_this_file")
def test_a_generator_that_goes_on_and_a_comprehension_are_no_calls() -> None:
    assert way_of(doubled, []) == Way(files=1, functions=2, calls=2, depth=2, statements=0, validations=0)


def test_a_failing_call_ends_the_counting() -> None:
    with pytest.raises(StopIteration):
        way_of(iter(()).__next__, [])

    assert sys.getprofile() is None


def test_a_validation_is_a_call_of_pydantic_s_validator() -> None:
    draft = Draft(title="t", content="c", outcome=Verdict.SUCCESS)

    assert way_of(lambda: Draft(title="t", content="c", outcome=Verdict.SUCCESS), []).validations == 1
    assert way_of(draft.model_copy, []).validations == 0


def test_statements_are_those_of_the_connections_opened_inside(tmp_path: Path) -> None:
    with ReasoningBank(tmp_path, tenant="t", project="p", embedder="hash") as before:
        before.record("Quote paths", "Names may hold blanks.", outcome="failure")
        with statements_sent() as sent:
            assert way_of(before.count, sent).statements == 0
            with ReasoningBank(tmp_path, tenant="t", project="p", embedder="hash") as bank:
                bank.count()
                counted = way_of(bank.count, sent).statements

                assert counted > 2
                assert sent[-counted].startswith("BEGIN")
                assert sent[-1] == "ROLLBACK"


def test_the_way_of_each_call_is_counted_and_shown(tmp_path: Path) -> None:
    counted = ways(tmp_path)

    searches = {"search, again", "search, new words", "recall, again", "recall, new words"}
    assert searches | {"report on three", "vote", "record", "get", "list"} == counted.keys()
    for way in counted.values():
        assert way.calls >= way.functions >= way.files > 0
        assert way.statements > 0
        assert way.depth > 1
    assert counted["search, again"].calls < counted["search, new words"].calls
    with ReasoningBank(tmp_path, tenant="way", project="way", embedder="hash") as bank:
        assert len(bank.runs.get("run 1").memories) == 3
    console = Console(width=200)
    with console.capture() as shown:
        console.print(table(counted))
    assert "report on three" in shown.get()

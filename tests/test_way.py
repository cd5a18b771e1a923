"""How long the way of each call through the package may be, counted and not timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.way import ways
from benchmarks.way_counted import Way, statements_sent, way_of
from reasoningbank import ReasoningBank


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Way]:
    return ways(tmp_path_factory.mktemp("way"))


@pytest.mark.parametrize(("call", "files", "functions"), [("recall, again", 31, 200), ("search, again", 25, 120)])
def test_a_call_leads_through_few_files_and_functions(
    counted: dict[str, Way], call: str, files: int, functions: int
) -> None:
    assert counted[call].files <= files
    assert counted[call].functions <= functions


@pytest.mark.parametrize(
    ("call", "statements"),
    [
        ("get", 4),
        ("search, again", 5),
        ("search, new words", 12),
        ("recall, again", 21),
        ("recall, new words", 21),
        ("report on three", 15),
        ("vote", 13),
        ("record", 15),
    ],
)
def test_a_call_sends_few_statements(counted: dict[str, Way], call: str, statements: int) -> None:
    assert counted[call].statements <= statements


@pytest.mark.parametrize("call", ["search, again", "search, new words"])
def test_a_search_builds_no_pydantic_object(counted: dict[str, Way], call: str) -> None:
    assert counted[call].validations == 0


def test_many_records_take_two_statements_each_at_most(tmp_path: Path) -> None:
    drafts = [{"title": f"T{n}", "content": f"Do thing {n}", "outcome": "success"} for n in range(50)]
    with statements_sent() as sent, ReasoningBank(tmp_path, tenant="t", project="p", embedder="hash") as bank:
        bank.record("Quote paths", "Names may hold blanks.", outcome="failure")

        assert way_of(lambda: bank.record_many(drafts), sent).statements <= 2 * len(drafts)

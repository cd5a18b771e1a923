"""What was read once is kept: no handle, no process and no caller may ever see that."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import MemoryNotFoundError, ReasoningBank
from tests.processes import in_child


def opened(root: Path) -> ReasoningBank:
    return ReasoningBank(root, tenant="t", project="p", embedder="hash")


def test_what_another_handle_changes_is_seen_by_the_next_call(tmp_path: Path) -> None:
    with opened(tmp_path) as here, opened(tmp_path) as there:
        memory = here.record("Run migrations first", "Before the tests.", outcome="success").memory
        assert here.get(memory.id) == memory

        there.update(memory.id, tags=["db"])
        assert here.get(memory.id).tags == ("db",)

        there.vote(memory.id, False)
        assert here.get(memory.id).confidence < memory.confidence
        assert here.get(memory.id) == there.get(memory.id)

        there.delete(memory.id)
        with pytest.raises(MemoryNotFoundError):
            here.get(memory.id)
        assert not here.search("run migrations").hits


def test_what_a_caller_does_to_the_metadata_stays_theirs(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        memory = bank.record("Run migrations first", "Before.", outcome="success", metadata={"seen": [1]}).memory

        for shown in (bank.get(memory.id), bank.search("run migrations").memories[0]):
            shown.metadata["seen"].append(2)  # type: ignore[union-attr]

        assert bank.get(memory.id).metadata == {"seen": [1]}


def test_a_rebuilt_text_index_is_seen_by_every_handle(tmp_path: Path) -> None:
    with opened(tmp_path) as here, opened(tmp_path) as there:
        here.record("Run migrations first", "Before the tests.", outcome="success")
        expected = there.search("run migrations")
        with closing(sqlite3.connect(next(tmp_path.rglob("bank.sqlite3")))) as damaged, damaged:
            damaged.execute("DELETE FROM terms")
            damaged.execute("INSERT INTO terms(rowid, text) VALUES (9, 'migrat')")
            damaged.execute("INSERT INTO changes(op, memory) VALUES ('put', 1), ('put', 9)")
        assert [hit.keyword for hit in there.search("run migrations").hits] == [0.0]

        here.upkeep.rebuild()

        assert there.search("run migrations") == here.search("run migrations") == expected


def test_filters_find_by_keyword_what_many_better_matches_are_before(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        drafts = [{"title": "migrations " * 3, "content": f"migrations {n}", "outcome": "failure"} for n in range(200)]
        bank.record_many([*drafts, {"title": "On migrations", "content": "Wait for them.", "outcome": "success"}])

        assert [hit.memory.title for hit in bank.search("migrations", outcome="success").hits] == ["On migrations"]
        assert bank.search("migrations", outcome="success").hits[0].keyword > 0.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_what_another_process_writes_is_searched_at_once(tmp_path: Path) -> None:
    queries = ("run migrations", "quote paths", "seed 3", "lesson of the other process")
    options: tuple[dict[str, Any], ...] = ({}, {"outcome": "failure"}, {"tags": ["db"]}, {"where": {"n": 2}})

    def found(bank: ReasoningBank) -> list[Any]:
        return [bank.search(query, **option) for query in queries for option in options]

    with opened(tmp_path) as here:
        drafts = [
            {"title": f"Run migrations {n}", "content": f"Seed {n}.", "outcome": "success", "metadata": {"n": n % 3}}
            for n in range(12)
        ]
        ids = [done.memory.id for done in here.record_many(drafts)]
        before = found(here)

        def write() -> None:
            with opened(tmp_path) as there:
                there.update(ids[0], title="Quote paths", content="Always.", tags=["db"])
                there.update(ids[1], outcome="failure")
                there.upkeep.archive(ids[2])
                there.delete(ids[3])
                there.vote(ids[4], False)
                for n in range(80):
                    there.record(f"Lesson {n} of the other process", "Quote.", outcome="failure", tags=["db"])

        assert in_child(write) == 0
        with opened(tmp_path) as fresh:
            assert found(here) == found(fresh) != before

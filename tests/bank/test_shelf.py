"""What was read once is kept: nobody may ever see that."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reasoningbank import MemoryNotFoundError, ReasoningBank


def opened(root: Path) -> ReasoningBank:
    return ReasoningBank(root, tenant="t", project="p", embedder="hash")


def test_what_another_handle_changes_is_seen_by_the_next_call(tmp_path: Path) -> None:
    with opened(tmp_path) as here, opened(tmp_path) as there:
        memory = here.record("Run migrations first", "Before the tests.", outcome="success").memory
        assert here.get(memory.id) == memory

        there.update(memory.id, tags=["db"])
        assert here.get(memory.id).tags == ("db",)

        there.feedback(memory.id, False)
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

        here.rebuild()

        assert there.search("run migrations") == here.search("run migrations") == expected


def test_filters_find_by_keyword_what_many_better_matches_are_before(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        drafts = [{"title": "migrations " * 3, "content": f"migrations {n}", "outcome": "failure"} for n in range(200)]
        bank.record_many([*drafts, {"title": "On migrations", "content": "Wait for them.", "outcome": "success"}])

        assert [hit.memory.title for hit in bank.search("migrations", outcome="success").hits] == ["On migrations"]
        assert bank.search("migrations", outcome="success").hits[0].keyword > 0.0

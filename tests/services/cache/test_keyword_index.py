"""Kept postings give what FTS5 gives, whatever was written meanwhile and by whom."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from reasoningbank.services.cache.keyword_index import FOLLOWED, KeywordIndex
from reasoningbank.storage.postings import postings
from reasoningbank.storage.text_index import VIEWS, rarest

from reasoningbank.search.bm25 import Counts, Postings
from reasoningbank.search.terms import match_expression
from reasoningbank.storage import records
from reasoningbank.storage.database import apply_migrations
from reasoningbank.storage.records import Indexed
from reasoningbank.storage.stored_vectors import MEMORIES
from tests.processes import in_child

READ = "reasoningbank.services.cache.keyword_index.postings"
WORDS = ("file", "run", "rare", "fail-fast", "#417", "c++", "é", "検索", "nowhere")
TEXTS = st.lists(st.sampled_from(WORDS[:-1]), max_size=6).map(" ".join)
WANTED = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True)


def connect(path: Path) -> sqlite3.Connection:
    made = sqlite3.connect(path, isolation_level=None)
    for view in VIEWS:
        made.execute(view)
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = sqlite3.connect(tmp_path / "bank.sqlite3", isolation_level=None)
    made.execute("PRAGMA journal_mode = WAL")
    apply_migrations(made)
    made.close()
    return tmp_path / "bank.sqlite3"


def put(connection: sqlite3.Connection, n: int, text: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    records.index(connection, n, Indexed((), 1, text))
    connection.execute("COMMIT")


def remove(connection: sqlite3.Connection, n: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    records.delete(connection, n)
    connection.execute("COMMIT")


def of_fts5(connection: sqlite3.Connection, wanted: list[str]) -> list[tuple[int, float]]:
    asked = rarest(connection, wanted, {}, MEMORIES.newest(connection))
    if not asked:
        return []
    return connection.execute(
        "SELECT rowid, -bm25(terms) FROM terms WHERE terms MATCH ? ORDER BY rowid", (match_expression(asked),)
    ).fetchall()


def found(index: KeywordIndex, connection: sqlite3.Connection, wanted: list[str]) -> list[tuple[int, float]]:
    rows, scores = index.matches(connection, wanted)
    return list(zip(rows.tolist(), scores.tolist(), strict=True))


class AnyOrder(RuleBasedStateMachine):
    """Writes of any kind between searches through a large and a small index, one of them in an older transaction."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "bank.sqlite3"
        self.writer = sqlite3.connect(path, isolation_level=None)
        self.writer.execute("PRAGMA journal_mode = WAL")
        self.writer.execute("PRAGMA synchronous = OFF")
        apply_migrations(self.writer)
        self.here, self.older = connect(path), connect(path)
        self.large, self.small = KeywordIndex(), KeywordIndex(capacity=5)
        self.texts: dict[int, str] = {}
        self.next = 1

    @initialize(texts=st.lists(TEXTS, max_size=8))
    def begin(self, texts: list[str]) -> None:
        for text in texts:
            self.record(text)

    @rule(text=TEXTS)
    def record(self, text: str) -> None:
        self.texts[self.next] = text
        put(self.writer, self.next, text)
        self.next += 1

    @rule(data=st.data(), text=TEXTS)
    def rewrite(self, data: st.DataObject, text: str) -> None:
        if self.texts:
            n = data.draw(st.sampled_from(sorted(self.texts)))
            self.writer.execute("BEGIN IMMEDIATE")
            records.remove_from_index(self.writer, n)
            records.index(self.writer, n, Indexed((("lesson", b"1234"),), 1, text))
            self.writer.execute("COMMIT")

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if self.texts:
            n = data.draw(st.sampled_from(sorted(self.texts)))
            del self.texts[n]
            remove(self.writer, n)

    @rule(n=st.integers(1, 9))
    def vote(self, n: int) -> None:
        self.writer.execute("INSERT INTO changes(op, memory) VALUES ('evidence', ?)", (n,))

    @rule()
    def record_many(self) -> None:
        for _ in range(FOLLOWED + 1):
            self.record("file run")

    @rule()
    def prune_the_feed(self) -> None:
        self.writer.execute("DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)")

    @rule()
    def begin_a_transaction(self) -> None:
        if self.older.in_transaction:
            self.older.execute("ROLLBACK")
        self.older.execute("BEGIN")
        MEMORIES.newest(self.older)

    @rule(wanted=WANTED)
    def search(self, wanted: list[str]) -> None:
        for connection in (self.here, self.older, self.here):
            expected = of_fts5(connection, wanted)
            for index in (self.large, self.small):
                assert found(index, connection, wanted) == expected

    @rule(wanted=WANTED)
    def search_with_one(self, wanted: list[str]) -> None:
        assert found(self.large, self.here, wanted) == of_fts5(self.here, wanted)

    def teardown(self) -> None:
        for connection in (self.writer, self.here, self.older):
            connection.close()
        self.folder.cleanup()


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


def test_postings_are_read_once_while_nothing_changes(path: Path) -> None:
    connection, index = connect(path), KeywordIndex()
    put(connection, 1, "file run")
    first = found(index, connection, ["file", "run"])
    statements: list[str] = []
    connection.set_trace_callback(statements.append)

    assert found(index, connection, ["file", "run"]) == first
    assert statements == ["SELECT seq FROM sqlite_sequence WHERE name = 'changes'"]
    connection.close()


def test_a_write_has_no_postings_read_again(path: Path) -> None:
    connection, index = connect(path), KeywordIndex()
    for n in (1, 2, 3):
        put(connection, n, "file run")
    found(index, connection, ["file"])
    put(connection, 4, "run file file")
    statements: list[str] = []
    connection.set_trace_callback(statements.append)

    assert [n for n, _ in found(index, connection, ["file"])] == [1, 2, 3, 4]
    assert not any("occurrences" in statement for statement in statements)
    connection.close()


def test_no_more_postings_are_kept_than_there_is_room_for(path: Path) -> None:
    connection, index = connect(path), KeywordIndex(capacity=4)
    for n in range(1, 4):
        put(connection, n, "file run rare")
    for wanted in (["file"], ["run"], ["rare"], ["file", "run", "rare"]):
        assert found(index, connection, wanted) == of_fts5(connection, wanted)
    assert sum(len(kept.postings) for kept in index._kept.values()) == index._size <= 4
    connection.close()


def test_postings_that_another_thread_has_outrun_are_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection, other, index = connect(path), connect(path), KeywordIndex()
    put(connection, 1, "file")
    found(index, connection, ["rare"])

    def while_others_write(
        reading: sqlite3.Connection, terms: Sequence[str], lengths: Counts | None
    ) -> dict[str, Postings]:
        result = postings(reading, terms, lengths)
        monkeypatch.setattr(READ, postings)
        for n in range(2, FOLLOWED + 4):
            put(other, n, "file")
        found(index, other, ["rare"])
        return result

    monkeypatch.setattr(READ, while_others_write)
    connection.execute("BEGIN")
    assert [n for n, _ in found(index, connection, ["file"])] == [1]
    connection.execute("ROLLBACK")

    assert found(index, connection, ["file"]) == of_fts5(connection, ["file"])
    connection.close()
    other.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_starts_empty_and_finds_the_same(path: Path) -> None:
    connection, index = connect(path), KeywordIndex()
    put(connection, 1, "file run")
    expected = found(index, connection, ["file"])
    connection.close()

    def search() -> None:
        assert not index._kept
        fresh = connect(path)
        assert found(index, fresh, ["file"]) == expected

    with index._lock:
        assert in_child(search) == 0
    assert index._kept
    index.drop()
    assert not index._kept


@pytest.mark.parametrize("at_once", [True, False])
def test_postings_from_before_more_changes_than_are_followed_are_read_again(path: Path, at_once: bool) -> None:
    connection, index = connect(path), KeywordIndex()
    put(connection, 1, "file run")
    found(index, connection, ["file"])
    for n in range(2, FOLLOWED + 4):
        put(connection, n, "file")
        if not at_once:
            found(index, connection, ["run"])
    statements: list[str] = []
    connection.set_trace_callback(statements.append)

    assert len(found(index, connection, ["file"])) == FOLLOWED + 3
    assert any("occurrences" in statement for statement in statements)
    connection.close()


def test_an_older_transaction_reads_past_what_is_known_of_lengths(path: Path) -> None:
    connection, older, index = connect(path), connect(path), KeywordIndex()
    for n in (1, 2, 3):
        put(connection, n, "file run rare")
    older.execute("BEGIN")
    newest = MEMORIES.newest(older)
    records.remove_from_index(connection, 1)
    put(connection, 1, "file file file file")
    for wanted in (["file", "run"], ["rare"], ["file"]):
        found(index, connection, wanted)
    assert MEMORIES.newest(connection) > newest

    for wanted in (["file"], ["run", "rare"]):
        assert found(index, older, wanted) == of_fts5(older, wanted)
        assert found(index, connection, wanted) == of_fts5(connection, wanted)
    connection.close()
    older.close()

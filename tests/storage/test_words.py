from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from reasoningbank.search.bm25 import Postings
from reasoningbank.storage.project import nothing
from reasoningbank.storage.transaction import SqliteWriting
from reasoningbank.storage.words import Lengths, indexed


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[SqliteWriting]:
    with nothing(tmp_path) as writing:
        writing.insert("terms", ("text",), [("file rare",), ("file run",), ("file run",)])
        yield writing


def test_it_is_known_in_how_many_memories_a_term_is(writing: SqliteWriting) -> None:
    assert writing.words.sizes(["file", "run", "rare", "nowhere"]) == {"file": 3, "run": 2, "rare": 1, "nowhere": 0}

    writing.execute("INSERT INTO terms(text) VALUES ('nowhere')")
    assert writing.words.sizes(["nowhere"]) == {"nowhere": 1}


# -- postings --------------------------------------------------------------------------------------------------------


def listed(found: Postings) -> list[tuple[int, int, int]]:
    """Return (row, count, length) of each entry."""
    return list(zip(found.rows.tolist(), found.counts.tolist(), found.lengths.tolist(), strict=True))


def test_postings_say_where_a_term_is_how_often_and_how_long_that_memory_is(writing: SqliteWriting) -> None:
    writing.execute("INSERT INTO terms(rowid, text) VALUES (1000000, ?)", ("rare " * 300,))
    writing.execute("INSERT INTO terms(rowid, text) VALUES (1000001, ?)", ("rare " + "file " * 20_000,))

    found = writing.words.postings(["rare", "nowhere"], writing.words.lengths())

    assert list(found) == ["rare", "nowhere"]
    assert listed(found["rare"]) == [(1, 1, 2), (1_000_000, 300, 300), (1_000_001, 1, 20_001)]
    assert listed(found["nowhere"]) == []


@pytest.mark.parametrize("terms", list(permutations(["file", "run", "rare", "nowhere"])))
def test_terms_that_are_read_together_stay_apart(writing: SqliteWriting, terms: tuple[str, ...]) -> None:
    writing.execute("INSERT INTO terms(rowid, text) VALUES (200, ?)", ("rare " * 300,))
    writing.execute("DELETE FROM terms WHERE rowid = 2")
    known = writing.words.lengths()

    alone = [listed(writing.words.postings([term], known)[term]) for term in terms]

    assert [listed(found) for found in writing.words.postings(terms, known).values()] == alone


def test_of_no_terms_there_are_no_postings(writing: SqliteWriting) -> None:
    assert writing.words.postings([], writing.words.lengths()) == {}


# -- lengths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 127, 128, 16_383, 16_384, 70_000])
def test_a_memory_is_as_long_as_it_has_terms_wherever_it_is(writing: SqliteWriting, length: int) -> None:
    writing.insert("terms", ("rowid", "text"), [(5_000_000_000, "file " * length)])

    found = writing.words.lengths()

    assert (found.rows.tolist(), found.counts.tolist()) == ([1, 2, 3, 5_000_000_000], [2, 2, 2, length])
    assert found.of(np.array([5_000_000_000, 2])).tolist() == [length, 2]


def test_where_nothing_is_indexed_there_are_no_lengths(writing: SqliteWriting) -> None:
    writing.execute("DELETE FROM terms")

    assert len(writing.words.lengths().rows) == 0
    assert writing.words.lengths().of(np.empty(0, dtype=np.int64)).tolist() == []


def test_lengths_follow_what_changed_and_leave_the_old_ones_alone() -> None:
    known = Lengths(np.array([1, 2]), np.array([2, 3], dtype=np.int32))

    after = known.after({2: 0, 5: 4, 3: 1})

    assert (after.rows.tolist(), after.counts.tolist()) == ([1, 2, 3, 5], [2, 0, 1, 4])
    assert known.after({1: 5}).counts.tolist() == [5, 3]
    assert known.counts.tolist() == [2, 3]


# -- the whole index, and single texts -------------------------------------------------------------------------------


def test_the_totals_are_those_of_the_whole_index(writing: SqliteWriting) -> None:
    assert writing.words.totals() == (3, 6)
    writing.execute("DELETE FROM terms WHERE rowid = 1")
    assert writing.words.totals() == (2, 4)
    writing.execute("DELETE FROM terms")
    assert writing.words.totals()[0] == 0


def test_terms_are_told_of_memories_that_are_there_and_none_of_others(writing: SqliteWriting) -> None:
    writing.execute("UPDATE terms SET text = 'run file run' WHERE rowid = 2")
    found = indexed(writing, [2, 9])
    assert (dict(found[2].counts), found[2].length) == ({"run": 2, "file": 1}, 3)
    assert (dict(found[9].counts), found[9].length) == ({}, 0)

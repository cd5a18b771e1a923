from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest

from reasoningbank.search.bm25 import Postings
from reasoningbank.search.terms import TERMS_TABLE
from reasoningbank.storage.postings import FEW, SPARSE, every_length, postings, totals, with_lengths
from reasoningbank.storage.text_index import REMEMBERED, VIEWS, Counted, indexed, rarest


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute(TERMS_TABLE)
    for view in VIEWS:
        connection.execute(view)
    connection.executemany("INSERT INTO terms(text) VALUES (?)", [("file rare",), ("file run",), ("file run",)])
    connection.commit()
    yield connection
    connection.close()


def test_terms_come_the_rarest_first_as_far_as_the_budget_goes(connection: sqlite3.Connection) -> None:
    assert rarest(connection, ["file", "run", "rare", "nowhere"], {}, 3) == ["rare", "run", "file"]
    assert rarest(connection, ["file", "run", "rare"], {}, 3, budget=3) == ["rare", "run"]


def test_a_term_that_is_everywhere_is_asked_for_when_there_is_no_other(connection: sqlite3.Connection) -> None:
    assert rarest(connection, ["file", "nowhere"], {}, 3, budget=1) == ["file"]
    assert rarest(connection, ["nowhere"], {}, 3) == []


def test_what_is_written_later_counts_at_once(connection: sqlite3.Connection) -> None:
    counted: Counted = {}
    assert rarest(connection, ["later"], counted, 3) == []

    connection.execute("INSERT INTO terms(text) VALUES ('later')")
    assert rarest(connection, ["later"], counted, 4) == ["later"]


def test_what_is_remembered_changes_no_answer(connection: sqlite3.Connection) -> None:
    counted: Counted = {}
    newest = 3
    for text in ["file run", "file", "rare rare", "run", "file rare", "run rare", "rare rare run"]:
        for wanted in (["file", "run", "rare"], ["file", "run"], ["file"], ["rare", "nowhere"]):
            for remembered in ({}, counted, counted):
                expected = rarest(connection, wanted, {}, newest, budget=2)
                assert rarest(connection, wanted, remembered, newest, budget=2) == expected
        connection.execute("INSERT INTO terms(text) VALUES (?)", (text,))
        newest += 1


def test_a_term_that_is_known_to_be_common_is_not_counted_again(connection: sqlite3.Connection) -> None:
    statements: list[str] = []
    counted: Counted = {"file": (100, 3)}
    connection.set_trace_callback(statements.append)

    assert rarest(connection, ["file", "rare"], counted, 4, budget=2) == ["rare"]
    assert not any("file" in statement for statement in statements)
    assert counted == {"file": (100, 3), "rare": (1, 4)}


def test_nothing_is_counted_twice_while_nothing_changes(connection: sqlite3.Connection) -> None:
    counted: Counted = {}
    asked = rarest(connection, ["file", "rare", "nowhere"], counted, 3)
    statements: list[str] = []
    connection.set_trace_callback(statements.append)

    assert rarest(connection, ["file", "rare", "nowhere"], counted, 3) == asked
    assert statements == []


def test_what_is_remembered_does_not_grow_for_ever(connection: sqlite3.Connection) -> None:
    counted: Counted = {f"term-{number}": (0, 3) for number in range(REMEMBERED + 1)}
    assert rarest(connection, ["file"], counted, 3) == ["file"]
    assert counted == {"file": (3, 3)}


def listed(found: Postings) -> list[tuple[int, int, int]]:
    """Return (row, count, length) of each entry."""
    return list(zip(found.rows.tolist(), found.counts.tolist(), found.lengths.tolist(), strict=True))


def test_postings_say_where_a_term_is_how_often_and_how_long_that_memory_is(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO terms(rowid, text) VALUES (1000000, ?)", ("rare " * 300,))
    connection.execute("INSERT INTO terms(rowid, text) VALUES (1000001, ?)", ("rare " + "file " * 20_000,))

    found = postings(connection, ["rare", "nowhere"])

    assert list(found) == ["rare", "nowhere"]
    assert listed(found["rare"]) == [(1, 1, 2), (1_000_000, 300, 300), (1_000_001, 1, 20_001)]
    assert listed(found["nowhere"]) == []


@pytest.mark.parametrize("terms", list(permutations(["file", "run", "rare", "nowhere"])))
def test_terms_that_are_read_together_stay_apart(connection: sqlite3.Connection, terms: tuple[str, ...]) -> None:
    connection.execute("INSERT INTO terms(rowid, text) VALUES (200, ?)", ("rare " * 300,))
    connection.execute("DELETE FROM terms WHERE rowid = 2")
    lengths = every_length(connection)

    alone = [listed(postings(connection, [term])[term]) for term in terms]

    assert [listed(found) for found in postings(connection, terms).values()] == alone
    assert [listed(found) for found in postings(connection, terms, lengths).values()] == alone


def test_lengths_are_not_read_at_once_where_few_numbers_are_in_use(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO terms(rowid, text) VALUES (?, 'far off')", (4 * SPARSE + FEW,))
    assert every_length(connection) is None
    connection.execute("DELETE FROM terms")
    assert getattr(every_length(connection), "size", None) == 0


def test_lengths_follow_what_changed_and_leave_the_old_ones_alone() -> None:
    lengths = np.array([0, 2, 3], dtype=np.int32)
    assert with_lengths(lengths, {1: 5}).tolist() == [0, 5, 3]
    assert with_lengths(lengths, {2: 0, 5: 4}).tolist() == [0, 2, 0, 0, 0, 4]
    assert lengths.tolist() == [0, 2, 3]


def test_the_totals_are_those_of_the_whole_index(connection: sqlite3.Connection) -> None:
    assert totals(connection) == (3, 6)
    connection.execute("DELETE FROM terms WHERE rowid = 1")
    connection.commit()
    assert totals(connection) == (2, 4)
    connection.execute("DELETE FROM terms")
    connection.commit()
    assert totals(connection)[0] == 0


def test_terms_are_told_of_memories_that_are_there_and_none_of_others(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE terms SET text = 'run file run' WHERE rowid = 2")
    found = indexed(connection, [2, 9])
    assert (dict(found[2].counts), found[2].length) == ({"run": 2, "file": 1}, 3)
    assert (dict(found[9].counts), found[9].length) == ({}, 0)

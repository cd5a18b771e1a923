from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from reasoningbank.storage.frequencies import VOCABULARY, CommonTerms, rarest
from reasoningbank.terms import TERMS_TABLE


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute(VOCABULARY)
    connection.execute(TERMS_TABLE)
    connection.executemany("INSERT INTO terms(text) VALUES (?)", [("file rare",), ("file run",), ("file run",)])
    yield connection
    connection.close()


def test_terms_come_the_rarest_first_as_far_as_the_budget_goes(connection: sqlite3.Connection) -> None:
    assert rarest(connection, ["file", "run", "rare", "nowhere"], {}, 3) == ["rare", "run", "file"]
    assert rarest(connection, ["file", "run", "rare"], {}, 3, postings=3) == ["rare", "run"]


def test_a_term_that_is_everywhere_is_asked_for_when_there_is_no_other(connection: sqlite3.Connection) -> None:
    assert rarest(connection, ["file", "nowhere"], {}, 3, postings=1) == ["file"]
    assert rarest(connection, ["nowhere"], {}, 3) == []


def test_what_is_written_later_counts_at_once(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO terms(text) VALUES ('later')")
    assert rarest(connection, ["later"], {}, 4) == ["later"]


def test_what_is_known_of_common_terms_changes_no_answer(connection: sqlite3.Connection) -> None:
    common: CommonTerms = {}
    newest = 3
    for text in ["file run", "file", "rare rare", "run", "file rare", "run rare", "rare rare run"]:
        for wanted in (["file", "run", "rare"], ["file", "run"], ["file"], ["rare", "nowhere"]):
            for seen in (newest, newest - 1):
                expected = rarest(connection, wanted, {}, newest, postings=2)
                assert rarest(connection, wanted, common, seen, postings=2) == expected
        connection.execute("INSERT INTO terms(text) VALUES (?)", (text,))
        newest += 1


def test_a_term_that_is_known_to_be_common_is_not_counted_again(connection: sqlite3.Connection) -> None:
    counted: list[str] = []
    common: CommonTerms = {"file": (100, 3)}
    connection.set_trace_callback(counted.append)

    assert rarest(connection, ["file", "rare"], common, 4, postings=2) == ["rare"]
    assert not any("file" in statement for statement in counted)
    assert common == {"file": (100, 3)}

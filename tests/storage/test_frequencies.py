from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from reasoningbank.storage.frequencies import VOCABULARY, rarest
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
    assert rarest(connection, ["file", "run", "rare", "nowhere"]) == ["rare", "run", "file"]
    assert rarest(connection, ["file", "run", "rare"], postings=3) == ["rare", "run"]


def test_a_term_that_is_everywhere_is_asked_for_when_there_is_no_other(connection: sqlite3.Connection) -> None:
    assert rarest(connection, ["file", "nowhere"], postings=1) == ["file"]
    assert rarest(connection, ["nowhere"]) == []


def test_what_is_written_later_counts_at_once(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO terms(text) VALUES ('later')")
    assert rarest(connection, ["later"]) == ["later"]

"""How many statements the writing calls send to SQLite: each costs about as much as the row that it is about."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from reasoningbank import ReasoningBank


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that is sent from now on."""
    statements: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        # What a virtual table does inside is told as a comment.
        connection.set_trace_callback(lambda sql: None if sql.startswith("--") else statements.append(sql))
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    return statements


@pytest.fixture
def served(sent: list[str], bank: ReasoningBank) -> ReasoningBank:
    bank.record_many(
        [{"title": f"Rotate log {n}", "content": f"Rotate the log number {n}.", "outcome": "success"} for n in range(5)]
    )
    bank.report("success", ref=bank.recall("rotate the log").ref)
    sent.clear()
    return bank


def test_a_vote_takes_few_statements(served: ReasoningBank, sent: list[str]) -> None:
    memory_id = served.list().memories[0].id
    sent.clear()

    served.vote(memory_id, True)

    assert len(sent) <= 26, sent


def test_a_report_takes_few_statements_and_five_for_each_memory(served: ReasoningBank, sent: list[str]) -> None:
    recall = served.recall("rotate the log")
    sent.clear()

    served.report("failure", ref=recall.ref)

    assert len(recall.hits) > 2
    assert len(sent) <= 17 + 5 * len(recall.hits), sent


def test_a_record_takes_few_statements(served: ReasoningBank, sent: list[str]) -> None:
    served.record("Quote paths", "Names may hold blanks.", outcome="failure")

    assert len(sent) <= 24, sent


def test_many_records_take_one_read_each_and_one_write_a_row(served: ReasoningBank, sent: list[str]) -> None:
    drafts = [{"title": f"T{n}", "content": f"Do thing {n}", "outcome": "success"} for n in range(50)]

    served.record_many(drafts)

    rows_each = 4  # the memory, its vector, its terms, the feed
    assert len(sent) <= 12 + rows_each * len(drafts)

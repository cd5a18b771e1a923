"""The connections of a process: few, closed when nobody uses them, and never a parent's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from reasoningbank import BusyError, NewerFormatError, ReasoningBank
from reasoningbank.address import ServerAddress
from reasoningbank.storage.postgres import server as connections
from reasoningbank.storage.postgres.server import Server, server_at
from reasoningbank.storage.postgres.wire import Wire
from tests.processes import in_child
from tests.servers import Postgres


@pytest.fixture
def bank(postgres: Postgres) -> Iterator[ReasoningBank]:
    with ReasoningBank(postgres.application, tenant="acme", project="billing", embedder="hash") as opened:
        opened.record("Quote paths", "Or the command breaks", outcome="success")
        yield opened
    postgres.empty()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Wire]]:
    """Every connection that is opened, to be closed after the test."""
    wires: list[Wire] = []

    def made(*arguments: Any) -> Wire:
        wires.append(Wire(*arguments))
        return wires[-1]

    monkeypatch.setattr(connections, "Wire", made)
    yield wires
    for wire in wires:
        wire.close()


def test_one_that_is_given_back_is_the_next_to_be_lent(postgres: Postgres, opened: list[Wire]) -> None:
    server = Server(ServerAddress(postgres.application), 5.0)
    first = server.take()
    server.give_back(first)

    assert server.take() is first
    first.close()
    server.give_back(first)
    assert server.take() is not first
    assert len(opened) == 2


def test_what_nobody_uses_is_closed_after_a_while(
    postgres: Postgres, opened: list[Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(ServerAddress(postgres.application), 5.0)
    server.give_back(server.take())
    server._close_idle()
    kept = not opened[0].closed

    monkeypatch.setattr(connections, "IDLE", 0.0)
    server._close_idle()

    assert (kept, opened[0].closed) == (True, True)
    assert server.take() is opened[1]


def test_more_than_so_many_transactions_wait_and_are_told_so(
    postgres: Postgres, opened: list[Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 1)
    server = Server(ServerAddress(postgres.application), 0.05)
    wire = server.take()

    with pytest.raises(BusyError, match="busy_timeout"):
        server.take()
    server.give_back(wire)
    assert server.take() is wire
    assert opened == [wire]


def test_a_forked_child_opens_its_own_and_leaves_the_parents_alone(bank: ReasoningBank) -> None:
    assert isinstance(bank.root, ServerAddress)
    server = server_at(bank.root, 10.0)
    held = list(server._idle)

    def child() -> None:
        assert bank.count() == 1
        assert not set(map(id, server._idle)) & set(map(id, held))

    assert held
    assert in_child(child) == 0
    assert bank.count() == 1
    assert [wire.closed for wire in held] == [False] * len(held)


def test_what_a_newer_version_wrote_meanwhile_is_seen_by_one_that_is_open(
    postgres: Postgres, bank: ReasoningBank
) -> None:
    assert bank.search("quote paths").hits
    with psycopg.connect(postgres.superuser, autocommit=True) as newer:
        newer.execute("INSERT INTO reasoningbank.versions(number) VALUES (999)")
        try:
            for call in (
                lambda: bank.search("quote paths"),
                lambda: bank.record("Look first", "Look at the plan first", outcome="failure"),
                bank.list,
                bank.upkeep.status,
            ):
                with pytest.raises(NewerFormatError, match=r"999.*upgrade reasoningbank-core"):
                    call()
            assert "999" in bank.recall("quote paths", timeout=30.0).degraded[0]
        finally:
            newer.execute("DELETE FROM reasoningbank.versions WHERE number = 999")
    assert bank.count() == 1

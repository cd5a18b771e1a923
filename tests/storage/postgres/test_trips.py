"""How often a call waits for the server: a network makes each of these trips as long as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.storage.postgres.wire import Asked, Found, Wire
from tests.servers import Postgres

Trips = Callable[[Callable[[], object]], int]


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.empty()


@pytest.fixture
def bank(server: Postgres) -> Iterator[ReasoningBank]:
    with ReasoningBank(server.application, tenant="acme", project="billing", embedder="hash") as opened:
        for n in range(12):
            opened.record(f"Quote path {n} of a deploy", f"Or command {n * 7} breaks", outcome="success")
        opened.recall("quote the path of a deploy", ref="first")
        opened.report("success", ref="first")
        opened.search("quote the path of a deploy")
        yield opened


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> Trips:
    """Counts how often a call waited for the server."""
    waited: list[Sequence[Asked]] = []
    send = Wire.send

    def counted(self: Wire, asked: Sequence[Asked]) -> list[Found]:
        waited.append(asked)
        return send(self, asked)

    monkeypatch.setattr(Wire, "send", counted)

    def count(call: Callable[[], object]) -> int:
        waited.clear()
        call()
        return len(waited)

    return count


def test_a_search_while_nothing_changes_takes_one_trip(bank: ReasoningBank, trips: Trips) -> None:
    assert trips(lambda: bank.search("quote the path of a deploy")) == 1


def test_a_call_of_a_run_takes_at_most_four(bank: ReasoningBank, trips: Trips) -> None:
    known = bank.list(limit=1).memories[0].id

    assert trips(lambda: bank.recall("quote the path of a deploy", ref="run")) == 4
    assert trips(lambda: bank.search("quote the path of a deploy")) <= 3
    assert trips(lambda: bank.report("success", ref="run")) == 2
    assert trips(lambda: bank.search("quote the path of a deploy")) <= 4
    assert trips(lambda: bank.vote(known, True, ref="run")) == 4
    assert trips(lambda: bank.record("Pin versions", "Or they change", outcome="success")) <= 4


def test_a_memory_takes_one_or_two(bank: ReasoningBank, trips: Trips) -> None:
    known = bank.list(limit=1).memories[0].id

    assert trips(lambda: bank.get(known)) <= 2
    assert trips(bank.count) == 1


def test_what_a_call_raises_in_the_middle_costs_no_connection(bank: ReasoningBank, trips: Trips) -> None:
    with pytest.raises(LookupError):
        bank.vote("there is none", True)

    assert trips(lambda: bank.search("quote the path of a deploy")) == 1


def test_connections_that_a_restart_ended_are_replaced_without_anyone_noticing(
    bank: ReasoningBank, server: Postgres, trips: Trips
) -> None:
    server.end_sessions()

    assert bank.search("quote the path of a deploy").memories
    server.end_sessions()
    bank.record("Pin versions", "Or they change", outcome="success")

    assert bank.count() == 13
    assert trips(lambda: bank.search("quote the path of a deploy")) <= 8

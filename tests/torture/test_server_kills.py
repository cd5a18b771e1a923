"""A bank on a server whose clients, sessions, wires or server die: what was acknowledged is there, and counts once."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from benchmarks.engines_proxy import Proxy
from reasoningbank import ReasoningBank, StorageError
from reasoningbank.storage.postgres.wire import Asked, Found, Wire
from tests.servers import Postgres
from tests.torture import life
from tests.torture.doomed import Doomed
from tests.torture.life import Known, Op, check, live, open_with_its_embedder, settle, take_in

MOST_TRIPS = 60  # of one client's life
EXHAUSTIVE = [pytest.mark.exhaustive, pytest.mark.timeout(3_000)]
PATIENCE = 5.0  # seconds in which a client is to be caught in the middle of something


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.empty()


def die_at(trip: int, *, answered: bool) -> None:
    """Have this process killed at one of its trips, after it was sent, or before."""
    send, left = Wire.send, [trip]

    def counted(self: Wire, asked: Sequence[Asked]) -> list[Found]:
        left[0] -= 1
        if left[0] == 0 and not answered:
            os.kill(os.getpid(), signal.SIGKILL)
        found = send(self, asked)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    Wire.send = counted  # type: ignore[method-assign]


class Client(Doomed):
    """One that dies at a trip, or by its own hand when the server refuses it."""

    def live(self, root: Path | str, name: str, seed: int, pipe: int, at: int | None) -> None:
        if at is not None:
            die_at(at, answered=seed % 2 == 0)
        try:
            live(cast("Path", root), self.known, name=name, seed=seed, pipe=pipe)
        except StorageError:
            os.kill(os.getpid(), signal.SIGKILL)

    def lives(self) -> bool:
        return os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def begun(self) -> Op | None:
        """Wait for its end, take in what was acknowledged to it, and return what it had begun."""
        return take_in(self.known, self.said())


def settled(root: str, clients: list[Client]) -> None:
    """Find out what became of what the clients had begun, and check all that is there."""
    begun = [client.begun() for client in clients]
    knowns = [client.known for client in clients]
    bank: ReasoningBank = open_with_its_embedder(cast("Path", root), max(knowns, key=lambda known: known.now))
    try:
        for client, op in zip(clients, begun, strict=True):
            if op is not None:
                settle(bank, client.known, op)
        check(bank, knowns)
    finally:
        bank.close()


def later(knowns: list[Known], rng: random.Random) -> list[Known]:
    newest = max(known.now for known in knowns)
    for known in knowns:
        known.now = newest + timedelta(days=rng.choice((0, 1, 5)))
        known.until = known.now + timedelta(days=2)
    return knowns


@pytest.mark.parametrize("kills", [8, pytest.param(520, marks=EXHAUSTIVE)])
def test_clients_that_are_killed_at_any_trip_lose_nothing(server: Postgres, kills: int) -> None:
    rng = random.Random(1)
    knowns = [Known(), Known()]
    for kill in range(kills):
        if kill % 20 == 0:
            server.empty()
            knowns = [Known(), Known()]
        # Mostly two: the one that is killed holds what the other waits for.
        lives = later(knowns, rng)[: rng.choice((1, 2, 2))]
        clients = [
            Client(server.application, known, f"w{n}", rng.randrange(2**32), rng.randrange(1, MOST_TRIPS))
            for n, known in enumerate(lives)
        ]
        settled(server.application, clients + [Gone(known) for known in knowns[len(lives) :]])


class Gone(Client):
    """A client that does nothing this time."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def begun(self) -> Op | None:
        return None


@pytest.mark.parametrize("ends", [2, pytest.param(60, marks=EXHAUSTIVE)])
def test_sessions_that_the_server_ends_lose_nothing(server: Postgres, ends: int) -> None:
    rng, knowns = random.Random(2), [Known(), Known()]
    for _ in range(ends):
        clients = [
            Client(server.application, known, f"w{n}", rng.randrange(2**32))
            for n, known in enumerate(later(knowns, rng))
        ]
        time.sleep(rng.uniform(0.1, 0.5))
        # An idle session is replaced without anyone noticing: until the last is caught in the middle of something.
        until = time.monotonic() + PATIENCE
        while any(client.lives() for client in clients):
            server.end_sessions()
            if time.monotonic() > until:
                # One that waits until it is heard is in the middle of nothing any more.
                for client in filter(Client.lives, clients):
                    os.kill(client.process, signal.SIGKILL)
        settled(server.application, clients)


@pytest.mark.parametrize("cuts", [6, pytest.param(200, marks=EXHAUSTIVE)])
def test_a_wire_that_is_cut_between_any_two_trips_loses_nothing(server: Postgres, cuts: int) -> None:
    rng, known = random.Random(3), Known()
    proxy = Proxy(server.socket)
    root = server.through(proxy.port)
    try:
        for cut in range(cuts):
            later([known], rng)
            client = Client(root, known, "w", rng.randrange(2**32))
            proxy.after, proxy.cut_in = cut % 2 == 0, 8 + cut * 3 % MOST_TRIPS
            # A connection that was idle when it was cut is replaced: then cut again.
            while client.lives():
                time.sleep(0.01)
                proxy.cut_in = proxy.cut_in or 2
            proxy.cut_in = None
            settled(server.application, [client])
    finally:
        proxy.close()


@pytest.mark.parametrize("restarts", [1, pytest.param(20, marks=EXHAUSTIVE)])
def test_a_server_that_goes_down_under_four_writers_loses_nothing(
    server: Postgres, restarts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As with a power loss, so that only what was waited for is safe.
    monkeypatch.setitem(life.SETTINGS, "durability", "full")
    rng, knowns = random.Random(4), [Known(hours=(0,) * 12 + (1,)) for _ in range(4)]
    for _ in range(restarts):
        clients = [
            Client(server.application, known, f"w{n}", rng.randrange(2**32))
            for n, known in enumerate(later(knowns, rng))
        ]
        time.sleep(rng.uniform(0.5, 1.0))
        server.restart()
        # One that was between two calls goes on.
        for client in clients:
            os.kill(client.process, signal.SIGKILL)
        settled(server.application, clients)

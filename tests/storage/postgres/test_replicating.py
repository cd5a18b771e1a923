"""A bank in a folder and banks on a server that exchange what they know, as banks in folders do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.bus import Bus, Options, Peer
from tests.conftest import Clock
from tests.servers import Postgres
from tests.services.replication.pairs import Node, exchange, lessons


@pytest.fixture
def server(postgres: Postgres) -> Iterator[str]:
    yield postgres.application
    postgres.empty()


@pytest.fixture
def nodes(tmp_path: Path, server: str, clock: Clock) -> Iterator[list[Node]]:
    """One bank in a folder, and two on a server."""
    with ExitStack() as stack:
        made = []
        roots: list[tuple[str, Path | str]] = [("berlin", tmp_path / "root"), ("lima", server), ("oslo", server)]
        for n, (name, root) in enumerate(roots, 1):
            bank = ReasoningBank(root, tenant=name, project="ops", embedder="hash", clock=clock)
            made.append(Node(stack.enter_context(bank), n, name))
        yield made


def live(node: Node, clock: Clock) -> list[str]:
    """Do a little of everything that travels."""
    bank, ids = node.bank, []
    for n in range(5):
        title = f"Look at promotion {n} in {node.name}"
        ids.append(bank.record(title, f"Before blaming forecast {n}", outcome="success", tags=["sales"]).memory.id)
    for n in range(4):
        clock.move(days=9)
        bank.recall(f"why did the forecast {n} fail", ref=f"run {n} of {node.name}")
        bank.report("success" if n % 2 else "failure", ref=f"run {n} of {node.name}")
        bank.vote(ids[n], n != 2, ref=f"run {n} of {node.name}", by="ada")
    bank.update(ids[0], content=f"After looking twice, says {node.name}")
    bank.links.add(ids[0], ids[1], "requires", evidence="seen together")
    bank.upkeep.archive(ids[3], reason="out of date")
    bank.upkeep.maintain()
    bank.delete(ids[4])
    return ids


def same(nodes: list[Node]) -> None:
    held = [lessons(node) for node in nodes]
    assert all(each == held[0] for each in held)
    said = [
        {memory: sorted((link.target, link.evidence) for link in node.bank.links.of(memory)) for memory in held[0]}
        for node in nodes
    ]
    assert all(each == said[0] for each in said)
    assert [node.capture() for node in nodes] == [0] * len(nodes)


def test_a_folder_and_a_server_hold_and_believe_the_same(nodes: list[Node], clock: Clock) -> None:
    ids = [live(node, clock) for node in nodes]
    exchange(nodes)
    same(nodes)
    for n, node in enumerate(nodes):
        clock.move(seconds=1)
        other = ids[(n + 1) % len(nodes)]
        node.bank.vote(other[0], n % 2 == 0, ref=f"later {n}")
        node.bank.update(other[1], content=f"Otherwise, says {node.name}")
        node.bank.delete(ids[n][2])
    exchange(nodes)

    same(nodes)
    assert len(lessons(nodes[0])) == 9


def test_on_a_server_too_a_bank_that_begins_anew_gets_all_of_it_back(
    nodes: list[Node], server: str, clock: Clock
) -> None:
    berlin, lima, oslo = nodes
    memory = live(lima, clock)[0]
    exchange(nodes)
    before = lessons(berlin)
    with ReasoningBank(server, tenant="lima again", project="ops", embedder="hash", clock=clock) as bank:
        copy = Node(bank, 2, "lima")
        clock.move(seconds=1)
        new = bank.record("Since", "On the new server", outcome="success").memory.id
        # A second bank with the key of the first, which goes on as well: numbers are used twice.
        copy.capture()
        lima.bank.vote(memory, True, ref="meanwhile")
        for _ in range(3):
            for node, other in [(copy, berlin), (berlin, copy), (lima, berlin), (berlin, lima), (oslo, berlin)]:
                node.pull(other, {each.kid: each.name for each in nodes})

        same([berlin, lima, oslo, copy])
        assert lessons(copy).keys() == {*before, new}


async def test_over_the_bus_a_folder_and_a_server_exchange_all(nodes: list[Node]) -> None:
    berlin, lima, _ = nodes
    berlin.bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    lima.bank.record("Retry twice", "Wait a second between", outcome="success")
    options = Options(period_ms=300)
    async with (
        Bus(berlin.bank, berlin.identity, [Peer("lima", lima.kid)], options=options) as here,
        Bus(lima.bank, lima.identity, [Peer("berlin", berlin.kid)], options=options) as there,
    ):
        assert await there.sync(here.address, seconds=30) == 1
        await here.sync(there.address, seconds=30)

    assert lessons(berlin) == lessons(lima)
    assert len(lessons(berlin)) == 2

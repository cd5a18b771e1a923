"""Banks that learned different things from their runs believe the same once they told one another."""

from __future__ import annotations

import random
from typing import Any

import pytest

from reasoningbank.belief.calibrated import STARTING
from reasoningbank.replication import Block, written
from reasoningbank.services.replication import changes
from tests.conftest import Clock, OpenBank
from tests.services.replication.pairs import Node, exchange, lessons

LESSON: dict[str, Any] = {"title": "Quote paths", "content": "Put paths in quotes", "outcome": "failure"}


@pytest.fixture
def nodes(open_bank: OpenBank) -> list[Node]:
    names = ("berlin", "lima", "oslo")
    return [Node(open_bank(tenant=name), n, name) for n, name in enumerate(names, 1)]


def live(node: Node, runs: int, *, seed: int) -> None:
    """Let a bank see how runs end, and what votes say."""
    rng = random.Random(seed)
    for n in range(runs):
        run = node.bank.recall("put paths in quotes and retry twice")
        good = rng.random() < 0.3 + 0.3 * (seed % 3)
        node.bank.report("success" if good else "failure", ref=run.ref, by=f"ci {node.name}")
        node.bank.vote(run.memories[0].id, good, ref=f"{node.name} {n}", by="ada")


def fits(node: Node) -> dict[str, Any] | None:
    return node.bank.upkeep.status().parameters


def test_banks_that_fitted_the_model_to_different_runs_believe_the_same(nodes: list[Node]) -> None:
    berlin, lima, oslo = nodes
    berlin.bank.record(**LESSON)
    lima.bank.record("Retry twice", "Wait a second between", outcome="success")
    live(berlin, 25, seed=1)
    exchange([berlin, lima])
    live(lima, 40, seed=2)
    live(berlin, 10, seed=3)
    alone = fits(lima)
    exchange(nodes)

    assert lessons(berlin) == lessons(lima) == lessons(oslo)
    assert fits(berlin) == fits(lima) == fits(oslo)
    assert fits(lima) not in (None, alone)
    assert [node.capture() for node in nodes] == [0, 0, 0]


def test_a_fit_counts_by_the_evidence_that_its_bank_told_whatever_it_says(nodes: list[Node], clock: Clock) -> None:
    berlin, lima, _ = nodes
    memory = berlin.bank.record(**LESSON).memory.id
    live(berlin, 25, seed=1)
    berlin.capture()
    before = fits(berlin)
    now = written(int(clock().timestamp() * 1000), 0)
    said = ["f", now, STARTING.record() | {"helped": 0.95, "harms": [[1, 0.5]], "judged": 10**12}]
    body = changes.pack(b"", [said])
    block = Block(lima.kid, 1, 1, body)

    berlin.take(block._replace(signature=lima.identity.sign(block.signed)), "lima")

    assert fits(berlin) == before
    assert berlin.bank.get(memory).confidence == pytest.approx(lessons(berlin)[memory][-1], abs=1e-9)


def test_blocking_a_peer_takes_its_fit_out_of_force_and_unblocking_puts_it_back(nodes: list[Node]) -> None:
    berlin, lima, _ = nodes
    berlin.bank.record(**LESSON)
    live(berlin, 25, seed=1)
    exchange([berlin, lima])
    own = fits(berlin)
    live(lima, 40, seed=2)
    exchange([berlin, lima])
    both = fits(berlin)

    berlin.bank.sources.block("bus:lima")
    assert fits(berlin) == own
    berlin.bank.sources.unblock("bus:lima")

    assert fits(berlin) == both != own

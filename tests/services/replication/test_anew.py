"""Banks that were put back to an earlier state, began again from nothing, or were copied: nothing is lost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import ReasoningBank, State
from reasoningbank.errors import BusRefusedError
from reasoningbank.replication import key_of
from reasoningbank.services.replication import changes
from tests.conftest import Clock, OpenBank
from tests.services.replication.pairs import Node, exchange, lessons, signed

LESSON: dict[str, Any] = {"title": "Quote paths", "content": "Put paths in quotes", "outcome": "failure"}
NAMES = ("berlin", "lima", "oslo")


@pytest.fixture
def nodes(open_bank: OpenBank) -> list[Node]:
    return [Node(open_bank(tenant=name), n, name) for n, name in enumerate(NAMES, 1)]


def record(node: Node, text: str) -> str:
    return node.bank.record(f"Lesson {text}", f"What {text} says", outcome="success").memory.id


def votes(node: Node, memory: str) -> float:
    pieces = [piece for piece in node.bank.evidence(memory).pieces if piece.kind == "explicit"]
    return sum(piece.positive + piece.negative for piece in pieces)


def settled(nodes: list[Node], clock: Clock) -> None:
    """Exchange until nothing is left to take, whatever was refused on the way."""
    names = {node.kid: node.name for node in nodes}
    for _ in range(6):
        clock.move(seconds=1)
        for node in nodes:
            for other in nodes:
                if other is not node:
                    pulled(node, other, names)
    held = [lessons(node) for node in nodes]
    have = [node.bank.replication.have() for node in nodes]
    assert all(each == held[0] for each in held)
    assert all({o: n for o, n in each.items() if n} == {o: n for o, n in have[0].items() if n} for each in have)


def pulled(node: Node, other: Node, names: dict[str, str]) -> None:
    """Take what another has; what does not follow is left for later."""
    other.capture()
    for origin in other.bank.replication.have():
        after = 0 if key_of(origin) == node.kid else node.bank.replication.have().get(origin, 0)
        with suppress(BusRefusedError):
            for block in other.bank.replication.blocks(origin, after, most=1_000):
                node.take(block, names[key_of(origin)])


def put_back(node: Node, folder: Path) -> None:
    node.bank.upkeep.restore_backup(folder)


pytestmark = pytest.mark.folder_only


def test_a_bank_that_was_put_back_takes_back_what_it_told(nodes: list[Node], clock: Clock, tmp_path: Path) -> None:
    berlin, lima, oslo = nodes
    first = record(berlin, "one")
    berlin.bank.vote(first, True)
    exchange(nodes)
    berlin.bank.upkeep.backup(tmp_path / "backup")
    clock.move(days=1)
    second = record(berlin, "two")
    for node in nodes:
        node.bank.vote(first, False)
    berlin.bank.vote(second, True)
    exchange(nodes)
    before = lessons(lima)
    put_back(berlin, tmp_path / "backup")
    assert second not in lessons(berlin)
    clock.move(days=1)

    settled(nodes, clock)

    assert lessons(berlin) == before
    assert [votes(node, first) for node in nodes] == [4.0] * 3
    assert berlin.bank.get(second).source.by == "bus:here"
    assert berlin.bank.get(second).source.trusted
    assert len(berlin.bank.replication.have()) == 4
    third = record(berlin, "three")
    berlin.bank.vote(second, True)
    settled(nodes, clock)
    assert third in lessons(oslo)
    assert [votes(node, second) for node in nodes] == [2.0] * 3


@pytest.mark.parametrize("more", [0, 1, 5])
def test_what_it_told_since_under_numbers_that_were_used_before_is_told_again(
    nodes: list[Node], clock: Clock, tmp_path: Path, more: int
) -> None:
    berlin, lima, oslo = nodes
    first = record(berlin, "one")
    exchange(nodes)
    berlin.bank.upkeep.backup(tmp_path / "backup")
    clock.move(hours=1)
    lost = [record(berlin, f"lost {n}") for n in range(2)]
    berlin.bank.vote(first, True, ref="before")
    lima.pull(berlin, {berlin.kid: "berlin"})
    put_back(berlin, tmp_path / "backup")
    clock.move(hours=1)
    since = [record(berlin, f"since {n}") for n in range(1 + more)]
    berlin.bank.vote(first, True, ref="after")
    when = {memory: berlin.bank.get(memory).updated_at for memory in since}
    # One peer heard what it said before, another what it says since.
    oslo.pull(berlin, {berlin.kid: "berlin"})

    settled(nodes, clock)

    assert lessons(lima).keys() == {first, *lost, *since}
    for node in nodes:
        assert [node.bank.revisions(memory)[:-1] for memory in since] == [[]] * len(since)
        assert all(node.bank.get(memory).updated_at == told for memory, told in when.items())
    assert [votes(node, first) for node in nodes] == [2.0] * 3
    assert [node.capture() for node in nodes] == [0, 0, 0]


@pytest.mark.parametrize("heard_before", [False, True])
def test_a_run_that_is_judged_again_after_it_was_put_back_counts_once(
    nodes: list[Node], clock: Clock, tmp_path: Path, heard_before: bool
) -> None:
    berlin, _, _ = nodes
    memory = berlin.bank.record(**LESSON).memory.id
    run = berlin.bank.recall("put paths in quotes")
    berlin.bank.upkeep.backup(tmp_path / "backup")
    berlin.bank.report("success", ref=run.ref)
    exchange(nodes)
    put_back(berlin, tmp_path / "backup")
    clock.move(days=2)
    if heard_before:
        settled(nodes, clock)
    berlin.bank.report("failure", ref=run.ref)

    settled(nodes, clock)

    for node in nodes:
        outcomes = [piece for piece in node.bank.evidence(memory).pieces if piece.kind == "outcome"]
        assert len(outcomes) == 1
        assert outcomes[0].positive == 0.0
        assert outcomes[0].negative == pytest.approx(1.0, abs=0.001)


def test_what_was_deleted_before_is_deleted_again(nodes: list[Node], clock: Clock, tmp_path: Path) -> None:
    berlin, lima, _ = nodes
    memory = berlin.bank.record(**LESSON).memory.id
    exchange(nodes)
    berlin.bank.upkeep.backup(tmp_path / "backup")
    clock.move(hours=1)
    berlin.bank.delete(memory)
    exchange(nodes)
    put_back(berlin, tmp_path / "backup")

    settled(nodes, clock)

    assert lessons(berlin) == lessons(lima) == {}
    assert berlin.bank.list(state=State.ARCHIVED).memories == ()


def test_a_bank_that_begins_with_nothing_and_its_old_key_gets_all_of_it_back(
    nodes: list[Node], clock: Clock, open_bank: OpenBank
) -> None:
    berlin, lima, oslo = nodes
    memory = record(berlin, "one")
    berlin.bank.vote(memory, True)
    exchange(nodes)
    before = lessons(berlin)
    anew = Node(open_bank(tenant="berlin again"), 1, "berlin")
    new = record(anew, "two")

    settled([anew, lima, oslo], clock)

    assert {key: value for key, value in lessons(anew).items() if key != new} == before
    assert votes(anew, memory) == 1.0


def test_twice_put_back_it_still_goes_on(nodes: list[Node], clock: Clock, tmp_path: Path) -> None:
    berlin, lima, oslo = nodes
    record(berlin, "one")
    exchange(nodes)
    berlin.bank.upkeep.backup(tmp_path / "backup")
    for n in range(3):
        clock.move(hours=1)
        record(berlin, f"told {n}")
        (lima if n % 2 else oslo).pull(berlin, {berlin.kid: "berlin"})
        put_back(berlin, tmp_path / "backup")
        clock.move(hours=1)
        record(berlin, f"since {n}")
        settled(nodes, clock)

    assert len(lessons(berlin)) == 7


def test_a_copy_that_speaks_with_the_same_key_becomes_a_bank_of_its_own(
    nodes: list[Node], clock: Clock, tmp_path: Path, bank_root: Path
) -> None:
    berlin, lima, oslo = nodes
    memory = record(berlin, "one")
    berlin.bank.vote(memory, True)
    exchange(nodes)
    berlin.bank.upkeep.backup(tmp_path / "backup")
    with ReasoningBank(tmp_path / "copied", tenant="berlin", project="billing", embedder="hash", clock=clock) as bank:
        bank.upkeep.restore_backup(tmp_path / "backup")
        copy = Node(bank, 1, "berlin")
        for n, (node, other) in enumerate([(berlin, lima), (copy, oslo), (berlin, oslo), (copy, lima)]):
            clock.move(hours=1)
            record(node, f"of {n}")
            node.bank.vote(memory, True, ref=f"vote {n}")
            node.capture()
            pulled(other, node, {berlin.kid: "berlin"})

        settled([berlin, copy, lima, oslo], clock)

        for n in range(3):
            record(berlin, f"later {n}")
            record(copy, f"later too {n}")
            settled([berlin, copy, lima, oslo], clock)
        assert len(lessons(lima)) == 5 + 6
        assert [votes(node, memory) for node in (berlin, copy, lima, oslo)] == [5.0] * 4
        assert [node.capture() for node in (berlin, copy)] == [0, 0]
        origins = {origin for origin in lima.bank.replication.have() if key_of(origin) == berlin.kid}
        assert 2 <= len(origins) <= 3


def test_nobody_else_can_give_up_what_a_bank_said(nodes: list[Node]) -> None:
    berlin, lima, oslo = nodes
    record(berlin, "one")
    berlin.capture()
    (block,) = berlin.bank.replication.blocks(berlin.kid, 0)
    given_up = changes.pack(b"", [["g", berlin.kid, [[block.first, block.signed.hex()]]]])
    lima.take(signed(oslo, given_up, 1), "oslo")
    assert not lima.take(block, "berlin").known
    oslo.take(block, "berlin")
    assert lessons(lima) == lessons(berlin)

"""Several small blocks in one transaction: as many as others may wait for, and none behind one that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank.errors import BusRefusedError
from reasoningbank.replication import Block, Taken, Terms
from tests.conftest import Clock, OpenBank
from tests.services.replication.pairs import Node, lessons


@pytest.fixture
def nodes(open_bank: OpenBank) -> list[Node]:
    return [Node(open_bank(tenant=name), n, name) for n, name in enumerate(("berlin", "lima", "oslo"), 1)]


def told(node: Node, *sizes: int) -> list[Block]:
    """Let a bank tell so many lessons a block, and return the blocks."""
    for block, size in enumerate(sizes):
        texts = [f"lesson {n} of block {block} of {node.name}" for n in range(size)]
        node.bank.record_many([{"title": text, "content": f"What {text} says", "outcome": "success"} for text in texts])
        node.capture()
    blocks = node.bank.replication.blocks(node.kid, 0, most=100)
    assert [block.last - block.first + 1 for block in blocks] == list(sizes)
    return blocks


def take(node: Node, blocks: list[Block], **terms: Any) -> Taken:
    return node.bank.replication.take(blocks, Terms("berlin", **terms), node.kid, node.identity.sign)


def refused(node: Node, blocks: list[Block], **terms: Any) -> str:
    with pytest.raises(BusRefusedError) as error:
        take(node, blocks, **terms)
    return error.value.reason


@pytest.mark.parametrize(("sizes", "at_once"), [
    ((1, 2, 3), [3]),
    ((150, 50, 1), [2, 1]),
    ((150, 51), [1, 1]),
    ((200, 1), [1, 1]),
    ((1, 200, 199, 1), [1, 1, 2]),
])  # fmt: skip
def test_as_many_blocks_are_taken_at_once_as_hold_200_changes(
    nodes: list[Node], sizes: tuple[int, ...], at_once: list[int]
) -> None:
    berlin, lima, _ = nodes
    blocks, taken = told(berlin, *sizes), []
    while blocks:
        taken.append(take(lima, blocks).blocks)
        blocks = blocks[taken[-1] :]

    assert taken == at_once
    assert lessons(lima) == lessons(berlin)


@pytest.mark.parametrize(("wrong", "reason"), [
    ({"body": b"nonsense"}, "malformed"), ({"first": 6}, "malformed"), ({"first": 6, "last": 7}, "gap"),
])  # fmt: skip
def test_those_before_one_that_is_refused_are_taken_and_none_behind_it(
    nodes: list[Node], wrong: dict[str, Any], reason: str
) -> None:
    berlin, lima, _ = nodes
    one, two, three, four = told(berlin, 1, 2, 2, 1)
    blocks = [one, two, three._replace(**wrong), four]

    taken = take(lima, blocks)

    assert (taken.blocks, taken.memories) == (2, 3)
    assert lima.bank.count() == 3
    assert lima.bank.replication.have()[berlin.kid] == 3
    assert refused(lima, blocks[2:]) == reason
    assert take(lima, [three, four]).blocks == 2
    assert lessons(lima) == lessons(berlin)


def test_a_cap_stops_before_the_block_that_is_over_it_and_counts_those_before(nodes: list[Node], clock: Clock) -> None:
    berlin, lima, _ = nodes
    blocks = told(berlin, 2, 2, 2)

    assert take(lima, blocks, caps={"memories": 5}).blocks == 2
    assert refused(lima, blocks[2:], caps={"memories": 5}) == "cap"
    spent = {each.name: each.spent for each in lima.bank.replication.status()}["berlin"]
    assert spent["memories"] == 4
    clock.move(days=1)
    assert take(lima, blocks[2:], caps={"memories": 5}).memories == 2


def test_blocks_of_another_bank_are_for_the_next_time(nodes: list[Node]) -> None:
    berlin, lima, oslo = nodes
    mixed = [*told(berlin, 1, 1), *told(oslo, 1)]

    assert take(lima, mixed).blocks == 2
    assert lima.bank.replication.have().keys() == {lima.kid, berlin.kid}


def test_those_that_are_here_are_passed_over_together_and_apart(nodes: list[Node]) -> None:
    berlin, lima, _ = nodes
    blocks = told(berlin, 1, 1, 1)
    take(lima, blocks[:2])

    again = take(lima, blocks)

    assert (again.known, again.blocks) == (True, 2)
    assert not take(lima, blocks[2:]).known
    assert take(lima, blocks).blocks == 3

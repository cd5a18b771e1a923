"""Blocks that are not taken, or not all of it."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any

import pytest

from reasoningbank.belief.calibrated import STARTING
from reasoningbank.errors import BusRefusedError, InvalidInputError
from reasoningbank.replication import Block, Terms
from reasoningbank.services.replication import changes
from tests.conftest import Clock, OpenBank
from tests.services.replication.pairs import Node, exchange, lessons, signed

LESSON: dict[str, Any] = {"title": "Quote paths", "content": "Put paths in quotes", "outcome": "failure"}


@pytest.fixture
def nodes(open_bank: OpenBank) -> list[Node]:
    names = ("berlin", "lima", "oslo")
    return [Node(open_bank(tenant=name), n, name) for n, name in enumerate(names, 1)]


def refused(node: Node, block: Block, **terms: Any) -> str:
    with pytest.raises(BusRefusedError) as error:
        node.bank.replication.take([block], dataclasses.replace(TERMS, **terms), node.kid, node.identity.sign)
    return error.value.reason


TERMS = Terms("berlin")


def test_caps_hold_for_a_day_also_across_handles_and_nothing_of_a_block_over_them_is_taken(
    nodes: list[Node], clock: Clock
) -> None:
    berlin, lima, _ = nodes
    memory = berlin.bank.record(**LESSON).memory.id
    berlin.capture()
    berlin.bank.vote(memory, True)
    berlin.capture()
    first, second = berlin.bank.replication.blocks(berlin.kid, 0)

    assert refused(lima, first, caps={"memories": 0}) == "cap"
    assert lima.bank.list(state=None).memories == ()
    lima.take(first, "berlin", caps={"memories": 1, "bytes": len(first.body)})
    assert refused(lima, second, caps={"bytes": len(first.body)}) == "cap"
    assert refused(lima, second, caps={"signals": 0}) == "cap"
    clock.move(days=1)
    lima.take(second, "berlin", caps={"bytes": len(second.body), "signals": 1})

    assert lessons(lima) == lessons(berlin)


def test_what_does_not_follow_or_is_no_block_is_refused(nodes: list[Node], clock: Clock) -> None:
    berlin, lima, oslo = nodes
    memory = berlin.bank.record(**LESSON).memory.id
    berlin.capture()
    berlin.bank.vote(memory, True)
    berlin.capture()
    first, second = berlin.bank.replication.blocks(berlin.kid, 0)

    assert refused(lima, second) == "gap"
    assert refused(lima, first._replace(body=b"nonsense")) == "malformed"
    assert refused(lima, first._replace(last=first.last + 1)) == "malformed"
    assert refused(lima, first._replace(body=zlib.compress(b"[" * 100_000))) == "malformed"
    assert refused(lima, first._replace(body=zlib.compress(bytes(9_000_000)))) == "malformed"
    ahead = changes.pack(b"", [["m", "9999999999999.000000", "m-9", None]])
    assert refused(lima, Block(berlin.kid, 1, 1, ahead)) == "clock"
    lima.take(first, "berlin")
    other = changes.pack(bytes(32), [["m", "1773489600000.000000", "m-9", None]])
    assert refused(lima, Block(berlin.kid, second.first, second.first, other)) == "forked"
    assert refused(berlin, Block(berlin.kid, 99, 99, other)) == "forked"
    assert refused(lima, Block(oslo.kid, 1, 1, changes.pack(b"", [["m", "1773489600000.000000", "m-9", None]]))) == (
        "forked"
    )


def test_changes_that_cannot_be_understood_change_nothing_and_hold_nothing_up(nodes: list[Node]) -> None:
    berlin, lima, _ = nodes
    now, said = "1773489600000.000000", "0" * 32
    piece = ["0" * 32, "explicit", 20_000, "ada", 0, 1_000_000, 0, "2026-03-14T12:00:00.000000Z", []]
    odd: list[Any] = [
        None, [], ["x", 1], ["m", now], ["m", "now", "m-1", None], ["m", now, "", None], ["m", now, "m-1", []],
        ["m", now, "m-1", {"title": "no outcome"}], ["m", now, "m-1", LESSON], ["s", now, "m-1", 1, "", ""],
        ["l", now, "a", "a", "requires", None], ["l", now, "a", "b", "likes", None],
        ["l", now, "a", "b", "requires", {"strength": 7, "evidence": "", "by": "", "at": "2026-03-14"}],
        ["e", "m-1", said, []], ["e", "m-1", "xy", [piece]], ["e", "m-1", said, [[*piece[:5], 2_000_000, *piece[6:]]]],
        ["e", "m-1", said, [[*piece[:5], 1, 1, *piece[7:]]]], ["e", "m-1", said, [["x", *piece[1:]]]],
        ["e", "m-1", said, [[*piece[:1], "gossip", *piece[2:]]]], ["e", "m-1", said, [[*piece[:2], True, *piece[3:]]]],
        ["e", "m-1", said, [[*piece[:8], ["gossip"]]]], ["e", "m-1", said, [piece[:8]]],
        ["f", now, None], ["f", now, {}], ["f", now, STARTING.record() | {"strength": 1e9}],
    ]  # fmt: skip
    good = ["m", now, "m-2", LESSON | {"confidence": 0.6}]

    taken = lima.take(signed(berlin, changes.pack(b"", [*odd, good]), len(odd) + 1), "berlin")

    assert (taken.memories, taken.skipped) == (1, len(odd))
    assert [memory.id for memory in lima.bank.list().memories] == ["m-2"]


def test_a_project_speaks_with_one_key_only(nodes: list[Node]) -> None:
    berlin, lima, _ = nodes
    berlin.bank.record(**LESSON)
    berlin.capture()

    with pytest.raises(InvalidInputError, match="do not belong together"):
        berlin.bank.replication.capture(lima.kid, lima.identity.sign)


def test_status_says_how_far_each_is_and_what_was_refused(nodes: list[Node]) -> None:
    berlin, lima, _ = nodes
    berlin.bank.record(**LESSON)
    exchange([berlin, lima])
    lima.bank.replication.refuse(berlin.kid, "cap")
    lima.bank.replication.refuse("f" * 64, "unknown_key")

    here, theirs, others = sorted(lima.bank.replication.status(), key=lambda each: each.name)

    assert (here.origin, here.name, here.have) == (lima.kid, "", 0)
    assert (theirs.name, theirs.have, theirs.refused) == ("berlin", 1, {"cap": 1})
    assert (theirs.spent["memories"], theirs.spent["bytes"] > 0) == (1, True)
    assert others.refused == {"unknown_key": 1}

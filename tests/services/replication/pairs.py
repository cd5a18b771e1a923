"""Banks that exchange blocks by hand: nothing between them but what they tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from reasoningbank import ReasoningBank, State
from reasoningbank.bus.identity import Identity, verify
from reasoningbank.replication import Block, Taken, Terms, key_of


class Node:
    """A bank with its key."""

    def __init__(self, bank: ReasoningBank, number: int, name: str) -> None:
        self.bank, self.name = bank, name
        self.identity = Identity.of_seed(bytes([number]) * 32, name)
        self.kid = self.identity.kid

    def capture(self) -> int:
        return self.bank.replication.capture(self.kid, self.identity.sign)

    def take(self, block: Block, name: str, **terms: Any) -> Taken:
        assert verify(block.key, block.signature, block.signed)
        return self.bank.replication.take([block], Terms(name, **terms), self.kid, self.identity.sign)

    def pull(self, other: Node, names: dict[str, str], **terms: Any) -> list[Taken]:
        """Take all that another has and this one has not; of its own, look through all that the other has."""
        other.capture()
        mine = {origin: have for origin, have in self.bank.replication.have().items() if key_of(origin) != self.kid}
        return [
            self.take(block, names[key_of(origin)], **terms)
            for origin in other.bank.replication.have()
            for block in other.bank.replication.blocks(origin, mine.get(origin, 0), most=10_000)
        ]


def exchange(nodes: Iterable[Node], rounds: int = 2, **terms: Any) -> None:
    """Let everyone take everything of everyone."""
    among = list(nodes)
    names = {node.kid: node.name for node in among}
    for _ in range(rounds):
        for node in among:
            for other in among:
                if other is not node:
                    node.pull(other, names, **terms)


def signed(node: Node, body: bytes, last: int) -> Block:
    """Return the first block of a bank, with this body."""
    block = Block(node.kid, 1, last, body)
    return block._replace(signature=node.identity.sign(block.signed))


def lessons(node: Node) -> dict[str, Any]:
    """Return all that is in service or archived, and how it is believed, as it is the same everywhere."""
    shown = {}
    for memory in node.bank.list(state=None, expired=None, limit=1_000).memories:
        said = (memory.title, memory.content, memory.outcome.value, memory.tags, json.dumps(memory.metadata))
        state = memory.state is State.ARCHIVED
        shown[memory.id] = (*said, state, memory.usage_count, round(memory.confidence, 9))
    return shown


Make = Callable[..., Node]

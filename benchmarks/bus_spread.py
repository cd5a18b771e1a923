"""How many messages a node sends until a change is everywhere, in simulated time and without any bank."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from reasoningbank.bus import Identity, Node, Options, Peer
from reasoningbank.bus.node import Send
from reasoningbank.replication import Block, Taken, Terms

START = 1_700_000_000_000
STEP_MS = 50


class Memory:
    """What a node holds, in a dictionary."""

    def __init__(self) -> None:
        self.held: dict[str, list[Block]] = defaultdict(list)

    def capture(self) -> int:
        """Nothing changes by itself."""
        return 0

    def have(self) -> dict[str, int]:
        """Return how far everything of each origin is here."""
        return {origin: blocks[-1].last for origin, blocks in self.held.items()}

    def blocks(self, origin: str, after: int, most: int) -> list[Block]:
        """Return the blocks of an origin behind a change."""
        return [block for block in self.held.get(origin, []) if block.first > after][:most]

    def ends(self, _origin: str, _change: int) -> str:
        """No bank was ever put back here."""
        return ""

    def take(self, blocks: Sequence[Block], _terms: Terms) -> Taken:
        """Take a block, unless it is here."""
        block = blocks[0]
        if self.have().get(block.origin, 0) >= block.last:
            return Taken(known=True)
        self.held[block.origin].append(block)
        return Taken(memories=1)

    def refuse(self, _origin: str, reason: str) -> None:
        """Nothing is to be refused here."""
        raise AssertionError(reason)


class Known:
    """All peers of all nodes, made once: a thousand nodes with a thousand peers each would be a million."""

    def __init__(self, many: int) -> None:
        self.identities = [Identity.of_seed(n.to_bytes(32, "big")) for n in range(many)]
        self.peers = [Peer(f"n{n}", identity.kid) for n, identity in enumerate(self.identities)]


def spread(many: int, seed: int = 1) -> float:
    """Return the messages per node from the moment of a change until every one of `many` nodes has it."""
    rng = random.Random(seed)
    known = Known(many)
    stores = [Memory() for _ in range(many)]
    nodes = [
        Node(store, identity, known.peers, now=START, options=Options(), rng=random.Random(rng.random()))
        for store, identity in zip(stores, known.identities, strict=True)
    ]
    where = {identity.kid: n for n, identity in enumerate(known.identities)}
    origin = known.identities[0]
    block = Block(origin.kid, 1, 1, b"a change")
    stores[0].take([block._replace(signature=origin.sign(block.signed))], Terms("own"))
    now, sent, waiting = START, 0, list[Send]()
    # No health checks and periodic digests: what is counted is what the change itself makes them say.
    waiting = nodes[0].tell(now)
    while any(not store.held for store in stores):
        now += STEP_MS
        sends, waiting = waiting, []
        sent += len(sends)
        for send in sends:
            waiting += nodes[where[send.kid]].receive(send.data, now)
        if not waiting:
            # What gossip by chance missed, the next period's digests bring.
            waiting = [send for node, store in zip(nodes, stores, strict=True) if store.held for send in node.tell(now)]
    return sent / many

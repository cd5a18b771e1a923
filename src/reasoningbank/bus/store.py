"""What a bank holds of all origins, for a node: the bank's own calls, with its key."""

from __future__ import annotations

from collections.abc import Sequence

from reasoningbank.bank import ReasoningBank
from reasoningbank.bus.intents import Signer
from reasoningbank.replication import Block, Taken, Terms


class BankStore:
    """A bank with its key. Its calls wait for the disk: an event loop calls them in a thread."""

    def __init__(self, bank: ReasoningBank, identity: Signer) -> None:
        self.bank, self._identity = bank, identity

    def capture(self) -> int:
        """Put what changed here into signed blocks; return how many changes that were."""
        return self.bank.replication.capture(self._identity.kid, self._identity.sign)

    def have(self) -> dict[str, int]:
        """Return how far everything of each origin is here."""
        return self.bank.replication.have()

    def blocks(self, origin: str, after: int, most: int) -> list[Block]:
        """Return the next blocks of an origin, up to `most`."""
        return self.bank.replication.blocks(origin, after, most=most)

    def ends(self, origin: str, change: int) -> str:
        """Return the hash of the block of an origin that ends with a change; "" when none does."""
        return self.bank.replication.ends(origin, change)

    def take(self, blocks: Sequence[Block], terms: Terms) -> Taken:
        """Take the first of some blocks of one origin; BusRefusedError when the very first is not to be taken."""
        return self.bank.replication.take(blocks, terms, self._identity.kid, self._identity.sign)

    def refuse(self, origin: str, reason: str) -> None:
        """Count a refusal."""
        self.bank.replication.refuse(origin, reason)

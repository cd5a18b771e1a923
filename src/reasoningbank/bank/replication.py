"""bank.replication: what banks that share no database tell one another; the bus carries it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.replication import Block, OriginStatus, Taken, Terms

if TYPE_CHECKING:
    from reasoningbank.services.replication import capture, standing, taking
else:
    capture, standing, taking = Later.each("reasoningbank.services.replication", "capture", "standing", "taking")


class Replication(Namespace):
    """Changes of this bank for others, and of others for this one. `reasoningbank.bus` does all of it over a network.

    A bank is an origin, named by its public key; its changes are numbered and signed in blocks, which are passed on as
    they are. Which blocks are here is a version vector: the newest change of each origin, with all before it.
    """

    def capture(self, kid: str, sign: Callable[[bytes], bytes]) -> int:
        """Put what changed here since the last time into signed blocks; return how many changes that were.

        Args:
            kid: the public key of this project, 64 hex digits; always the same.
            sign: gives the Ed25519 signature of 32 bytes.

        Raises:
            InvalidInputError: this project spoke with another key before, or the key is another bank's.
        """
        return capture.capture(self._engine, kid, sign)

    def have(self) -> dict[str, int]:
        """Return the newest change of each origin that is here with all before it, by the origin's key."""
        return standing.have(self._engine)

    def blocks(self, origin: str, after: int, *, most: int = 16) -> builtins.list[Block]:
        """Return the blocks of an origin with changes behind `after`, in order, up to `most`."""
        return standing.blocks(self._engine, origin, after, most)

    def ends(self, origin: str, change: int) -> str:
        """Return the hash, in hex, of the block of an origin that ends with a change; "" when none does.

        By it, a bank sees that others know other changes of its own under the same numbers: it was put back since.
        """
        return standing.ends(self._engine, origin, change)

    def take(self, blocks: Sequence[Block], terms: Terms, kid: str, sign: Callable[[bytes], bytes]) -> Taken:
        """Take the first of some blocks of another bank's, in one transaction; `Taken.blocks` says how many.

        Each of them is here whole then, or not at all. It stops before a block that is to be refused, and behind some
        200 changes: others wait meanwhile.

        Its lessons are scrubbed and inspected like any that are recorded, and are of the source `bus:NAME`. Whether the
        origin signed it is for the caller to check. A bank takes back its own blocks that it does not know, whatever
        the terms, as of the trusted source `bus:here`: it was put back to an earlier state, or is a copy. It goes on as
        another origin of its key then.

        Args:
            blocks: the blocks, of one origin and in order, at least one.
            terms: on which the origin's changes are taken.
            kid, sign: as for `capture`: what changed here meanwhile is captured first.

        Raises:
            BusRefusedError: the first is no block ("malformed"), does not follow what is here ("gap", "forked"), is of
                a time too far ahead ("clock"), of a blocked source ("blocked"), or more than a cap allows ("cap").
        """
        return taking.take(self._engine, blocks, terms, kid, sign)

    def refuse(self, origin: str, reason: str) -> None:
        """Count that something of an origin was refused today."""
        standing.refuse(self._engine, origin, reason)

    def heard(self, newest: Mapping[str, int]) -> None:
        """Note what peers told of the newest change of each origin: `status` says by it how far this bank is behind."""
        standing.heard(self._engine, newest)

    def status(self) -> builtins.list[OriginStatus]:
        """Say of each origin how far its changes are here, and what was taken from it and refused today."""
        return standing.status(self._engine)

"""What a bank lacks of what its peers have: which blocks it asks for, and which of those that came it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from operator import attrgetter
from typing import Protocol

from reasoningbank.bus import messages
from reasoningbank.bus.identity import verify
from reasoningbank.bus.intents import Refusal, permits
from reasoningbank.bus.messages import Digest
from reasoningbank.bus.trust import Peer
from reasoningbank.errors import BusRefusedError
from reasoningbank.replication import Block, Taken, Terms, key_of

_origin_of = attrgetter("origin")


class Store(Protocol):
    """What a bank holds of all origins."""

    def capture(self) -> int: ...
    def have(self) -> dict[str, int]: ...
    def blocks(self, origin: str, after: int, most: int) -> list[Block]: ...
    def ends(self, origin: str, change: int) -> str: ...
    def take(self, blocks: Sequence[Block], terms: Terms) -> Taken: ...
    def refuse(self, origin: str, reason: str) -> None: ...


@dataclass
class Came:
    """What became of blocks that came: whether any was new, what to ask their sender for now, and what was refused."""

    news: bool = False
    ask: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[str, BusRefusedError]] = field(default_factory=list)


class Reconciling:
    """One bank's side of it; `me` is its key, `taken` the number of changes that came so far."""

    def __init__(self, store: Store, me: str, peers: Mapping[str, Peer], pull_again_ms: int) -> None:
        self._store, self._me, self._peers, self._pull_again_ms = store, me, peers, pull_again_ms
        self.taken = 0
        self._pulling: dict[str, int] = {}
        self._theirs: dict[str, Digest] = {}

    def heads_of(self, kid: str, have: Mapping[str, int]) -> dict[str, str]:
        """Return the hashes of the newest blocks here that are of this key."""
        return {origin: self._store.ends(origin, newest) for origin, newest in have.items() if key_of(origin) == kid}

    def wanted(self, digest: Digest, have: Mapping[str, int], kid: str, now: int) -> dict[str, int]:
        """Return what to ask a peer for that has this: by origin, the change behind which it begins."""
        self._theirs[kid] = digest
        want = {
            origin: min(here, number - 1)
            for origin, number in digest.have.items()
            if (number > (here := have.get(origin, 0)) or self._is_others(digest, origin))
            and self._may_write(origin)
            and now >= self._pulling.get(origin, 0)
        }
        for origin in want:
            self._pulling[origin] = now + self._pull_again_ms
        return want

    def _is_others(self, digest: Digest, origin: str) -> bool:
        """Tell whether this bank never said what a peer has as its newest change of this bank's own."""
        number = digest.have[origin]
        if key_of(origin) != self._me or number == 0 or origin not in digest.heads:
            return False
        return self._store.ends(origin, number) != digest.heads[origin]

    def _may_write(self, origin: str) -> bool:
        key = key_of(origin)
        return key == self._me or (key in self._peers and permits(self._peers[key].scope, "write"))

    def found(self, want: Mapping[str, int]) -> list[Block]:
        """Return the next blocks of what a peer asks for, as many as one frame takes."""
        found: list[Block] = []
        # None waits for another's: blocks are small where a bank is written to all the time.
        share = max(1, messages.BLOCKS_LIMIT // max(1, len(want)))
        for origin, after in want.items():
            found += self._store.blocks(origin, after, share)
            if len(found) >= messages.BLOCKS_LIMIT:
                break
        return messages.fitting(found)

    def take(self, blocks: Iterable[Block], kid: str) -> Came:
        """Take what a peer sent."""
        came = Came()
        for origin, some in groupby(sorted(blocks, key=_origin_of), _origin_of):
            each = list(some)
            was_new = False
            try:
                for taken in self._take_of(origin, each):
                    was_new |= not taken.known
                    self._pulling.pop(origin, None)
            except BusRefusedError as error:
                came.refused.append((origin, error))
                if key_of(origin) == self._me and error.reason == Refusal.FORKED and each[0].first > 1:
                    came.ask[origin] = self._further_back(each[0])
            else:
                # From far back, all of it may be here still.
                if key_of(origin) == self._me and not was_new and each[-1].last < self._newest(kid, origin):
                    came.ask[origin] = each[-1].last
            came.news |= was_new
        return came

    def _further_back(self, block: Block) -> int:
        """Return where to look for the last change that this bank and others have in common: twice as far back."""
        here = self._store.have().get(block.origin, 0)
        return max(0, block.first - 1 - max(1, here - block.first + 1))

    def _newest(self, kid: str, origin: str) -> int:
        theirs = self._theirs.get(kid)
        return 0 if theirs is None else theirs.have.get(origin, 0)

    def _take_of(self, origin: str, blocks: Sequence[Block]) -> Iterator[Taken]:
        key = key_of(origin)
        # What a bank said itself it takes on its own terms.
        peer = Peer("own", key, trusted=True) if key == self._me else self._peers.get(key)
        if peer is None:
            raise BusRefusedError(Refusal.UNKNOWN_KEY, f"what key {key:.16}… says is not taken here")
        if not permits(peer.scope, "write"):
            raise BusRefusedError(Refusal.SCOPE, f"{peer.name} may read here, and not write")
        good = list(takewhile(lambda block: verify(key, block.signature, block.signed), blocks))
        left = good
        while left:
            taken = self._store.take(left, Terms(peer.name, peer.trusted, peer.caps))
            if not taken.known:
                self.taken += left[taken.blocks - 1].last - left[0].first + 1
            yield taken
            left = left[taken.blocks :]
        if len(good) < len(blocks):
            raise BusRefusedError(Refusal.BAD_SIGNATURE, f"{peer.name} did not sign what came as its own")

    # -- for people ------------------------------------------------------------------------------------------------

    def known_of(self) -> dict[str, int]:
        """Return the newest change of each origin that some peer told of."""
        newest: Counter[str] = Counter()
        for digest in self._theirs.values():
            newest |= Counter(digest.have)
        return dict(newest)

    def compared(self, kid: str, have: Mapping[str, int]) -> tuple[int, int, bool]:
        """Return how many changes are here, how many are with it and a peer, and whether both have all of them."""
        digest = self._theirs.get(kid)
        if digest is None:
            return sum(have.values()), sum(have.values()), False
        theirs = digest.have
        wanted = {origin: number for origin, number in theirs.items() if self._may_write(origin)} | {
            origin: max(number, theirs.get(origin, 0)) for origin, number in have.items()
        }
        is_done = all(have.get(o, 0) >= number and theirs.get(o, 0) >= number for o, number in wanted.items())
        is_done &= not any(self._is_others(digest, origin) for origin in theirs)
        return sum(have.values()), sum(wanted.values()), is_done

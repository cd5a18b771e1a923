"""Who of the trusted peers is there: alive, suspected, or taken for dead. No I/O and no clock."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# Periods without a word. A lost datagram is made good by QUIC, a lost frame by the next period.
SUSPECT_AFTER: Final = 3
DEAD_AFTER: Final = 12
DEAD_TRIED_EVERY: Final = 10  # one of the dead is asked again every so many periods: machines come back


class Health(StrEnum):
    """What is thought of a peer."""

    ALIVE = "alive"
    SUSPECT = "suspect"
    DEAD = "dead"


@dataclass
class Member:
    """A peer: when it was heard last (milliseconds; None for never), and when it was first waited for."""

    since: int
    heard: int | None = None
    address: str | None = None


class Members:
    """The peers of one bank, each by its key."""

    def __init__(self, period_ms: int, rng: random.Random) -> None:
        self._period, self._rng = period_ms, rng
        self._members: dict[str, Member] = {}
        self._ticks = 0

    def add(self, kid: str, now: int, address: str | None = None) -> None:
        """Know of a peer, and perhaps where it listens."""
        member = self._members.setdefault(kid, Member(now))
        member.address = address or member.address

    def __contains__(self, kid: str) -> bool:
        return kid in self._members

    def remove(self, kid: str) -> None:
        """Know of it no more."""
        self._members.pop(kid, None)

    def heard(self, kid: str, now: int) -> None:
        """Note a sign of life."""
        self._members.setdefault(kid, Member(now)).heard = now

    def health(self, kid: str, now: int) -> Health:
        """Say what is thought of a peer."""
        member = self._members[kid]
        periods = (now - (member.since if member.heard is None else member.heard)) / self._period
        if periods > DEAD_AFTER:
            return Health.DEAD
        return Health.SUSPECT if periods > SUSPECT_AFTER else Health.ALIVE

    def addresses(self) -> dict[str, str]:
        """Return where peers listen, as far as that is known."""
        return {kid: member.address for kid, member in self._members.items() if member.address}

    def some(self, many: int, now: int, but: Iterable[str] = ()) -> list[str]:
        """Return up to so many random peers that are not taken for dead."""
        left = set(but)
        there = [k for k in sorted(self._members) if k not in left and self.health(k, now) is not Health.DEAD]
        return self._rng.sample(there, min(many, len(there)))

    def to_ask(self, now: int) -> list[str]:
        """Return whom to ask in this period whether it is there: the suspected, and now and then one of the dead."""
        self._ticks += 1
        by_health: dict[Health, list[str]] = {health: [] for health in Health}
        for kid in sorted(self._members):
            by_health[self.health(kid, now)].append(kid)
        dead = by_health[Health.DEAD]
        tried = [self._rng.choice(dead)] if dead and self._ticks % DEAD_TRIED_EVERY == 0 else []
        return by_health[Health.SUSPECT] + tried

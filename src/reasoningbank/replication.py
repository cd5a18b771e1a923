"""What banks tell one another, as values: blocks of changes, clocks, and on which terms they are taken."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

__all__ = ["Block", "OriginStatus", "Taken", "Terms"]

CLOCK_AHEAD_MS: Final = 3_600_000  # further ahead, what was said would win over whatever others say for too long
HERE: Final = "here"
"""How a bank calls what is its own, that it had lost, and that came back."""
_COUNTER_DIGITS, _MS_DIGITS = 6, 13
_KEY_DIGITS = 64


class Block(NamedTuple):
    """Changes of one origin, numbered without a gap, as it signed them.

    Attributes:
        origin: the origin's public key, 64 hex digits; with a dot and 16 more of a bank that began anew.
        first, last: numbers of its first and last change; an origin's changes are numbered from 1.
        body: the changes, as docs/reference/bus-protocol.md has them.
        signature: Ed25519 by the origin over `signed`.
    """

    origin: str
    first: int
    last: int
    body: bytes
    signature: bytes = b""

    @property
    def key(self) -> str:
        """The public key by which the origin signed it."""
        return key_of(self.origin)

    @property
    def signed(self) -> bytes:
        """The 32 bytes that the origin signs, by which the next block names this one."""
        head = f"rb-block:{self.origin}:{self.first}:{self.last}:".encode()
        return hashlib.sha256(head + hashlib.sha256(self.body).digest()).digest()


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms an origin's changes are taken.

    Attributes:
        name: how the origin is called here: its memories and signals are of the source `bus:NAME`.
        trusted: whether they count as one's own.
        caps: the most that is taken in a UTC day of "memories", "signals" and "bytes"; what is not named has no cap.
    """

    name: str
    trusted: bool = False
    caps: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of blocks.

    Attributes:
        memories: memories that are new here, or say something else now, or are gone.
        signals: pieces of evidence.
        skipped: changes that could not be understood, and changed nothing.
        known: they were here before.
        blocks: how many of those that were given it is about, from the first one on.
    """

    memories: int = 0
    signals: int = 0
    skipped: int = 0
    known: bool = False
    blocks: int = 1


@dataclass(frozen=True, slots=True)
class OriginStatus:
    """What is here of one origin.

    Attributes:
        origin: its key; `name` what it is called here, "" for this bank itself.
        have: how many of its changes are here: from its first to its newest one here, without a gap.
        newest: how many there are, as some peer told.
        spent: what was taken from it today, by "memories", "signals" and "bytes".
        refused: how often it was refused today, by reason.
    """

    origin: str
    name: str
    have: int
    newest: int = 0
    spent: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)


def key_of(origin: str) -> str:
    """Return the public key of an origin: a bank that was put back to an earlier state goes on as another one."""
    return origin[:_KEY_DIGITS]


def begun_anew(key: str, at: int, chance: str, before: Iterable[str]) -> str:
    """Return the origin as which a bank goes on from a time in milliseconds: it sorts behind those that were before.

    `chance` is 4 hex digits, by which copies that begin anew in one moment differ.
    """
    latest = max((int(origin[_KEY_DIGITS + 1 : -4] or "0", 16) for origin in before), default=0)
    return f"{key}.{max(at, latest + 1):012x}{chance}"


def ticked(clock: str, now_ms: int) -> str:
    """Return a time of the hybrid logical clock after `clock` and not before `now_ms`; its texts sort as times do.

    Source: Kulkarni et al. 2014, "Logical Physical Clocks", with the counter in the text.
    """
    ms, _, counter = clock.partition(".")
    then, many = (int(ms), int(counter)) if clock else (0, 0)
    if now_ms > then:
        return written(now_ms, 0)
    return written(then, many + 1) if many + 1 < 10**_COUNTER_DIGITS else written(then + 1, 0)


def written(ms: int, counter: int) -> str:
    """Return a time of the clock as text of a fixed width."""
    return f"{ms:0{_MS_DIGITS}d}.{counter:0{_COUNTER_DIGITS}d}"


def is_clock(text: object) -> bool:
    """Tell whether this is a time of the clock."""
    if not isinstance(text, str) or len(text) != _MS_DIGITS + _COUNTER_DIGITS + 1:
        return False
    ms, dot, counter = text.partition(".")
    return dot == "." and ms.isascii() and ms.isdecimal() and counter.isascii() and counter.isdecimal()


def milliseconds(clock: str) -> int:
    """Return the physical part of a time of the clock, in milliseconds since 1970-01-01 UTC."""
    return int(clock.partition(".")[0])

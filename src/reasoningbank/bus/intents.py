"""Intents: who wants what of whom, signed over the payload too, and what is checked before anything is done.

Nothing here reads a clock: `now` is given, in milliseconds since 1970-01-01 UTC.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import heapq
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from reasoningbank.bus.frames import Frame, FrameType, Header
from reasoningbank.errors import BusRefusedError

TOO_OLD_MS: Final = 300_000
FUTURE_MS: Final = 30_000
NONCES_PER_KEY: Final = 20_000  # a frame every 15 ms for the whole window
_RANKS: Final = {"read": 1, "write": 2, "admin": 3}


class Refusal(StrEnum):
    """Why something that came was not done."""

    UNSIGNED = "unsigned"
    PAYLOAD_NOT_SIGNED = "payload_not_signed"
    UNKNOWN_KEY = "unknown_key"
    BAD_SIGNATURE = "bad_signature"
    NOT_FOR_US = "not_for_us"
    TOO_OLD = "too_old"
    FROM_THE_FUTURE = "from_the_future"
    REPLAYED = "replayed"
    TOO_MANY = "too_many"
    SCOPE = "scope"
    CAP = "cap"
    UNKNOWN_OPERATION = "unknown_operation"
    MALFORMED = "malformed"
    CLOCK = "clock"
    FORKED = "forked"
    GAP = "gap"
    BLOCKED = "blocked"
    EARLY = "early"


class Signer(Protocol):
    """A key of one's own."""

    @property
    def kid(self) -> str: ...
    def sign(self, message: bytes) -> bytes: ...


def permits(granted: str, needed: str) -> bool:
    """Tell whether a scope includes another: admin ⊃ write ⊃ read; one of another name includes itself only."""
    if granted in _RANKS and needed in _RANKS:
        return _RANKS[granted] >= _RANKS[needed]
    return granted == needed


def digest(header: Header, payload: bytes = b"", *, kind: int = 0, version: int = 1) -> bytes:
    """Return the 32 bytes that are signed.

    Version 1: SHA-256 of `kid:ts:nonce:scope:cap:op`, as published, which says nothing of the payload. Version 2:
    SHA-256 of a JSON array, which no colon in a field can shift, with the frame's type, its topic, whom it is for and
    the hash of its payload.
    """
    h = header
    if version == 1:
        fields = (h.kid, h.ts, h.nonce, h.scope, h.cap, h.op)
        return hashlib.sha256(":".join("" if field is None else str(field) for field in fields).encode()).digest()
    hashed = h.payload or hashlib.sha256(payload).hexdigest()
    said = ["rb2", kind, h.kid, h.ts, h.nonce, h.scope, h.cap, h.op, h.topic, h.aud, hashed]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()).digest()


def signed(signer: Signer, kind: FrameType, header: Header, payload: bytes = b"") -> Frame:
    """Return a version 2 frame of this key's, signed."""
    whole = header._replace(kid=signer.kid, payload=hashlib.sha256(payload).hexdigest())
    signature = signer.sign(digest(whole, payload, kind=kind, version=2))
    return Frame(kind, whole._replace(sig=base64.b64encode(signature).decode()), payload, 2)


class Grant(NamedTuple):
    """What a key may do: its scope, and a check of its signatures."""

    scope: str
    verify: Callable[[bytes, bytes], bool]


def check(frame: Frame, needed: str, *, of: Mapping[str, Grant], audience: str, window: Nonces, now: int) -> str:
    """Return the key that rightly asks for this; BusRefusedError, which carries the reason, when none does.

    A nonce is only noted for a frame that is all right otherwise: garbage cannot fill the window.
    """
    h = frame.header
    kid, grant = _check_signer(frame, of)
    if h.aud != audience:
        raise BusRefusedError(Refusal.NOT_FOR_US, f"{h.op!r:.40} is for another")
    _check_time(h, now)
    if not (permits(grant.scope, needed) and h.scope is not None and permits(h.scope, needed)):
        raise BusRefusedError(Refusal.SCOPE, f"{h.op!r:.40} needs the scope {needed}")
    if h.cap is not None and len(frame.payload) > h.cap:
        raise BusRefusedError(Refusal.CAP, f"{h.op!r:.40} carries more than its own cap of {h.cap:,} bytes")
    window.note(kid, h.nonce, h.ts, now)
    return kid


def check_reply(frame: Frame, *, of: Mapping[str, Grant], audience: str) -> str:
    """Return the key that rightly answers; BusRefusedError when none does.

    An answer names what it answers: that, and not the time, says that it is fresh. Clocks may well differ.
    """
    kid, _ = _check_signer(frame, of)
    if frame.header.aud != audience:
        raise BusRefusedError(Refusal.NOT_FOR_US, f"{frame.header.op!r:.40} is for another")
    return kid


def _check_signer(frame: Frame, of: Mapping[str, Grant]) -> tuple[str, Grant]:
    h = frame.header
    if h.kid is None or h.sig is None:
        raise BusRefusedError(Refusal.UNSIGNED, f"{h.op!r:.40} came unsigned")
    if frame.version < 2:
        raise BusRefusedError(Refusal.PAYLOAD_NOT_SIGNED, "a frame of version 1 has a signature without the payload")
    grant = of.get(h.kid)
    if grant is None:
        raise BusRefusedError(Refusal.UNKNOWN_KEY, f"key {h.kid:.16}… is not trusted here")
    _check_signature(frame, grant)
    return h.kid, grant


def _check_time(h: Header, now: int) -> None:
    if now - h.ts > TOO_OLD_MS:
        raise BusRefusedError(Refusal.TOO_OLD, f"{h.op!r:.40} is {(now - h.ts) / 1000:.0f} s old")
    if h.ts - now > FUTURE_MS:
        raise BusRefusedError(Refusal.FROM_THE_FUTURE, f"{h.op!r:.40} is {(h.ts - now) / 1000:.0f} s in the future")


def _check_signature(frame: Frame, grant: Grant) -> None:
    h = frame.header
    try:
        signature = base64.b64decode(h.sig or "", validate=True)
    except (binascii.Error, ValueError):
        signature = b""
    if h.payload != hashlib.sha256(frame.payload).hexdigest() or not grant.verify(
        signature, digest(h, frame.payload, kind=frame.type, version=2)
    ):
        raise BusRefusedError(Refusal.BAD_SIGNATURE, f"the signature of {h.op!r:.40} does not fit what it says")


class Nonces:
    """Which nonces were seen, each for as long as its frame would still be accepted.

    It is bounded for each key by refusing more: one that is forgotten early could be replayed. Nothing that was made
    before `since` is accepted, when this window did not exist yet.
    """

    def __init__(self, since: int = 0, most: int = NONCES_PER_KEY) -> None:
        self._since, self._most = since, most
        self._seen: dict[str, set[str]] = {}
        self._ends: list[tuple[int, str, str]] = []

    def note(self, kid: str, nonce: str, ts: int, now: int) -> None:
        """Note a nonce; BusRefusedError when it was seen, or no more can be noted now."""
        self._drop(now)
        seen = self._seen.setdefault(kid, set())
        if nonce in seen:
            raise BusRefusedError(Refusal.REPLAYED, f"nonce {nonce!r:.40} was seen before")
        if ts < self._since:
            raise BusRefusedError(Refusal.TOO_OLD, "it is older than this process, which cannot tell it from a replay")
        if len(seen) >= self._most:
            raise BusRefusedError(Refusal.TOO_MANY, f"{self._most:,} frames within {TOO_OLD_MS // 1000} s are the most")
        seen.add(nonce)
        heapq.heappush(self._ends, (ts + TOO_OLD_MS, kid, nonce))

    def _drop(self, now: int) -> None:
        while self._ends and self._ends[0][0] < now:
            _, kid, nonce = heapq.heappop(self._ends)
            self._seen[kid].discard(nonce)

    @property
    def kept(self) -> int:
        """How many nonces are noted."""
        return len(self._ends)

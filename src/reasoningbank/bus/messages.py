"""What the payloads of the bus's own operations hold; see docs/reference/bus-protocol.md."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from reasoningbank.bus.frames import FrameType, StreamRole
from reasoningbank.errors import BusProtocolError
from reasoningbank.replication import Block

ORIGINS_LIMIT: Final = 4_096
ADDRESSES_LIMIT: Final = 256
BLOCKS_LIMIT: Final = 64
BLOCKS_BYTES: Final = 900_000  # of the bodies in one frame: the heads beside them fit into what is left of 1 MiB
_KEY = re.compile(r"[0-9a-f]{64}")
_ORIGIN = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{16})?")
_BLOCK = struct.Struct(">32sQQQ64sI")
_MOST = 2**53


class Op(StrEnum):
    """The operations, by their names in a header."""

    DIGEST = "digest"
    PULL = "pull"
    BLOCKS = "blocks"
    PING = "ping"
    PONG = "pong"
    REFUSED = "refused"


class Rule(NamedTuple):
    """How an operation travels, the scope it needs, and whether a replay of it does nothing."""

    type: FrameType
    role: StreamRole
    scope: str
    replay_safe: bool


RULES: Final[dict[str, Rule]] = {
    Op.DIGEST: Rule(FrameType.GOSSIP, StreamRole.GOSSIP, "read", True),
    Op.PULL: Rule(FrameType.GOSSIP, StreamRole.GOSSIP, "read", True),
    Op.BLOCKS: Rule(FrameType.SNAPSHOT, StreamRole.SNAPSHOT, "write", False),
    Op.PING: Rule(FrameType.TELEMETRY, StreamRole.TELEMETRY, "read", True),
    Op.PONG: Rule(FrameType.TELEMETRY, StreamRole.TELEMETRY, "read", True),
    Op.REFUSED: Rule(FrameType.RESPONSE, StreamRole.TELEMETRY, "read", True),
}


class Digest(NamedTuple):
    """How far a bank has everything of each origin, and where others listen; a reply asks for none in return.

    `heads` are, of whoever it is for, the hashes of the newest blocks: it sees by them whether they are its own.
    """

    have: Mapping[str, int]
    addresses: Mapping[str, str]
    is_reply: bool = False
    heads: Mapping[str, str] = MappingProxyType({})


class Refused(NamedTuple):
    """That a frame was refused: which one, why, and what the clock there says."""

    nonce: str
    reason: str
    now: int


def digest_payload(digest: Digest) -> bytes:
    """Return a digest as a payload."""
    addresses = dict(sorted(digest.addresses.items())[:ADDRESSES_LIMIT])
    said = {"have": dict(digest.have), "addresses": addresses, "reply": digest.is_reply, "heads": dict(digest.heads)}
    return _json(said)


def read_digest(payload: bytes) -> Digest:
    """Read a digest; BusProtocolError when it is none."""
    said = _object(payload)
    have, addresses = _numbers(said.get("have")), said.get("addresses")
    if not isinstance(addresses, dict) or len(addresses) > ADDRESSES_LIMIT:
        raise BusProtocolError("the addresses of a digest are no object, or too many")
    for key, address in addresses.items():
        if not (_KEY.fullmatch(key) and isinstance(address, str) and len(address) <= 300 and address.isprintable()):
            raise BusProtocolError("an address of a digest is none")
    heads = said.get("heads", {})
    if not isinstance(heads, dict) or not all(origin in have and isinstance(heads[origin], str) for origin in heads):
        raise BusProtocolError("a head of a digest is none")
    return Digest(have, addresses, said.get("reply") is True, heads)


def pull_payload(want: Mapping[str, int]) -> bytes:
    """Return what is wanted as a payload: by origin, the change behind which it begins."""
    return _json({"want": dict(want)})


def read_pull(payload: bytes) -> dict[str, int]:
    """Read what is wanted; BusProtocolError when it is nothing of the kind."""
    return _numbers(_object(payload).get("want"))


def refused_payload(refused: Refused) -> bytes:
    """Return a refusal as a payload."""
    return _json({"nonce": refused.nonce, "reason": refused.reason, "now": refused.now})


def read_refused(payload: bytes) -> Refused:
    """Read a refusal; BusProtocolError when it is none."""
    said = _object(payload)
    nonce, reason, now = said.get("nonce"), said.get("reason"), said.get("now")
    if not (isinstance(nonce, str) and isinstance(reason, str) and type(now) is int and 0 <= now < _MOST):
        raise BusProtocolError("a refusal does not say what was refused, and why")
    return Refused(nonce, reason[:40], now)


def blocks_payload(blocks: Sequence[Block]) -> bytes:
    """Return blocks as a payload: of each its origin, first and last change, signature, length and body."""
    return b"".join(
        _BLOCK.pack(bytes.fromhex(b.key), _anew(b.origin), b.first, b.last, b.signature, len(b.body)) + b.body
        for b in blocks
    )


def _anew(origin: str) -> int:
    """Return the number behind an origin's key: 0 of a bank that never began anew."""
    return int(origin.partition(".")[2] or "0", 16)


def read_blocks(payload: bytes) -> list[Block]:
    """Read blocks; BusProtocolError when they are none. Their signatures are not checked here."""
    blocks: list[Block] = []
    start = 0
    while start < len(payload):
        if len(payload) - start < _BLOCK.size or len(blocks) >= BLOCKS_LIMIT:
            raise BusProtocolError("a block is cut short, or there are too many")
        key, anew, first, last, signature, length = _BLOCK.unpack_from(payload, start)
        start += _BLOCK.size
        if len(payload) - start < length or not 1 <= first <= last < _MOST:
            raise BusProtocolError("a block is cut short, or its numbers are none")
        origin = f"{key.hex()}.{anew:016x}" if anew else key.hex()
        blocks.append(Block(origin, first, last, payload[start : start + length], signature))
        start += length
    return blocks


def fitting(blocks: Sequence[Block]) -> list[Block]:
    """Return as many of the first blocks as one frame takes, at least one."""
    size, fit = 0, list[Block]()
    for block in blocks[:BLOCKS_LIMIT]:
        size += len(block.body)
        if fit and size > BLOCKS_BYTES:
            break
        fit.append(block)
    return fit


def _json(said: dict[str, Any]) -> bytes:
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode()


def _object(payload: bytes) -> dict[str, Any]:
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        raise BusProtocolError("a payload is not JSON") from None
    if not isinstance(said, dict):
        raise BusProtocolError("a payload is not a JSON object")
    return said


def _numbers(said: Any) -> dict[str, int]:
    if not isinstance(said, dict) or len(said) > ORIGINS_LIMIT:
        raise BusProtocolError("it does not say how far it has each origin, or of too many")
    for key, number in said.items():
        if not _ORIGIN.fullmatch(key) or type(number) is not int or not 0 <= number < _MOST:
            raise BusProtocolError("an origin is no key, or its number is none")
    return said

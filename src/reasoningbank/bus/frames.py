"""Frames: an 11-byte head, a JSON header, a payload. Bytes in, frames out; no I/O and no clock.

    version u16 | type u8 | header length u32 | payload length u32    big-endian
    header      JSON object, UTF-8, the keys of `Header` in their order, those that are not set left out
    payload     bytes

Version 1 is the published one. Version 2 has two more header keys (`aud`, `payload`), by which a signature covers who
the frame is for and what it carries. docs/reference/bus-protocol.md has both.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection
from enum import IntEnum
from typing import Any, Final, NamedTuple

from reasoningbank.errors import BusProtocolError

HEAD: Final = struct.Struct(">HBII")
VERSIONS: Final = (1, 2)
HEADER_LIMIT: Final = 16 * 1024
PAYLOAD_LIMIT: Final = 1024 * 1024
LARGEST: Final = HEAD.size + HEADER_LIMIT + PAYLOAD_LIMIT
_MOST = 2**63 - 1


class FrameType(IntEnum):
    """What a frame is, by its published number."""

    CONTROL = 0
    REQUEST = 1
    RESPONSE = 2
    GOSSIP = 3
    SNAPSHOT = 4
    TELEMETRY = 5
    TOKEN = 6
    TRACE = 7
    RUBRIC = 8
    VERIFY = 9

    @property
    def is_mutating(self) -> bool:
        """Whether such a frame may change the one who gets it: then it must be signed."""
        return self in _MUTATING


_MUTATING = frozenset({FrameType.CONTROL, FrameType.REQUEST, FrameType.SNAPSHOT})


class StreamRole(IntEnum):
    """What a stream is for, by its published number."""

    CONTROL = 0
    REQUESTS = 1
    GOSSIP = 2
    SNAPSHOT = 3
    TELEMETRY = 4
    REASONING_TOKENS = 5
    TRACES = 6
    RUBRICS = 7
    VERIFY = 8

    @property
    def scope(self) -> str:
        """The scope that a peer needs to send on it."""
        return "write" if self in _WRITING else "read"


_WRITING = frozenset({StreamRole.CONTROL, StreamRole.REQUESTS, StreamRole.SNAPSHOT})


class Header(NamedTuple):
    """What a frame says of itself; a text of None is left out.

    Attributes:
        op: what is asked for or told.
        ts: when, in milliseconds since 1970-01-01 UTC.
        nonce: said once by this key within the window.
        kid: the key that signed, as the hex of its 32 public bytes.
        scope: what the signer claims the right to.
        cap: the most that the frame may cost, in bytes of payload.
        sig: the signature, base64.
        topic: what it is about.
        aud: the key it is for (version 2).
        payload: the SHA-256 of the payload, hex (version 2).
    """

    op: str
    ts: int
    nonce: str
    kid: str | None = None
    scope: str | None = None
    cap: int | None = None
    sig: str | None = None
    topic: str | None = None
    aud: str | None = None
    payload: str | None = None


class Frame(NamedTuple):
    """One frame; `version` is also its header's."""

    type: FrameType
    header: Header
    payload: bytes = b""
    version: int = 1


_TYPES: dict[int, FrameType] = {int(each): each for each in FrameType}
_ENCODE = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def encode(frame: Frame) -> bytes:
    """Return a frame as bytes; BusProtocolError when it is over a limit."""
    kind, h, payload, version = frame
    said: dict[str, Any] = {
        "kid": h.kid, "ts": h.ts, "nonce": h.nonce, "scope": h.scope, "cap": h.cap, "sig": h.sig, "op": h.op,
        "topic": h.topic, "version": version,
    }  # fmt: skip
    if version > 1:
        said |= {"aud": h.aud, "payload": h.payload}
    try:
        header = _ENCODE({key: value for key, value in said.items() if value is not None}).encode()
    except UnicodeEncodeError:
        raise BusProtocolError("a header holds half a surrogate pair") from None
    _check(version, len(header), len(payload), VERSIONS)
    return HEAD.pack(version, kind, len(header), len(payload)) + header + payload


def decode(data: bytes, versions: Collection[int] = VERSIONS) -> Frame:
    """Return the one frame that `data` is; BusProtocolError when it is none, is cut short, or something stands behind.

    `versions` are those that are understood.
    """
    frame, end = _first(data, 0, versions)
    if frame is None:
        raise BusProtocolError(f"a frame is cut short: {len(data)} bytes")
    if end != len(data):
        raise BusProtocolError(f"{len(data) - end} bytes stand behind a frame")
    return frame


class Decoder:
    """Frames out of a stream of bytes. It holds one frame of the largest size at the most, and what was fed last."""

    def __init__(self, versions: Collection[int] = VERSIONS) -> None:
        self._left, self._versions = bytearray(), versions

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes and return the frames that are whole by now; BusProtocolError as soon as they cannot be any."""
        self._left += data
        frames, start = [], 0
        while True:
            frame, end = _first(self._left, start, self._versions)
            if frame is None:
                break
            frames.append(frame)
            start = end
        del self._left[:start]
        return frames

    @property
    def is_between_frames(self) -> bool:
        """Whether a stream may end here."""
        return not self._left


def _first(data: bytes | bytearray, start: int, versions: Collection[int]) -> tuple[Frame | None, int]:
    """Return the frame at `start` and its end; None when it is not whole yet. Lengths are checked before any byte."""
    if len(data) - start < HEAD.size:
        return None, start
    version, kind, header, payload = HEAD.unpack_from(data, start)
    _check(version, header, payload, versions)
    if (named := _TYPES.get(kind)) is None:
        raise BusProtocolError(f"frame type {kind} is not one of 0 to {len(_TYPES) - 1}")
    middle = start + HEAD.size + header
    end = middle + payload
    if len(data) < end:
        return None, start
    said = _header(bytes(data[start + HEAD.size : middle]), version)
    return Frame(named, said, bytes(data[middle:end]), version), end


def _check(version: int, header: int, payload: int, versions: Collection[int]) -> None:
    if version not in versions:
        raise BusProtocolError(f"frame version {version} is not one of {', '.join(map(str, versions))}")
    if header > HEADER_LIMIT:
        raise BusProtocolError(f"a header of {header:,} bytes is over the limit of {HEADER_LIMIT:,}")
    if payload > PAYLOAD_LIMIT:
        raise BusProtocolError(f"a payload of {payload:,} bytes is over the limit of {PAYLOAD_LIMIT:,}")


_KEYS = {
    1: frozenset({"kid", "ts", "nonce", "scope", "cap", "sig", "op", "topic", "version"}),
    2: frozenset({"kid", "ts", "nonce", "scope", "cap", "sig", "op", "topic", "version", "aud", "payload"}),
}
_LOADED = json.JSONDecoder().decode


def _header(raw: bytes, version: int) -> Header:
    try:
        said = _LOADED(raw.decode())
    except (ValueError, RecursionError):
        raise BusProtocolError("a header is not JSON") from None
    if not isinstance(said, dict):
        raise BusProtocolError("a header is not a JSON object")
    if unknown := said.keys() - _KEYS[version]:
        raise BusProtocolError(f"a header of version {version} has no key {min(unknown)!r:.80}")
    number = said.pop("version", None)
    if number != version or isinstance(number, bool):
        raise BusProtocolError(f"a header says version {number!r:.20} in a frame of version {version}")
    for key in ("op", "ts", "nonce"):
        if key not in said:
            raise BusProtocolError(f"a header has no {key}")
    for key, value in said.items():
        _check_value(key, value)
    return Header(**said)


def _check_value(key: str, value: object) -> None:
    if key in ("ts", "cap"):
        if type(value) is not int or not 0 <= value <= _MOST:
            raise BusProtocolError(f"{key} in a header is not a whole number from 0 to 2^63 - 1")
    elif type(value) is not str:
        raise BusProtocolError(f"{key} in a header is not a text")
    elif not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BusProtocolError(f"{key} in a header holds half a surrogate pair") from None

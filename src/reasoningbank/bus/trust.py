"""Whom a bank listens to: peers by their keys, with what each may do and how much of it a day."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from reasoningbank.bus.identity import checked_key, checked_name
from reasoningbank.errors import BusError, InvalidInputError
from reasoningbank.replication import HERE

COUNTED: Final = ("memories", "signals", "bytes")
_CAP = re.compile(r"(memories|signals|bytes)=(\d{1,15})(KB|MB|GB|)/day")
_UNITS = {"": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3}
_SCOPES = ("read", "write", "admin")


@dataclass(frozen=True, slots=True)
class Peer:
    """One that is trusted to take part.

    Attributes:
        name: how it is called here; what it brings is of the source `bus:NAME`.
        key: its public key, 64 hex digits.
        scope: "read" (it may have what this bank knows), "write" (and give it what it knows), or "admin".
        caps: the most that is taken from it in a UTC day, of memories, signals and bytes; what is not named has no cap.
        trusted: whether what it brings counts as one's own; else it can take one slot of a result.
        address: where it listens, as host:port, if that is known.
    """

    name: str
    key: str
    scope: str = "write"
    caps: dict[str, int] = field(default_factory=dict)
    trusted: bool = False
    address: str | None = None

    def __post_init__(self) -> None:
        checked_name(self.name)
        checked_key(self.key)
        if self.name == HERE:
            raise InvalidInputError(f"{HERE!r} is what a bank calls itself: give the peer another name")
        if self.scope not in _SCOPES:
            raise InvalidInputError(f"scope {self.scope!r:.40} is not one of {', '.join(_SCOPES)}")


def read_caps(text: str) -> dict[str, int]:
    """Read caps as `memories=500/day,signals=20000/day,bytes=50MB/day`; InvalidInputError when they are none."""
    caps = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        found = _CAP.fullmatch(part)
        if found is None:
            raise InvalidInputError(
                f"cap {part!r:.60} is not of the form memories=500/day, signals=… or bytes=50MB/day"
            )
        caps[found[1]] = int(found[2]) * _UNITS[found[3]]
    return caps


def cap_text(caps: dict[str, int]) -> str:
    """Write caps as `read_caps` reads them."""
    return ",".join(f"{name}={caps[name]}/day" for name in COUNTED if name in caps)


class TrustFile:
    """The peers of one user, in a JSON file that appears whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def peers(self) -> list[Peer]:
        """Return them by name; none when there is no file. BusError when it cannot be read."""
        try:
            written = self.path.read_text("utf-8")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BusError(f"{self.path} cannot be read: {error.strerror}") from None
        try:
            return sorted((Peer(**each) for each in json.loads(written)["peers"]), key=lambda peer: peer.name)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BusError(
                f"{self.path} is no list of peers ({error}): mend it, or delete it and add them again"
            ) from None

    def add(self, peer: Peer) -> bool:
        """Trust a peer, or change what is known of it; tell whether it is new.

        InvalidInputError when the name is another key's: what that one brought bears it.
        """
        peers = {each.key: each for each in self.peers()}
        taken = next((each for each in peers.values() if each.name == peer.name and each.key != peer.key), None)
        if taken is not None:
            raise InvalidInputError(f"{peer.name!r} is the name of another key: remove it first, or give another name")
        is_new = peer.key not in peers
        known = peers.get(peer.key)
        if known is not None and known.name != peer.name:
            raise InvalidInputError(f"this key is called {known.name!r} here, and what it brought bears that name")
        self._write([*(peers | {peer.key: replace(peer, key=checked_key(peer.key))}).values()])
        return is_new

    def remove(self, name: str) -> Peer:
        """Trust a peer no more, and return it; InvalidInputError when there is none of that name."""
        peers = self.peers()
        gone = next((each for each in peers if each.name == name), None)
        if gone is None:
            there = ", ".join(each.name for each in peers) or "none"
            raise InvalidInputError(f"no peer is called {name!r:.60}; there are: {there}")
        self._write([each for each in peers if each is not gone])
        return gone

    def _write(self, peers: list[Peer]) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = self.path.with_suffix(f".{os.getpid()}.new")
        with aside.open("w", encoding="utf-8") as file:
            json.dump({"version": 1, "peers": [_record(peer) for peer in peers]}, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.path)


def _record(peer: Peer) -> dict[str, Any]:
    return {name: getattr(peer, name) for name in Peer.__dataclass_fields__}

"""Changes as they stand in a block, checked one by one: what cannot be understood changes nothing."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from reasoningbank.arguments import memory_id as checked_id
from reasoningbank.belief.averaged import is_plausible
from reasoningbank.belief.calibrated import Parameters
from reasoningbank.diagnostics import mentioned, written
from reasoningbank.errors import BusRefusedError, InvalidInputError
from reasoningbank.identity import identity
from reasoningbank.links import TYPES
from reasoningbank.memory import CONFIDENCE_BY_HAND, Draft, Memory, Source
from reasoningbank.replication import Block, is_clock
from reasoningbank.signals import SignalKind, parse_time, time_text
from reasoningbank.storage.replica import CHANGES_LIMIT
from reasoningbank.storage.replica_evidence import Piece
from reasoningbank.validation import validated

VERSION: Final = 1
BODY_LIMIT: Final = 768 * 1024  # of a block, packed: two of them and their heads are over what a frame takes
UNPACKED_LIMIT: Final = 8 * 1024 * 1024
PIECES_LIMIT: Final = 2_000
MOST_WEIGHT: Final = 10**15  # a thousand million signals, in millionths
_ID = re.compile(r"[0-9a-f]{32}|s[0-9a-f]{31}")
_SAID = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{64}")
_LAST_DAY: Final = 3_000_000


class MemoryChange(NamedTuple):
    """What a memory says from now on; a body of None deletes it."""

    clock: str
    id: str
    body: dict[str, Any] | None


class StateChange(NamedTuple):
    """Whether a memory is out of service, why, and the memory that it was merged into."""

    clock: str
    id: str
    archived: bool
    why: str
    into: str


class LinkChange(NamedTuple):
    """A link from now on; a body of None removes it."""

    clock: str
    source: str
    target: str
    type: str
    body: dict[str, Any] | None


class EvidenceChange(NamedTuple):
    """Evidence about what a memory says."""

    id: str
    said: bytes
    pieces: tuple[Piece, ...]


class FitChange(NamedTuple):
    """What its origin fitted the confidence model's parameters to be."""

    clock: str
    parameters: Parameters


class GivenUpChange(NamedTuple):
    """Blocks of what its bank spoke as before, by their first change: they hold no more, and are told again."""

    origin: str
    blocks: tuple[tuple[int, str], ...]


Change: TypeAlias = MemoryChange | StateChange | LinkChange | EvidenceChange | FitChange | GivenUpChange


# -- a block -------------------------------------------------------------------------------------------------------


def pack(previous: bytes, changes: Sequence[Sequence[Any]]) -> bytes:
    """Return the body of a block of changes behind the one that `previous` is the hash of."""
    said = {"v": VERSION, "prev": previous.hex(), "changes": changes}
    return zlib.compress(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode(), 6)


def unpack(block: Block) -> tuple[bytes, list[Change | None]]:
    """Return the hash of the block before, and the changes, None for one that cannot be understood.

    BusRefusedError when it is no block.
    """
    previous, told = opened(block)
    return previous, [_read(change) for change in told]


def opened(block: Block) -> tuple[bytes, list[Any]]:
    """Return the hash of the block before, and the changes as they stand there; BusRefusedError when it is no block."""
    try:
        if len(block.body) > BODY_LIMIT:
            raise ValueError("it is too long")
        unpacking = zlib.decompressobj()
        raw = unpacking.decompress(block.body, UNPACKED_LIMIT)
        if not unpacking.eof or unpacking.unused_data:
            raise ValueError("it is too long, or cut short")
        said = json.loads(raw)
        if said["v"] != VERSION:
            raise ValueError("it is of another version")
        changes = said["changes"]
        if not isinstance(changes, list) or not 1 <= len(changes) == block.last - block.first + 1 <= CHANGES_LIMIT:
            raise ValueError("it does not hold the changes that it says")
        return bytes.fromhex(said["prev"]), changes
    except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
        raise BusRefusedError("malformed", f"what came of {block.origin:.16}… is no block: {error}") from None


def _read(change: Any) -> Change | None:
    try:
        kind, *fields = change
        return _READERS[kind](*fields)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _must(holds: object) -> None:
    if not holds:
        raise ValueError


def _clock(clock: Any) -> str:
    _must(is_clock(clock))
    return str(clock)


def _text(text: Any, limit: int) -> str:
    _must(isinstance(text, str) and len(text) <= limit)
    text.encode()
    return str(text)


def _read_memory(clock: Any, memory_id: Any, body: Any) -> MemoryChange:
    _must(body is None or isinstance(body, dict))
    return MemoryChange(_clock(clock), checked_id(_text(memory_id, 200)), body)


def _read_state(clock: Any, memory_id: Any, archived: Any, why: Any, into: Any) -> StateChange:
    _must(isinstance(archived, bool))
    return StateChange(_clock(clock), checked_id(_text(memory_id, 200)), archived, _text(why, 1_500), _text(into, 200))


def _read_link(clock: Any, source: Any, target: Any, type_: Any, body: Any) -> LinkChange:
    _must(type_ in TYPES and source != target)
    if body is not None:
        strength = body["strength"]
        _must(isinstance(strength, (int, float)) and not isinstance(strength, bool) and 0.0 <= strength <= 1.0)
        at = time_text(parse_time(_text(body["at"], 40)))
        body = {
            "strength": float(strength), "evidence": _text(body["evidence"], 20_000), "by": _text(body["by"], 200),
            "at": at,
        }  # fmt: skip
    return LinkChange(_clock(clock), _text(source, 200), _text(target, 200), str(type_), body)


def _read_evidence(memory_id: Any, said: Any, pieces: Any) -> EvidenceChange:
    _must(isinstance(said, str) and _SAID.fullmatch(said))
    _must(isinstance(pieces, list) and 1 <= len(pieces) <= PIECES_LIMIT)
    return EvidenceChange(checked_id(_text(memory_id, 200)), bytes.fromhex(said), tuple(map(_read_piece, pieces)))


def _read_piece(piece: Any) -> Piece:
    name, kind, day, judge, superseded, positive, negative, last, validates = piece
    _must(isinstance(name, str) and _ID.fullmatch(name))
    # A signal weighs up to one, for or against; only a sum may weigh more.
    most = MOST_WEIGHT if name.startswith("s") else 1_000_000
    for number, limit in ((day, _LAST_DAY), (superseded, 1), (positive, most), (negative, most)):
        _must(type(number) is int and 0 <= number <= limit)
    _must(name.startswith("s") or not (positive and negative))
    _must(isinstance(validates, list) and len(validates) <= len(SignalKind))
    taught = json.dumps([SignalKind(each).value for each in validates])
    last = time_text(parse_time(_text(last, 40)))
    return Piece(name, SignalKind(kind).value, day, _text(judge, 1_000), superseded, positive, negative, last, taught)


def _read_fit(clock: Any, record: Any) -> FitChange:
    _must(isinstance(record, dict))
    found = Parameters.of({name: value for name, value in record.items() if name not in ("harms", "harmful")})
    _must(is_plausible(found) and all(len(name) <= 1_000 for name, _ in (*found.judges, *found.reporters)))
    return FitChange(_clock(clock), found)


def _read_given_up(origin: Any, blocks: Any) -> GivenUpChange:
    _must(isinstance(blocks, list) and 1 <= len(blocks) <= CHANGES_LIMIT)
    for first, signed in blocks:
        _must(type(first) is int and first >= 1 and isinstance(signed, str) and _HASH.fullmatch(signed))
    return GivenUpChange(_text(origin, 100), tuple((first, signed) for first, signed in blocks))


_READERS: Final[dict[str, Callable[..., Change]]] = {
    "m": _read_memory,
    "s": _read_state,
    "l": _read_link,
    "e": _read_evidence,
    "f": _read_fit,
    "g": _read_given_up,
}


def clocks(understood: Sequence[Change | None]) -> list[str]:
    """Return the times of changes that have one."""
    return [each.clock for each in understood if isinstance(each, (MemoryChange, StateChange, LinkChange, FitChange))]


def piece_fields(piece: Piece) -> list[Any]:
    """Return a piece as it stands in a block."""
    return [*piece[:-1], json.loads(piece.validates)]


# -- what a memory says --------------------------------------------------------------------------------------------

_SHARED: Final = ("title", "content", "description", "applies_when", "tags", "metadata")
_NAMING: Final = ("title", "description", "applies_when", "content")


def body_of(memory: Memory) -> dict[str, Any]:
    """Return what of a memory is told to others: what it says, and what it started from; not who brought it."""
    body: dict[str, Any] = {name: getattr(memory, name) for name in _SHARED}
    body |= {"outcome": memory.outcome.value, "confidence": memory.initial_confidence}
    body |= {name: _time(getattr(memory, name)) for name in ("occurred_at", "expires_at", "created_at")}
    # Those that come of its text come of it again.
    if memory.signatures != tuple(map(written, mentioned(*(getattr(memory, name) for name in _NAMING)))):
        body["signatures"] = memory.signatures
    return {key: value for key, value in body.items() if value not in (None, "", (), {})}


def _time(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def hash_of(body: dict[str, Any]) -> str:
    """Return a hash by which one sees that a memory was changed; when it was recorded is no change."""
    said = {key: value for key, value in body.items() if key != "created_at"}
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def said_by(body: dict[str, Any]) -> bytes:
    """Return the 16 bytes that stand for what a body says: evidence is about that."""
    texts = (body.get(name, "") for name in ("title", "content", "description", "applies_when"))
    return identity(*texts, body.get("outcome", ""))


def draft_of(body: dict[str, Any], source: Source) -> tuple[Draft, datetime | None]:
    """Return a body as a draft of this source, and when it was recorded where it comes from.

    InvalidInputError when it is none. One that is not trusted starts from no more than what is recorded by hand does.
    """
    known = {key: value for key, value in body.items() if key in Draft.model_fields and key != "source"}
    draft = validated(Draft, known | {"source": source})
    if draft.confidence is None:
        raise InvalidInputError("a lesson from a peer says nothing of the confidence that it started from")
    if not source.trusted and draft.confidence > CONFIDENCE_BY_HAND:
        draft = draft.model_copy(update={"confidence": CONFIDENCE_BY_HAND})
    created = body.get("created_at")
    return draft, None if created is None else parse_time(str(created))

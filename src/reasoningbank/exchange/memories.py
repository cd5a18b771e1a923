"""The exchange format: a memory as a JSON object on a line, written by export and read by import.

What is read may come from anywhere: it is text and numbers to be checked, never an instruction. Lines of other tools
are read as far as they name a text; what else they say becomes metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reasoningbank import moments
from reasoningbank.errors import InvalidInputError
from reasoningbank.exchange.history import SaidBefore, read_history
from reasoningbank.exchange.others import read_outcome, source_time, votes_of
from reasoningbank.exchange.own import (
    FORMAT,
    IMPORTED,
    is_own,
    objects,
    read_archived,
    read_names,
    read_state,
    read_tally,
    read_taught,
    read_time,
    tally_object,
)
from reasoningbank.links import ExportedLink, from_object
from reasoningbank.memory import DESCRIPTION_LIMIT, TITLE_LIMIT, Draft, Memory, Source, State, clean_text, is_blank
from reasoningbank.signals import SignalKind, Tally, time_text
from reasoningbank.validation import validated

# A title that is derived from the text is cut at a word before this.
DERIVED_TITLE = 80

# What has a limit of its own, far below that of the content.
LIMITS = {"title": TITLE_LIMIT, "description": DESCRIPTION_LIMIT, "applies_when": DESCRIPTION_LIMIT}

# When it happened, and until when it is served; `ttl` counts from the import.
TIMES = ("occurred_at", "expires_at", "ttl")

# Under which name a field may stand, the first one that is there counts: ours, then those of other tools.
NAMES: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("title", "description", "outcome", "tags", "id", "metadata", *TIMES)},
    "content": ("content", "text", "lesson", "rule", "insight", "note"),
    "applies_when": ("applies_when", "when_to_use"),
}
FIELDS = frozenset(name for names in NAMES.values() for name in names)
ALIASES = frozenset({"lesson", "rule", "insight", "note"})
# What only runs have.
RUN_KEYS = frozenset({"messages", "steps", "trajectory", "role", "actions", "loglines"})

# What a line of our own format says beside the draft. In any other line these are metadata like every unknown key.
OF_THE_BANK = frozenset({"taught", "parameters", "forgotten"})
OF_A_MEMORY = {"confidence", "initial_confidence", "usage_count", "last_used", "findings", "archived"}
OF_A_MEMORY |= {"links", "signatures", "pins", "history", "merged_into"}
OWN = OF_THE_BANK | OF_A_MEMORY | {"format", "state", "source", "created_at", "updated_at", "evidence"}


@dataclass(frozen=True, slots=True)
class Incoming:
    """One line as it is to be stored.

    Attributes:
        line: its number, from 1.
        memory_id: the id it is to have; None for a new one.
        state: to store it in; None leaves that to the guard.
        before: the state that an archived memory goes back to; None leaves that to the guard.
        why: the reason for which it is archived.
        tallies: its evidence.
        links: those from it.
        pins: tags under which it is pinned; "" for always.
        history: what it said before it was changed, the first first.
        merged_into: id of the memory that its evidence counts for.
        votes: how often whoever kept it found it helpful and harmful.
        taught: how often votes confirmed and refuted each kind of evidence, in the bank it came from.
        blocked: the sources that are blocked there.
        parameters: those that the confidence model had there; not looked at yet.
    """

    line: int
    draft: Draft
    memory_id: str | None = None
    state: State | None = None
    before: State | None = None
    why: str = IMPORTED
    created_at: datetime | None = None
    updated_at: datetime | None = None
    tallies: tuple[Tally, ...] = ()
    links: tuple[ExportedLink, ...] = ()
    pins: tuple[str, ...] = ()
    history: tuple[SaidBefore, ...] = ()
    merged_into: str | None = None
    votes: tuple[int, int] = (0, 0)
    taught: tuple[tuple[SignalKind, int, int], ...] = ()
    blocked: tuple[str, ...] = ()
    parameters: Any = None


def parse(line: object) -> dict[str, Any]:
    """Read one line as a JSON object; InvalidInputError, which says why, when it is none."""
    if isinstance(line, Mapping):
        return dict(line)
    if not isinstance(line, (str, bytes)):
        raise InvalidInputError(f"not a line of JSON but a {type(line).__name__}")
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    try:
        # NaN and the infinities are no JSON, yet Python writes them.
        record = json.loads(text.lstrip("\ufeff"), parse_constant=lambda _: None)
    except ValueError as error:
        raise InvalidInputError(f"not JSON ({error})") from None
    except RecursionError:
        raise InvalidInputError("nested too deeply") from None
    if not isinstance(record, dict):
        raise InvalidInputError(f"not a JSON object but a {type(record).__name__}")
    return record


def incoming(number: int, record: Mapping[str, Any], *, trusted: bool, by: str | None, now: datetime) -> Incoming:
    """Return what a line's object is to be stored as.

    Args:
        number: the line's.
        trusted: serve it without the cap on untrusted sources and, from our own format, take over source, confidence,
            times, state and evidence. Otherwise only a state that serves less is taken over.
        by: the source to name when the line's own is not taken over.
        now: from when on a `ttl` counts.

    Raises:
        InvalidInputError: it has no text, or a value that is not allowed; the message says which.
    """
    own = is_own(record)
    # What of the bank it came from is taken over, if anything is.
    said = record if own and trusted else {}
    filled = {name: value for name, value in record.items() if value not in (None, "")}
    given = {field: next((filled[name] for name in names if name in filled), None) for field, names in NAMES.items()}
    if given["content"] is None and RUN_KEYS & filled.keys():
        raise InvalidInputError("this looks like a run, not a lesson: `reasoningbank distill` reads it")
    said_so = _text(given["content"])
    heads = {name: given[name] or "" for name in LIMITS} | {"title": given["title"] or derived_title(said_so)}
    fields = {
        **{name: _cut(text, LIMITS[name]) for name, text in heads.items()},
        "content": "\n\n".join([*(t for name, t in heads.items() if _is_longer(t, LIMITS[name])), said_so]),
        "outcome": read_outcome(given["outcome"]),
        "tags": _tags(given["tags"]),
        "metadata": _metadata(record, given["metadata"], _used(record, filled) | OWN if own else _used(record, filled)),
        "source": (said.get("source") or Source()) if said else Source(how="imported", by=by, trusted=trusted),
        "confidence": said.get("initial_confidence"),
        "signatures": record.get("signatures") if own else None,
        "occurred_at": given["occurred_at"],
        "expires_at": moments.expiry(given["expires_at"], given["ttl"], now),
    }
    state = read_state(record.get("state")) if own else None
    before, why = read_archived(said.get("archived"))
    return Incoming(
        line=number,
        draft=validated(Draft, fields),
        memory_id=_id(given["id"]),
        state=None if state is State.ACTIVE and not trusted else state,
        before=before,
        why=why,
        created_at=read_time(said, "created_at") if own else source_time(record, "created_at"),
        updated_at=read_time(said, "updated_at") if own else source_time(record, "updated_at", "created_at"),
        tallies=tuple(map(read_tally, objects(said.get("evidence"), "evidence"))),
        votes=votes_of(record.get("votes")) if trusted and not own else (0, 0),
        links=tuple(map(from_object, objects(said.get("links"), "links"))),
        pins=read_names(said.get("pins"), "pins", blank=True),
        history=read_history(said.get("history")),
        merged_into=_id(said.get("merged_into")),
        taught=read_taught(said.get("taught")),
        blocked=read_names(said.get("forgotten"), "forgotten"),
        parameters=said.get("parameters"),
    )


def _text(content: object) -> str:
    if content is None:
        raise InvalidInputError("no text: give 'content' or 'text'")
    if not isinstance(content, str):
        raise InvalidInputError(f"content is a {type(content).__name__}, not a text")
    return content


def _is_longer(given: object, limit: int) -> bool:
    return isinstance(given, str) and len(given.strip()) > limit


def _cut(given: object, limit: int) -> object:
    """Return a text cut at a word where it is longer than it may be: the whole one then stands before the content."""
    if not isinstance(given, str) or not _is_longer(given, limit):
        return given
    cut = given.strip()[: limit - 1]
    return f"{(cut.rpartition(' ')[0] or cut).rstrip()}…"


def _id(given: object) -> str | None:
    if given is None or isinstance(given, bool):
        return None
    if not isinstance(given, (str, int)):
        raise InvalidInputError(f"id is a {type(given).__name__}, not a text")
    return None if is_blank(str(given)) else clean_text(str(given))


def _tags(given: object) -> object:
    # A list that was written as one text, as spreadsheets do.
    if isinstance(given, str):
        return [tag.strip() for tag in given.split(",")]
    # An empty place in a list is no tag, as a blank one is none.
    return [tag for tag in given if tag is not None] if isinstance(given, list) else given or ()


def _used(record: Mapping[str, Any], filled: Mapping[str, Any]) -> set[str]:
    """Return the keys that became fields. A note beside the content stays what it is."""
    other = ALIASES if any(name in filled for name in NAMES["content"][:2]) else frozenset[str]()
    times = {name for name in ("created_at", "updated_at") if source_time(record, name) is not None}
    return set(FIELDS - other) | times | {"votes"}


def _metadata(record: Mapping[str, Any], given: object, used: Set[str]) -> dict[str, Any]:
    """Return the line's metadata, and beside it what the line says that is no field of ours."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInputError(f"metadata is a {type(given).__name__}, not an object")
    extra = {key: v for key, v in record.items() if key not in used and v is not None}
    return extra | dict(given or {})


def derived_title(content: str) -> str:
    """Return a title for a text that has none: its first sentence, cut at a word when it is long.

    InvalidInputError when the text is blank.
    """
    first = next((line.strip(" \t#*->") for line in content.splitlines() if not is_blank(line.strip(" \t#*->"))), "")
    if not first:
        raise InvalidInputError("content is empty: say what to do")
    sentence = re.split(r"(?<=[.!?])\s", first, maxsplit=1)[0].rstrip(".")
    if len(sentence) <= DERIVED_TITLE:
        return sentence or first
    cut = sentence[:DERIVED_TITLE]
    return f"{cut.rpartition(' ')[0] or cut}…"


# -- the way out ---------------------------------------------------------------------------------------------------


def outgoing(memory: Memory, tallies: Sequence[Tally], archived: tuple[State, str] | None = None) -> dict[str, Any]:
    """Return a memory as the object of its line: what it says, and what counts for it.

    Of an archived memory also the state it goes back to, and why it was archived.
    """
    said = memory.as_json()
    del said["project"], said["revision"]
    return {
        "format": FORMAT,
        **said,
        "created_at": time_text(memory.created_at),
        "updated_at": time_text(memory.updated_at),
        "evidence": [tally_object(tally) for tally in tallies],
    } | ({"archived": {"from": archived[0].value, "why": archived[1]}} if archived else {})


def to_line(record: Mapping[str, Any]) -> str:
    """Return an object as one line, newline included."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"

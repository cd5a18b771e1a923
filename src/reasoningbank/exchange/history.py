"""What a memory said before it was changed, as a line of an export has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.exchange.own import objects, read_kind, read_tally, read_taught, read_time, tally_object
from reasoningbank.memory import DESCRIPTION_LIMIT, ID_LIMIT, Draft, clean_text, within
from reasoningbank.signals import SignalKind, Tally, time_text
from reasoningbank.validation import validated


@dataclass(frozen=True, slots=True)
class Counted:
    """The evidence that counted for a text, and counts again when it is put back.

    Attributes:
        told: (reference, kind, polarity 1 or -1) of what was said, so that it does not count twice.
        taught: how often votes about it confirmed and refuted each kind of evidence.
    """

    tallies: tuple[Tally, ...]
    told: tuple[tuple[str, SignalKind, int], ...]
    taught: tuple[tuple[SignalKind, int, int], ...]


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """A revision: `bank.revisions` says what its fields are.

    Attributes:
        evidence: None where it says what the next one says, which then has the evidence.
    """

    said: Draft
    reason: str
    by: str
    written_at: datetime
    replaced_at: datetime
    evidence: Counted | None


def read_history(given: object) -> tuple[SaidBefore, ...]:
    """Return what a line says that a memory said before; InvalidInputError for what is not allowed."""
    return tuple(map(_revision, objects(given, "history")))


def _revision(given: Mapping[str, Any]) -> SaidBefore:
    said = given.get("said")
    if not isinstance(said, Mapping):
        raise InvalidInputError("history without what was 'said'")
    draft = validated(Draft, dict(said))
    written, replaced = read_time(given, "written_at"), read_time(given, "replaced_at")
    if written is None or replaced is None:
        raise InvalidInputError("history without its times 'written_at' and 'replaced_at'")
    return SaidBefore(
        said=draft,
        reason=_text(given, "reason", DESCRIPTION_LIMIT),
        by=_text(given, "by", ID_LIMIT),
        written_at=written,
        replaced_at=replaced,
        evidence=None if given.get("evidence") is None else _counted(given["evidence"]),
    )


def _text(given: Mapping[str, Any], name: str, most: int) -> str:
    text = given.get(name, "")
    if not isinstance(text, str):
        raise InvalidInputError(f"{name} is a {type(text).__name__}, not a text")
    return clean_text(within(name, text, most))


def _counted(given: object) -> Counted:
    if not isinstance(given, Mapping):
        raise InvalidInputError("the evidence of history is not an object")
    return Counted(
        tallies=tuple(map(read_tally, objects(given.get("tallies"), "tallies"))),
        told=tuple(map(_told, objects(given.get("told"), "told"))),
        taught=read_taught(given.get("taught")),
    )


def _told(given: Mapping[str, Any]) -> tuple[str, SignalKind, int]:
    return _text(given, "ref", ID_LIMIT), read_kind(given.get("kind")), 1 if given.get("helpful") is True else -1


def history_object(revision: SaidBefore) -> dict[str, Any]:
    """Return a revision as an object of a line; `read_history` gives it back."""
    counted = revision.evidence
    said = {
        "said": revision.said.model_dump(mode="json"),
        "reason": revision.reason,
        "by": revision.by,
        "written_at": time_text(revision.written_at),
        "replaced_at": time_text(revision.replaced_at),
    }
    if counted is None:
        return said
    told = [{"ref": ref, "kind": kind.value, "helpful": polarity > 0} for ref, kind, polarity in counted.told]
    taught = {kind.value: [confirmed, refuted] for kind, confirmed, refuted in counted.taught}
    return said | {
        "evidence": {"tallies": list(map(tally_object, counted.tallies)), "told": told, "taught": taught},
    }

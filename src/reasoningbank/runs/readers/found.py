"""What a reader found in a foreign record, and the trajectory it makes: an odd field costs itself, not the run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reasoningbank.memory import ID_LIMIT, METADATA_LIMIT, TAG_LIMIT, TAGS_LIMIT, clean_text, is_blank
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.values import as_time, is_list
from reasoningbank.runs.readers.verdicts import stated
from reasoningbank.runs.trajectory import Step, Trajectory
from reasoningbank.runs.transcript import as_text
from reasoningbank.verdict import Verdict


@dataclass(slots=True)
class Found:
    """One run as a reader found it.

    Attributes:
        steps: as dictionaries of Step's fields.
        says: the records in which the file says how the run ended, the weightiest first; see `verdicts`.
        fields: what else is said, by the names of Trajectory's fields: reason, tags, session, times, trusted, metadata.
        tools: whether the record's form has tools at all.
        form: the name of the form, when it is another than that of the reader: a dialect.
    """

    task: str = ""
    steps: list[dict[str, Any]] = field(default_factory=list)
    result: str = ""
    says: list[Any] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    tools: bool = True
    form: str = ""


def trajectory(found: Found, form: str) -> Trajectory:
    """Build the run. A field that cannot be used is left out, with a note; the others stay."""
    ledger, fields = found.ledger, found.fields
    verdict, reason = stated(found.says, ledger)
    tags, metadata = _tags(fields.get("tags"), ledger), _metadata(fields.get("metadata"), ledger)
    times = {name: _time(name, fields.get(name), ledger) for name in ("started_at", "ended_at")}
    session = as_text(fields.get("session"))[:ID_LIMIT] or None
    steps = tuple(Step(**step) for step in found.steps)
    return Trajectory(
        task=found.task,
        steps=steps,
        result=found.result,
        verdict=Verdict.UNKNOWN if verdict is None else verdict,
        reason=as_text(fields.get("reason")) or reason,
        tags=tags,
        session=session,
        started_at=times["started_at"],
        ended_at=times["ended_at"],
        trusted=_trusted(fields.get("trusted"), ledger),
        metadata=metadata,
        form=form,
        left_out=ledger.left_out(),
        tools_understood=found.tools and not ledger.tools_unclear,
    )


def _time(name: str, given: Any, ledger: Ledger) -> datetime | None:
    at = as_time(given)
    if given is not None and at is None:
        ledger.note(f"{name} {given!r:.60}: no time, or one without a zone", name)
    return at


def _trusted(given: Any, ledger: Ledger) -> bool:
    if given is None or isinstance(given, bool):
        return given is not False
    ledger.note(f"trusted {given!r:.60}: not true or false, so it counts as untrusted", "trusted")
    return False


def _tags(given: Any, ledger: Ledger) -> tuple[str, ...]:
    if given is None:
        return ()
    listed: Iterable[Any] = given if is_list(given) or isinstance(given, (set, frozenset)) else [given]
    tags: dict[str, None] = {}
    for tag in listed:
        cleaned = clean_text(tag).strip() if isinstance(tag, str) else ""
        if is_blank(cleaned) or len(cleaned) > TAG_LIMIT or len(tags) == TAGS_LIMIT:
            ledger.note("tag that is no text, is blank or too long, or is one too many", "tags")
        else:
            tags[cleaned] = None
    return tuple(tags)


def _metadata(given: Any, ledger: Ledger) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        ledger.note("metadata that is no dictionary", "metadata")
        return {}
    kept: dict[str, Any] = {}
    size = 2
    for key, value in given.items():
        text = _strict_json(value) if isinstance(key, str) else None
        more = len(key) + len(text) + 10 if text is not None else 0
        if text is None or size + more > METADATA_LIMIT:
            ledger.note("metadata that JSON cannot hold, or too large", f"metadata.{key!s:.60}")
            continue
        kept[key], size = json.loads(text), size + more
    return kept


def _strict_json(value: Any) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None

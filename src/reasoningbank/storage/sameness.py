"""Which lessons are there already: the only SQL about what makes two memories the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from reasoningbank.memory import State
from reasoningbank.storage import revisions
from reasoningbank.storage.contract import Reading

_KNOWN = (
    "SELECT m.identity, m.fingerprint, m.outcome, m.n, m.id, m.state, coalesce(a.why, '') "
    "FROM memories AS m LEFT JOIN archived AS a ON a.memory = m.n "
    "WHERE m.identity IN ({marks}) OR m.fingerprint IN ({marks}) "
    "UNION ALL SELECT identity, NULL, NULL, memory, '', 'replaced', reason FROM revisions "
    "WHERE identity IN ({marks}) ORDER BY 4"
)


@dataclass(frozen=True, slots=True)
class Retired:
    """A memory that says what a lesson says and is archived, and why."""

    n: int
    why: str


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of some lessons.

    Attributes:
        there: row numbers of those that are served or quarantined, by identity; what is served comes first.
        retired: archived ones by identity, the newest first.
        alike: (row number, id) of one that is the same in a looser form, by fingerprint and outcome.
        replaced: row numbers of those that said so before they were changed, by identity, and why they were.
        deleted: the lessons that were deleted, by identity.
    """

    there: dict[bytes, int] = field(default_factory=dict)
    retired: dict[bytes, list[Retired]] = field(default_factory=dict)
    alike: dict[tuple[bytes, str], tuple[int, str]] = field(default_factory=dict)
    replaced: dict[bytes, tuple[int, str]] = field(default_factory=dict)
    deleted: set[bytes] = field(default_factory=set)


def known(
    reading: Reading, identities: Sequence[bytes], fingerprints: Sequence[bytes], beside: Collection[int] = ()
) -> Known:
    """Return what is known of lessons, each by its identity and its fingerprint, but for archived memories `beside`."""
    if not identities:
        return Known()
    marks = ", ".join("?" * len(identities))
    rows = reading.execute(_KNOWN.format(marks=marks), (*identities, *fingerprints, *identities))
    found = Known(deleted=revisions.marked(reading, identities))
    asked = set(identities)
    for identity, fingerprint, outcome, n, memory_id, state, why in rows:
        if fingerprint is None:
            found.replaced[identity] = (n, why)
            continue
        if state == State.ARCHIVED.value:
            if n in beside:
                continue
            found.retired.setdefault(identity, []).insert(0, Retired(n, why))
            continue
        found.alike.setdefault((fingerprint, outcome), (n, memory_id))
        if identity in asked and (state == State.ACTIVE.value or identity not in found.there):
            found.there[identity] = n
    return found


def identity_of(reading: Reading, n: int) -> bytes:
    """Return the identity of a memory that is there."""
    return bytes(reading.execute("SELECT identity FROM memories WHERE n = ?", (n,)).fetchone()[0])


def in_service(reading: Reading, identity: bytes, but: int = 0) -> str | None:
    """Return the id of the memory, but for one, that says this and is served; None when there is none."""
    row = reading.execute(
        "SELECT id FROM memories WHERE identity = ? AND state = 'active' AND n <> ?", (identity, but)
    ).fetchone()
    return None if row is None else str(row[0])


def twin_of(reading: Reading, n: int) -> str | None:
    """Return the id of another memory that says what this one says and is served; None when there is none."""
    row = reading.execute(
        "SELECT o.id FROM memories AS m JOIN memories AS o ON o.identity = m.identity "
        "WHERE m.n = ? AND o.state = 'active' AND o.n <> m.n",
        (n,),
    ).fetchone()
    return None if row is None else str(row[0])

"""Rows about sharing: the names of shared banks, their members, where their lessons came from, and what is due."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank.episode import Served
from reasoningbank.sharing.results import Member
from reasoningbank.sharing.rights import Right
from reasoningbank.signals import time_text
from reasoningbank.storage import meta
from reasoningbank.storage.contract import Reading, Rows, Writing

if TYPE_CHECKING:
    from reasoningbank.storage.place import Place, Project

AUTO = "auto_promote"
UNTOLD = "-"
MOST_DUE = 64
"""So many runs are told of at once."""


# -- members -------------------------------------------------------------------------------------------------------


def right_of(reading: Reading, kind: str, name: str | None) -> Right | None:
    """Return what a member may do; None when it is none."""
    row = reading.execute("SELECT may FROM members WHERE kind = ? AND name = ?", (kind, name)).fetchone()
    return None if row is None else Right(row[0])


def members(reading: Reading) -> tuple[Member, ...]:
    """Return every member, sorted by kind and name."""
    rows = reading.execute("SELECT kind, name, may FROM members ORDER BY kind, name")
    return tuple(Member(kind, name, Right(may)) for kind, name, may in rows)


def put_member(writing: Writing, member: Member) -> None:
    """Let somebody in, or give other rights to one who is."""
    row = [(member.kind, member.name, member.may.value)]
    writing.insert("members", ("kind", "name", "may"), row, "ON CONFLICT (kind, name) DO UPDATE SET may = excluded.may")


def remove_member(writing: Writing, kind: str, name: str) -> bool:
    """Shut somebody out; say whether it was a member."""
    return writing.execute("DELETE FROM members WHERE kind = ? AND name = ?", (kind, name)).rowcount > 0


def is_auto(reading: Reading) -> bool:
    """Tell whether suggestions are carried out unasked."""
    return meta.read(reading).get(AUTO) == "1"


# -- promotions, in the shared bank --------------------------------------------------------------------------------


class Origin(NamedTuple):
    """Where a shared lesson came from: a memory of a project, and the revisions of both that were compared last."""

    n: int
    source: str
    origin: str
    origin_revision: int
    revision: int


def note_promoted(writing: Writing, came: Origin, judge: str, now: datetime) -> None:
    """Remember where a lesson came from, or that both were compared anew."""
    writing.insert(
        "promoted",
        ("memory", "source", "origin", "origin_revision", "revision", "judge", "at"),
        [(*came, judge, time_text(now))],
        "ON CONFLICT (memory, source, origin) DO UPDATE SET origin_revision = excluded.origin_revision, "
        "revision = excluded.revision, judge = excluded.judge, at = excluded.at",
    )


def promoted_from(reading: Reading, source: str, numbers: Iterable[int] | None = None) -> list[Origin]:
    """Return what came from a project, of these memories or of all."""
    wanted = None if numbers is None else list(numbers)
    if wanted == []:
        return []
    which = "" if wanted is None else " AND memory IN (:numbers)"
    rows = reading.execute(
        f"SELECT memory, source, origin, origin_revision, revision FROM promoted WHERE source = :source{which} "
        "ORDER BY memory, origin",
        {"source": source} | ({} if wanted is None else {"numbers": wanted}),
    )
    return [Origin(*row) for row in rows]


def origins(reading: Reading, n: int) -> list[Origin]:
    """Return where a shared lesson came from, by project."""
    rows = reading.execute(
        "SELECT memory, source, origin, origin_revision, revision FROM promoted WHERE memory = ? "
        "ORDER BY source, origin",
        (n,),
    )
    return [Origin(*row) for row in rows]


def served_by(reading: Reading, n: int, source: str) -> str | None:
    """Return the newest run of a project that was handed a memory and has no verdict yet."""
    row = reading.execute(
        "SELECT e.ref FROM served AS s JOIN episodes AS e ON e.ref = s.ref "
        "WHERE s.memory = ? AND e.thread = ? AND e.verdict IS NULL ORDER BY e.opened_at DESC, e.ref DESC LIMIT 1",
        (n, source),
    ).fetchone()
    return None if row is None else str(row[0])


# -- runs, in the project ------------------------------------------------------------------------------------------


_DUE = (
    "FROM shared_runs AS r JOIN episodes AS e ON e.ref = r.ref "
    "WHERE r.settled = 0 AND r.told <> coalesce(e.verdict, '')"
)


def note_run(writing: Writing, ref: str, by_bank: Mapping[str, Sequence[Served]]) -> None:
    """Remember what a run was handed from shared banks; those are to be told."""
    rows = [(ref, bank, json.dumps([s.model_dump() for s in served]), UNTOLD, 0) for bank, served in by_bank.items()]
    writing.insert(
        "shared_runs",
        ("ref", "bank", "served", "told", "settled"),
        rows,
        "ON CONFLICT (ref, bank) DO UPDATE SET served = excluded.served, told = excluded.told, settled = 0",
    )


def run(reading: Reading, ref: str) -> dict[str, tuple[Served, ...]]:
    """Return what a run was handed from shared banks, by bank."""
    return {bank: _served(served) for bank, served in ask_run(reading, ref)}


def ask_run(reading: Reading, ref: str) -> Rows:
    """Ask what a run was handed from shared banks, for `handed` to read."""
    return reading.execute("SELECT bank, served FROM shared_runs WHERE ref = ? ORDER BY bank", (ref,))


def handed(asked: Rows) -> list[Served]:
    """Return what a run was handed from shared banks, which shares its outcome."""
    return [each for _, served in asked for each in _served(served)]


def _served(text: str) -> tuple[Served, ...]:
    return tuple(Served(**each) for each in json.loads(text))


def due(reading: Reading, banks: Sequence[str]) -> list[tuple[str, str]]:
    """Return up to MOST_DUE runs of which some of these shared banks are to be told, as (ref, bank)."""
    found = reading.execute(
        f"SELECT r.ref, r.bank {_DUE} AND r.bank IN (:banks) ORDER BY r.ref, r.bank LIMIT :most",
        {"banks": list(banks), "most": MOST_DUE},
    )
    return [(ref, bank) for ref, bank in found]


def told(writing: Writing, ref: str, bank: str, verdict: str | None) -> None:
    """Note that a shared bank knows what a run was handed, and this verdict; a later one is still to be told."""
    writing.execute(
        "UPDATE shared_runs SET told = :verdict, settled = CASE WHEN :verdict = '' THEN 0 ELSE 1 END "
        "WHERE ref = :ref AND bank = :bank "
        "AND coalesce((SELECT verdict FROM episodes WHERE ref = :ref), '') = :verdict",
        {"ref": ref, "bank": bank, "verdict": verdict or ""},
    )


def count_due(reading: Reading) -> dict[str, int]:
    """Return of how many runs shared banks are still to be told, by bank."""
    return dict(reading.execute(f"SELECT r.bank, count(*) {_DUE} GROUP BY r.bank").fetchall())


def handed_since(reading: Reading, since: datetime) -> dict[str, int]:
    """Return how many lessons runs since then were handed from each shared bank."""
    rows = reading.execute(
        "SELECT r.bank, r.served FROM shared_runs AS r JOIN episodes AS e ON e.ref = r.ref WHERE e.opened_at >= ? "
        "ORDER BY r.bank",
        (time_text(since),),
    )
    found: Counter[str] = Counter()
    for bank, served in rows:
        found[bank] += len(json.loads(served))
    return dict(found)


# -- what projects have in common, in the shared bank --------------------------------------------------------------

_TOLD_BY = "told_by:"


def put_told(writing: Writing, project: str, told: Sequence[float]) -> None:
    """Note how well each world explains a project's runs."""
    meta.put(writing, f"{_TOLD_BY}{project}", json.dumps(told))


def told_by_project(reading: Reading) -> dict[str, list[float]]:
    """Return how well each world explains the runs of each project that is a member, by its name."""
    rows = reading.execute(
        "SELECT p.name, m.value FROM members AS p JOIN meta AS m ON m.key = ? || p.name "
        "WHERE p.kind = 'project' ORDER BY p.name",
        (_TOLD_BY,),
    )
    return {name: json.loads(told) for name, told in rows}


# -- where they are ------------------------------------------------------------------------------------------------

# No name of a project can hold it: `checked_name` refuses what cannot be seen.
_MARK = "shared\x1f"


def reserved(bank: str) -> str:
    """Return the name of the project that holds a shared bank: one that no project can have."""
    return f"{_MARK}{bank}"


def shared_name(project: str) -> str | None:
    """Return the name of the shared bank that a project's name is reserved for; None for a project's own name."""
    return project.removeprefix(_MARK) if project.startswith(_MARK) else None


class SharedPlace:
    """A place in which every name is that of a shared bank; `Place` says what its calls do."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def where(self, tenant: str, project: str) -> str:
        return self._place.where(tenant, reserved(project))

    def open(self, tenant: str, project: str, **how: Any) -> Project | None:
        return self._place.open(tenant, reserved(project), **how)

    def nothing(self, tenant: str, project: str) -> AbstractContextManager[Writing]:
        return self._place.nothing(tenant, reserved(project))

    def delete(self, tenant: str, project: str) -> None:
        self._place.delete(tenant, reserved(project))

    def names(self, tenant: str) -> list[str]:
        """Return the names of a tenant's shared banks, sorted; nothing is made."""
        return sorted(name for each in self._place.every(tenant) if (name := shared_name(each)) is not None)

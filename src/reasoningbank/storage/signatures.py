"""The errors that memories answer, by key, and what was handed out at the failures of runs: the only SQL about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reasoningbank.diagnostics import Diagnostic, written
from reasoningbank.storage.contract import Reading, Writing, column
from reasoningbank.storage.filters import json_text

EXACT, TEMPLATED = 1, 0


def put(writing: Writing, n: int, found: Sequence[Diagnostic]) -> None:
    """Say which errors a memory answers, in place of those it answered."""
    text = json_text([written(one) for one in found])
    writing.execute("UPDATE memories SET signatures = ? WHERE n = ?", (text, n))
    writing.execute("DELETE FROM signature_keys WHERE memory = ?", (n,))
    add_keys(writing, {n: found})


def add_keys(writing: Writing, found: Mapping[int, Iterable[Diagnostic]]) -> None:
    """Store the keys by which memories are found."""
    rows = [(key, n, kind) for n, many in found.items() for one in many for key, kind in _keys(one)]
    writing.insert("signature_keys", ("key", "memory", "exact"), rows, "ON CONFLICT (key, memory) DO NOTHING")


def _keys(one: Diagnostic) -> Iterable[tuple[str, int]]:
    return (one.exact, EXACT), (one.templated, TEMPLATED)


def answering(reading: Reading, found: Sequence[Diagnostic]) -> dict[int, tuple[int, int]]:
    """Return the active memories that answer any of these errors: EXACT or TEMPLATED, and how many, by row number."""
    keys = {"exact": [one.exact for one in found], "templated": [one.templated for one in found]}
    rows = reading.execute(
        "SELECT k.memory, max(k.exact), count(*) FROM signature_keys AS k JOIN memories AS m ON m.n = k.memory "
        "WHERE m.state = 'active' AND (k.key IN (:exact) AND k.exact = 1 OR k.key IN (:templated) AND k.exact = 0) "
        "GROUP BY k.memory",
        keys,
    )
    return {n: (kind, many) for n, kind, many in rows}


def not_derived(reading: Reading, limit: int) -> list[tuple[int, str, str, str, str]]:
    """Return memories of which no one has said which errors they answer: row number and texts."""
    return reading.execute(
        "SELECT n, title, content, description, applies_when FROM memories WHERE signatures = '' ORDER BY n LIMIT ?",
        (limit,),
    ).fetchall()


# -- failures of runs ------------------------------------------------------------------------------------------------


class Failed(NamedTuple):
    """A failure of a run at which something was handed out.

    Attributes:
        step: which failure of the run, from 1.
        keys: of its errors, space-separated.
        act: what failed, as a later success of the same is known by.
        acts: how many acts came since.
        settled: what came of it: "" as long as nothing is known.
    """

    ref: str
    step: int
    keys: str
    act: str
    acts: int
    settled: str


def failures_of(reading: Reading, ref: str) -> list[Failed]:
    """Return the failures of a run at which something was handed out, in their order."""
    asked = "SELECT ref, step, keys, act, acts, settled FROM failed_acts WHERE ref = ? ORDER BY step"
    return [Failed(*row) for row in reading.execute(asked, (ref,))]


def add_failure(writing: Writing, failed: Failed, now: object) -> None:
    """Keep a failure of a run."""
    writing.insert("failed_acts", (*Failed._fields, "at"), [(*failed, now)])


def settle(writing: Writing, failed: Failed, how: str) -> None:
    """Say what came of a failure."""
    writing.execute("UPDATE failed_acts SET settled = ? WHERE ref = ? AND step = ?", (how, failed.ref, failed.step))


def count_act(writing: Writing, ref: str) -> None:
    """Count an act of a run for each of its failures of which nothing is known yet."""
    writing.execute("UPDATE failed_acts SET acts = acts + 1 WHERE ref = ? AND settled = ''", (ref,))


def served_at(reading: Reading, ref: str, step: int) -> list[tuple[str, int]]:
    """Return the id and the revision of the memories that were handed out at a failure of a run."""
    return reading.execute(
        "SELECT m.id, s.revision FROM served AS s JOIN memories AS m ON m.n = s.memory WHERE s.ref = ? AND s.step = ? "
        "ORDER BY s.position",
        (ref, step),
    ).fetchall()


def shown(reading: Reading, ref: str) -> set[int]:
    """Return the row numbers of all that a run was handed."""
    return set(column(reading, "SELECT memory FROM served WHERE ref = ?", (ref,)))

"""Rows of history: what memories said before they were changed, with their evidence, and marks of what was deleted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from reasoningbank.signals import Tally, time_text
from reasoningbank.storage.contract import Reading, Writing, column
from reasoningbank.storage.evidence import ADDED, COUNTED, TALLIES, tally_of, units_of

# Segments are numbered from 1: what is put back stands in none of them, and folding again leaves it alone.
NO_SEGMENT = 0

_SUMS = (
    "SELECT kind, day, source, judge, superseded, sum(positive), sum(negative), max(last) FROM tallies "
    "WHERE memory = ? GROUP BY kind, day, source, judge, superseded ORDER BY kind, day, source, judge, superseded"
)
# What was said once must not count again.
_SAID = (
    "SELECT ref, kind, polarity FROM evidence WHERE memory = ? AND kind <> 'usage' AND polarity <> 0 "
    "UNION SELECT ref, kind, polarity FROM sealed WHERE memory = ? ORDER BY ref, kind"
)
_VALIDATED = "SELECT polarity, validates FROM evidence WHERE memory = ? AND kind = 'explicit' AND polarity <> 0"


class RevisionRow(NamedTuple):
    """What a memory said up to a time: columns of `revisions` behind the memory's number, in order."""

    number: int
    draft: str
    identity: bytes
    scrub_version: int
    evidence: str
    reason: str
    judge: str
    written_at: str
    replaced_at: str


_COLUMNS = ", ".join(RevisionRow._fields)


def keep(writing: Writing, n: int, row: RevisionRow) -> None:
    """Keep what a memory said, behind what is kept already, whatever number the row has."""
    (last,) = writing.execute("SELECT coalesce(max(number), 0) FROM revisions WHERE memory = ?", (n,)).fetchone()
    writing.insert("revisions", ("memory", *RevisionRow._fields), [(n, *row._replace(number=last + 1))])


def of_memory(reading: Reading, n: int) -> list[RevisionRow]:
    """Return what a memory said before, the first first."""
    rows = reading.execute(f"SELECT {_COLUMNS} FROM revisions WHERE memory = ? ORDER BY number", (n,))
    return list(map(RevisionRow._make, rows))


def count(reading: Reading) -> int:
    """Return how often memories were changed."""
    return int(reading.execute("SELECT count(*) FROM revisions").fetchone()[0])


_LAST = "SELECT memory, max(number) AS number FROM revisions GROUP BY memory"


def changed_by(reading: Reading, source: str) -> dict[str, int]:
    """Return the memories of others that say what a source made of them: ids, and the number of what they said before.

    What somebody else changed since is not among them.
    """
    rows = reading.execute(
        f"WITH last AS ({_LAST}), mine AS (SELECT l.memory, 1 + coalesce((SELECT max(o.number) FROM revisions AS o "
        "WHERE o.memory = l.memory AND o.judge <> :source), 0) AS number FROM last AS l JOIN revisions AS r "
        "ON r.memory = l.memory AND r.number = l.number WHERE r.judge = :source) "
        "SELECT m.id, r.number, r.draft FROM mine JOIN revisions AS r ON r.memory = mine.memory "
        "AND r.number = mine.number JOIN memories AS m ON m.n = r.memory ORDER BY m.n",
        {"source": source},
    )
    return {memory_id: number for memory_id, number, draft in rows if not _is_of(json.loads(draft), source)}


def forget_words(writing: Writing, source: str) -> None:
    """Delete what a source made of others' memories from their history, and what it said about it."""
    for n in column(writing, "SELECT DISTINCT memory FROM revisions WHERE judge = ? ORDER BY memory", (source,)):
        rows = of_memory(writing, n)
        # Who replaced a text wrote the next one.
        theirs = [row for row, before in zip(rows[1:], rows, strict=False) if before.judge == source]
        kept = [row._replace(reason="", judge="") if row.judge == source else row for row in rows if row not in theirs]
        writing.execute("DELETE FROM revisions WHERE memory = ?", (n,))
        for row in kept:
            keep(writing, n, row)


def _is_of(draft: dict[str, Any], source: str) -> bool:
    return source in (draft["source"]["by"], draft["source"]["session"])


def replaced_because(reading: Reading, reason: str) -> dict[str, int]:
    """Return the memories whose last text was replaced for a reason: ids, and the number of that text."""
    rows = reading.execute(
        f"SELECT m.id, r.number FROM ({_LAST}) AS l JOIN revisions AS r ON r.memory = l.memory AND r.number = l.number "
        "JOIN memories AS m ON m.n = r.memory WHERE r.reason = ? ORDER BY m.n",
        (reason,),
    )
    return dict(rows.fetchall())


# -- evidence ------------------------------------------------------------------------------------------------------


def evidence_of(reading: Reading, n: int) -> str:
    """Return, as JSON, all that counts for a memory by itself."""
    taught: dict[str, list[int]] = {}
    for polarity, kinds in reading.execute(_VALIDATED, (n,)):
        for kind in json.loads(kinds):
            counts = taught.setdefault(kind, [0, 0])
            counts[polarity < 0] += 1
    (revision,) = reading.execute("SELECT revision FROM memories WHERE n = ?", (n,)).fetchone()
    known = {
        "tallies": [list(row) for row in reading.execute(_SUMS, (n,))],
        "said": [list(row) for row in reading.execute(_SAID, (n, n))],
        "taught": taught,
        "merged": column(reading, "SELECT memory FROM merged WHERE into_memory = ? AND counts = 1", (n,)),
        "revision": revision,
    }
    return json.dumps(known, separators=(",", ":"))


def evidence_text(tallies: Iterable[Tally], said: Sequence[tuple[str, str, int]], taught: Mapping[str, Any]) -> str:
    """Return, as `evidence_of` does, what counted for a memory in the bank that it comes from."""
    sums = [[t.kind.value, t.day, t.source, t.by, int(t.superseded), *units_of(t), time_text(t.last)] for t in tallies]
    # Neither merges nor what runs were handed is known here by the numbers that it had there.
    known = {"tallies": sums, "said": said, "taught": taught, "merged": [], "revision": -1}
    return json.dumps(known, separators=(",", ":"))


class Evidence(NamedTuple):
    """What counted for a text: sums, (reference, kind, polarity) of what was said, and what votes about it taught."""

    tallies: tuple[Tally, ...]
    said: tuple[tuple[str, str, int], ...]
    taught: dict[str, list[int]]


def read_evidence(text: str) -> Evidence:
    """Return what `evidence_of` said."""
    known: dict[str, Any] = json.loads(text)
    tallies = tuple(map(tally_of, known["tallies"]))
    return Evidence(tallies, tuple(map(tuple, known["said"])), known["taught"])


def give_back(writing: Writing, n: int, evidence: str) -> None:
    """Let evidence count again for a memory that says what it said then; it can no longer be revised."""
    known: dict[str, Any] = json.loads(evidence)
    rows = [(n, *tally[:5], 1, *tally[5:]) for tally in known["tallies"]]
    writing.insert("tallies", TALLIES, rows, ADDED)
    said = [(n, *each) for each in known["said"]]
    writing.insert("sealed", ("memory", "ref", "kind", "polarity"), said, "ON CONFLICT (memory, ref, kind) DO NOTHING")
    taught = [(NO_SEGMENT, kind, *counts) for kind, counts in known["taught"].items()]
    writing.insert("validations", ("segment", "kind", "confirmed", "refuted"), taught, COUNTED)
    served = "UPDATE served SET sealed = 1 WHERE memory = ? AND revision = ?"
    writing.execute(served, (n, known["revision"]))
    merged = "UPDATE merged SET counts = 1 WHERE into_memory = :n AND memory IN (:merged)"
    writing.execute(merged, {"n": n, "merged": known["merged"]})
    writing.tell("evidence", n)


def unname(writing: Writing, name: str, other: str) -> None:
    """Let what a source said of earlier texts stay as what nobody said; see `evidence.unname`."""
    kept = "SELECT memory, number, evidence FROM revisions WHERE evidence <> ''"
    for memory, at, text in writing.execute(kept).fetchall():
        known: dict[str, Any] = json.loads(text)
        sums: dict[tuple[Any, ...], list[Any]] = {}
        for kind, day, source, by, superseded, positive, negative, last in known["tallies"]:
            key = kind, day, "" if source == name else source, "" if by == name else by, superseded
            before = sums.get(key, [0, 0, last])
            sums[key] = [before[0] + positive, before[1] + negative, max(before[2], last)]
        known["tallies"] = [[*key, *summed] for key, summed in sums.items()]
        known["said"] = [[other if ref == name else ref, *said] for ref, *said in known["said"]]
        said = json.dumps(known, separators=(",", ":"))
        if said != text:
            writing.execute("UPDATE revisions SET evidence = ? WHERE memory = ? AND number = ?", (said, memory, at))


_KEY = "SELECT value FROM meta WHERE key = 'mark_key'"

# -- marks of what was deleted -------------------------------------------------------------------------------------


def mark(writing: Writing, identities: Collection[bytes], now: datetime) -> None:
    """Remember that these lessons were deleted, by no more than a hash."""
    key = _key(writing)
    # A text that came back after it was replaced is named twice.
    rows = [(_mark(key, identity), time_text(now), 0) for identity in dict.fromkeys(identities)]
    writing.insert("deleted", ("mark", "at", "times"), rows, "ON CONFLICT (mark) DO UPDATE SET at = excluded.at")


def marked(reading: Reading, identities: Sequence[bytes]) -> set[bytes]:
    """Return which of these lessons were deleted."""
    some, key = reading.execute(f"SELECT EXISTS(SELECT 1 FROM deleted), ({_KEY})").fetchone()
    if not some:
        return set()
    key = bytes.fromhex(key)
    marks = {_mark(key, identity): identity for identity in identities}
    asked = ", ".join("?" * len(marks))
    found = column(reading, f"SELECT mark FROM deleted WHERE mark IN ({asked})", list(marks))
    return {marks[bytes(each)] for each in found}


def came_again(writing: Writing, identity: bytes) -> None:
    """Count that a deleted lesson came again, and was held back."""
    writing.execute("UPDATE deleted SET times = times + 1 WHERE mark = ?", (_mark(_key(writing), identity),))


def lift(writing: Writing, identity: bytes) -> None:
    """Forget that a lesson was deleted: somebody wants it."""
    writing.execute("DELETE FROM deleted WHERE mark = ?", (_mark(_key(writing), identity),))


def held_back(reading: Reading) -> int:
    """Return how often lessons came again that somebody had taken out of service, or deleted, and were held back."""
    sums = (f"SELECT coalesce(sum(times), 0) FROM {table}" for table in ("archived", "deleted"))
    return sum(int(reading.execute(each).fetchone()[0]) for each in sums)


def _key(reading: Reading) -> bytes:
    return bytes.fromhex(reading.execute(_KEY).fetchone()[0])


def _mark(key: bytes, identity: bytes) -> bytes:
    return hashlib.blake2b(identity, key=key, digest_size=16).digest()

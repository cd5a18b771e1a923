"""This process's postings of one project, kept until the change feed says which memories changed."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from reasoningbank.forks import renew_after_fork
from reasoningbank.search.bm25 import Counts, Postings, Rows, Scores, bm25
from reasoningbank.storage.postings import every_length, postings, with_lengths
from reasoningbank.storage.postings import totals as read_totals
from reasoningbank.storage.stored_vectors import MEMORIES
from reasoningbank.storage.text_index import Counted, Indexed, indexed, rarest

CAPACITY = 1 << 20
"""Postings that are kept: 16 MB."""

FOLLOWED = 64
"""So many changed memories are known by name. What was read before more than these changed, is read anew."""

# A memory has a row in the feed for each of its vectors.
_ROWS = 4 * FOLLOWED


@dataclass(frozen=True, slots=True)
class _Kept:
    """A term's postings, and the newest change they are right for."""

    postings: Postings
    covered: int


class KeywordIndex:
    """Postings by term, those used last. It is derived: dropped, they come back the same.

    What a transaction reads through it is what the transaction itself sees: postings are brought up to date with it,
    and one that began before the newest change known here reads past what is kept.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._forget()
        renew_after_fork(self)

    def _forget(self) -> None:
        self._counted: Counted = {}
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._sums = (-1, (0, 0))
        self._lengths: Counts | None = None
        self._looked_up = 0
        # Of the changes in (_since, _covered]: which memories, by the newest change of each, and what they hold now.
        self._changed: dict[int, tuple[int, Indexed]] = {}
        self._since = self._covered = -1

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock = threading.Lock()
        self._forget()

    def drop(self) -> None:
        """Forget everything; it is read again when it is needed."""
        with self._lock:
            self._forget()

    def matches(self, connection: sqlite3.Connection, wanted: Sequence[str]) -> tuple[Rows, Scores]:
        """Return the memories that hold any of the rarest terms, in ascending order of row number, with their BM25.

        Args:
            connection: inside a read transaction, never one that writes: what it wrote may come to nothing.
        """
        newest = MEMORIES.newest(connection)
        with self._lock:
            current = self._follow(connection, newest)
            found = {term: kept for term in wanted if (kept := self._present(term)) is not None} if current else {}
        self._counted.update((term, (len(each), newest)) for term, each in found.items())
        asked = rarest(connection, wanted, self._counted, newest)
        totals = self._totals(connection, newest)
        missing = [term for term in asked if term not in found]
        if missing:
            lengths = self._every_length(connection, newest, totals[0])
            read = postings(connection, missing, lengths)
            self._keep(read, newest)
            found |= read
        return bm25([found[term] for term in asked], *totals)

    def _every_length(self, connection: sqlite3.Connection, newest: int, memories: int) -> Counts | None:
        """Return the lengths of all memories, as a transaction that sees `newest` sees them; None to look them up."""
        with self._lock:
            if newest != self._covered:
                return None
            # Looking a length up takes five times as long as reading it with all others.
            if self._lengths is None and self._looked_up > memories:
                self._lengths, self._looked_up = every_length(connection), 0
            return self._lengths

    def _totals(self, connection: sqlite3.Connection, newest: int) -> tuple[int, int]:
        counted_at, numbers = self._sums
        if counted_at != newest:
            numbers = read_totals(connection)
            self._sums = (newest, numbers)
        return numbers

    def _follow(self, connection: sqlite3.Connection, newest: int) -> bool:
        """Note what changed up to `newest`; tell whether what is kept is right for a transaction that sees that."""
        if newest <= self._covered:
            return newest == self._covered
        if self._covered < 0 or MEMORIES.tail_is_gone(connection, self._covered, newest):
            self._forget()
            self._since = newest
        else:
            rows = connection.execute(
                "SELECT memory, seq FROM changes WHERE seq > ? AND op <> 'evidence' ORDER BY seq LIMIT ?",
                (self._covered, _ROWS + 1),
            ).fetchall()
            self._note(connection, rows, newest)
        self._covered = newest
        return True

    def _note(self, connection: sqlite3.Connection, rows: Sequence[tuple[int, int]], newest: int) -> None:
        last = dict(rows)
        if len(rows) > _ROWS or len(last) > FOLLOWED:
            self._changed, self._lengths = {}, None
            self._since = newest
        elif rows:
            now = indexed(connection, last)
            changed = self._changed | {n: (seq, now[n]) for n, seq in last.items()}
            if self._lengths is not None:
                self._lengths = with_lengths(self._lengths, {n: now[n].length for n in last})
            by_age = sorted(changed.items(), key=lambda each: each[1][0])
            self._changed = dict(by_age[-FOLLOWED:])
            if len(by_age) > FOLLOWED:
                self._since = by_age[-FOLLOWED - 1][1][0]

    def _present(self, term: str) -> Postings | None:
        """Return a term's postings as of now; None when they are not kept, or too old."""
        kept = self._kept.get(term)
        if kept is None:
            return None
        if kept.covered < self._since:
            self._take_out(term)
            return None
        if kept.covered < self._covered:
            changes = {
                n: (now.counts.get(term, 0), now.length)
                for n, (seq, now) in self._changed.items()
                if seq > kept.covered
            }
            self._put(term, _Kept(kept.postings.after(changes), self._covered))
        self._kept.move_to_end(term)
        return self._kept[term].postings

    def _keep(self, read: dict[str, Postings], newest: int) -> None:
        with self._lock:
            self._looked_up += sum(map(len, read.values()))
            for term, each in read.items():
                # Meanwhile another thread may have kept later ones, or those may be too old to be brought up to date.
                if self._since <= newest <= self._covered and term not in self._kept:
                    self._put(term, _Kept(each, newest))
            while self._size > self._capacity:
                self._take_out(next(iter(self._kept)))

    def _put(self, term: str, kept: _Kept) -> None:
        if term in self._kept:
            self._take_out(term)
        self._kept[term] = kept
        self._size += len(kept.postings)

    def _take_out(self, term: str) -> None:
        self._size -= len(self._kept.pop(term).postings)

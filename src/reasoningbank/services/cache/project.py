"""Everything that a process keeps of one project, followed by the change feed in one place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from reasoningbank.belief.calibrated import STARTING, Parameters
from reasoningbank.belief.spec import SpecModel
from reasoningbank.filters import Filters
from reasoningbank.forks import renew_after_fork
from reasoningbank.memory import Source
from reasoningbank.search.bm25 import bm25
from reasoningbank.search.ranking import DOUBT_KEEPS
from reasoningbank.search.selection import judged_and_votes
from reasoningbank.search.verbatim import pieces
from reasoningbank.services.cache.columns import NO_STATE, Columns, Mask, State, Table
from reasoningbank.services.cache.filters import FilterCache, Passing
from reasoningbank.services.cache.postings import PostingCache
from reasoningbank.services.cache.shown import rescrubbed
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.signals import parse_time
from reasoningbank.storage import records, words
from reasoningbank.storage.stored_vectors import MEMORIES
from reasoningbank.vectors.base import Int64

if TYPE_CHECKING:
    from reasoningbank.belief.belief import ConfidenceModel
    from reasoningbank.search.bm25 import Postings, Rows, Scores
    from reasoningbank.services.view import View
    from reasoningbank.storage.contract import Moment

CANDIDATE = [("there", "?"), ("state", "u1"), ("first", "i8"), ("second", "i8"), ("expires", "f8")]
"""What a search looks at of every candidate: whether it is there, its state (place in STATES), the ids of its vectors
(0 for none), and when it expires (seconds; infinite for never)."""

KNOWN = [
    ("n", "i8"), ("mean", "f8"), ("deviation", "f8"), ("high", "f8"), ("usage", "i8"), ("judged", "?"), ("votes", "f8"),
    ("touched", "f8"), ("source", "i8"), ("trust", "f8"), ("memory", "O"), ("terms", "O"), ("pieces", "O"),
]  # fmt: skip
"""What it looks at of those that lead: the belief and the upper end of its interval, how often it was handed out,
whether anything but usage is known, how many more votes are for it than against it, when it was last used or written
(seconds), whom it comes from where that is nobody trusted (0 for those who are), what is left of its score where it is
in doubt (else 1), the memory as it may be shown (None when it is gone), its terms and the pieces of its text."""

STANDING = [("n", "i8"), ("mean", "f8"), ("deviation", "f8"), ("usage", "i8")]
"""What a list is sorted and sifted by: the belief, and how often it was handed out. `n` is 0 where it is gone."""

STATES = ("active", "archived", "quarantined")

CANDIDATES, LEADERS, STANDINGS = 50_000, 10_000, 1_000_000
"""So many are kept: up to 2, 30 and 32 MB with lessons of usual length."""


class ProjectCache:
    """What one process keeps of a project.

    What a transaction finds here is never older than what it sees itself. It may be newer, where another thread saw a
    later change: what that transaction does not see is then left out when its rows are looked for.

    `rebuilt` is called when a large part of the index was made from the rows, which a snapshot would have saved.
    """

    def __init__(self, rebuilt: Callable[[VectorCache], None]) -> None:
        self.vectors = VectorCache(MEMORIES, rebuilt)
        self._candidates = Columns(CANDIDATE, _candidates, CANDIDATES)
        self._known = Columns(KNOWN, self._read_known, LEADERS)
        self._standing = Columns(STANDING, _read_standing, STANDINGS)
        self._postings, self._filters = PostingCache(), FilterCache()
        self._lock = threading.Lock()
        self._state = NO_STATE
        self._model: ConfidenceModel | None = None
        self._sources: dict[str, int] = {}
        self._source_numbers = count(1)
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, whose holder is not in this process; what was kept is dropped with its own."""
        self._lock = threading.Lock()
        self._state = NO_STATE

    def forget(self) -> None:
        """Drop everything; it comes back at the next call."""
        with self._lock:
            self._tell(NO_STATE, None, None)
        self.vectors.drop()

    def follow(self, view: View) -> None:
        """Bring what is kept up to the state that a view sees, reading the feed's tail once for all."""
        state = _state(view.moment)
        if state <= self._state:
            return
        with self._lock:
            if state <= self._state:
                return
            (since, generation, _), model = self._state, view.model
            tail = MEMORIES.tail(view, since) if since >= 0 and generation == state[1] else None
            changed, touched = (None, None) if tail is None else (tail.changed, tail.touched)
            self._tell(state, changed, touched if model == self._model else None)
            self._model = model
        self.vectors.follow(view, tail)

    @property
    def learned(self) -> Parameters:
        """What the project taught about its evidence, in the state that was followed to."""
        return STARTING if self._model is None else self._model.parameters

    def used(self, before: Moment, newest: int, numbers: Sequence[int], at: datetime) -> None:
        """Count a use of memories that a transaction of this process counted, in place of reading their rows again.

        Without votes and outcomes it leaves the belief as it is; what it says of other memories is read when it is
        asked for. The transaction saw `before` at its start, and `newest` is its newest change.
        """
        with self._lock:
            # Where it counted more than these uses, which another writer left, following tells what.
            if _state(before) != self._state or newest - before.change != len(numbers):
                return
            state = (newest, *self._state[1:])
            if isinstance(self._model, SpecModel):
                self._known.follow(state, numbers)
            else:
                self._known.change(state, np.array(numbers, dtype=np.int64), partial(_used, at=at))
            self._standing.follow(state, numbers)
            self._candidates.state = self._postings.state = self._filters.state = self._state = state
            self.vectors.skip(before.change, newest)

    def _tell(self, state: State, changed: set[int] | None, touched: set[int] | None) -> None:
        self._candidates.follow(state, changed)
        self._known.follow(state, touched)
        self._standing.follow(state, touched)
        self._postings.follow(state, changed)
        self._filters.follow(state, changed)
        self._state = state

    def passing(self, view: View, filters: Filters) -> Passing:
        """Return which memories pass filters."""
        return self._filters.passing(view, _state(view.moment), filters)

    def matches(self, view: View, terms: Sequence[str]) -> tuple[Rows, Scores, int]:
        """Return the memories that hold any of the rarest terms, ascending, with their BM25; and how many there are."""
        postings, totals = self._postings.postings(view, _state(view.moment), terms)
        return *bm25([*postings.values()], *totals), totals[0]

    def postings(self, view: View, terms: Sequence[str]) -> tuple[dict[str, Postings], tuple[int, int]]:
        """Return the postings of the rarest terms, the rarest first, and how many memories and terms there are."""
        return self._postings.postings(view, _state(view.moment), terms)

    def candidates(self, view: View, numbers: Int64) -> Table:
        """Return the CANDIDATE columns of these memories, in their order."""
        state = _state(view.moment)
        if state[1] != self._state[1]:
            # The ids of another generation's vectors are of no use.
            return _candidates(view, numbers.tolist())
        return self._candidates.rows(view, state, numbers)

    def known(self, view: View, numbers: Int64) -> Table:
        """Return the KNOWN columns of these memories, in their order."""
        return self._known.rows(view, _state(view.moment), numbers)

    def standing(self, view: View, numbers: Int64) -> Table:
        """Return the STANDING columns of these memories, in their order."""
        return self._standing.rows(view, _state(view.moment), numbers)

    def _read_known(self, view: View, numbers: Sequence[int]) -> Table:
        asked = view.execute(words.TEXTS, {"numbers": list(numbers)})
        rows = view.load(numbers)
        texts: dict[int, str] = dict(asked)
        beliefs = view.beliefs(rows.values())
        held = dict(zip(rows, pieces(["\n".join(row.texts) for row in rows.values()]), strict=True))
        table = np.zeros(len(numbers), dtype=KNOWN)
        for place, n in enumerate(numbers):
            if row := rows.get(n):
                belief, (judged, votes) = beliefs[n], judged_and_votes(row.tallies)
                table[place] = (
                    n,
                    belief.mean,
                    belief.deviation,
                    belief.high,
                    row.usage_count,
                    judged,
                    votes,
                    row.touched.timestamp(),
                    self._stranger(row.source),
                    DOUBT_KEEPS if row.memory.doubted and not judged else 1.0,
                    rescrubbed(row.believed(belief.mean), row.scrub_version, view.engine.rules),
                    texts.get(n, ""),
                    held[n],
                )
            else:
                table[place]["memory"] = None
        return table

    def _stranger(self, source: Source) -> int:
        if source.trusted:
            return 0
        return self._sources.setdefault(source.by or source.session or source.how, next(self._source_numbers))


def _read_standing(view: View, numbers: Sequence[int]) -> Table:
    rows = records.judged(view, numbers)
    beliefs = view.beliefs(rows.values())
    table = np.zeros(len(numbers), dtype=STANDING)
    for place, n in enumerate(numbers):
        if row := rows.get(n):
            table[place] = n, beliefs[n].mean, beliefs[n].deviation, row.usage_count
    return table


def _used(rows: Table, at: datetime) -> tuple[Table, Mask]:
    rows["usage"] += 1
    for row in rows:
        memory = row["memory"]
        last = at if memory.last_used is None else max(at, memory.last_used)
        row["touched"] = last.timestamp()
        row["memory"] = replace(memory, usage_count=memory.usage_count + 1, last_used=last)
    return rows, ~rows["judged"]


def _state(moment: Moment) -> State:
    return moment.change, 0 if moment.generation is None else moment.generation.number, moment.fit


def _candidates(view: View, numbers: Sequence[int]) -> Table:
    table = np.zeros(len(numbers), dtype=CANDIDATE)
    place = {n: i for i, n in enumerate(numbers)}
    for n, state, expires, vector in records.states_and_vectors(view, numbers):
        row = table[place[n]]
        row["second" if row["first"] else "first"] = vector
        # One that cannot be read is as good as gone.
        with suppress(ValueError):
            row["expires"] = np.inf if expires is None else parse_time(expires).timestamp()
            row["there"], row["state"] = True, STATES.index(state)
    return table

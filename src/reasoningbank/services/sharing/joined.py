"""Several levels searched as one bank: the project, then its shared banks, the nearest first.

Row numbers and the ids of vectors carry their level in the high bits; level 0 is the project, whose numbers are its
own. So candidates of all levels are fused, gated and chosen by the code that does it for one bank, on one scale:
cosines are comparable anyway, and BM25 is computed over the postings of all levels together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from reasoningbank.belief.belief import Belief
from reasoningbank.belief.calibrated import Parameters
from reasoningbank.embed.base import EmbedderIdentity
from reasoningbank.errors import ReasoningBankError
from reasoningbank.filters import Filters
from reasoningbank.memory import State
from reasoningbank.search.bm25 import Postings, Rows, Scores, bm25
from reasoningbank.search.relevance import Scale
from reasoningbank.services.cache.columns import Table
from reasoningbank.services.cache.filters import Passing
from reasoningbank.services.cache.project import CANDIDATE, KNOWN, STATES
from reasoningbank.services.cache.vectors import Said
from reasoningbank.services.search.above import SPAN, of_level
from reasoningbank.services.view import Asked, View
from reasoningbank.storage import records, sharing
from reasoningbank.storage.contract import Moment
from reasoningbank.storage.stored import Judged, Stored
from reasoningbank.vectors.base import Float32, Int64

if TYPE_CHECKING:
    from reasoningbank.services.engine import Engine

T = TypeVar("T")

ACTIVE = STATES.index(State.ACTIVE)


class LevelFailedError(Exception):
    """A shared bank cannot be searched any more."""

    def __init__(self, bank: str, error: ReasoningBankError) -> None:
        super().__init__(str(error))
        self.bank, self.error = bank, error


class Joined(View):
    """One state of each of several banks, seen as one; what is asked of it as a `Reading` is about the project."""

    def __init__(self, views: Sequence[View]) -> None:
        self.levels = [*views]
        self.joined = JoinedCache(self.levels)
        super().__init__(cast("Engine", _JoinedEngine(views[0].engine, self.joined)), views[0])

    def check_embedder(self, identity: EmbedderIdentity) -> None:
        """Check the project's vectors; those of the other levels were checked when they were opened."""
        self.levels[0].check_embedder(identity)

    @property
    def moment(self) -> Moment:
        """Which state it is of the project; something is pinned where any level has a pin."""
        return self.levels[0].moment._replace(pinned=any(view.moment.pinned for view in self.levels))

    def each(self, question: Asked[T]) -> list[T]:
        """Ask every level, giving it where its row numbers begin among those of all."""
        asked = (partial(question, first=level * SPAN) for level in range(len(self.levels)))
        return [self.joined.ask(level, each) for level, each in enumerate(asked)]

    def load(self, numbers: Iterable[int]) -> dict[int, Stored]:
        """Return the rows of memories of any level with their tallies, by row number; what is gone is left out."""
        asked = list(numbers)
        rows = self.each(
            lambda view, first: {
                n + first: replace(row, n=n + first) for n, row in view.load(of_level(asked, first)).items()
            }
        )
        return {n: row for each in rows for n, row in each.items()}

    def beliefs(self, stored: Iterable[Stored | Judged]) -> dict[int, Belief]:
        """Return the belief about each memory of any level, by row number."""
        rows = {row.n: row for row in stored}
        found = self.each(
            lambda view, first: {
                n + first: belief
                for n, belief in view.beliefs(replace(rows[n + first], n=n) for n in of_level(rows, first)).items()
            }
        )
        return {n: belief for each in found for n, belief in each.items()}


class _JoinedEngine:
    """The project's engine, with what is kept of all levels."""

    def __init__(self, own: Engine, cache: JoinedCache) -> None:
        self._own, self.cache = own, cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


def level_of(number: int) -> int:
    """Return the level that a number is of."""
    return number // SPAN


class JoinedCache:
    """What a search asks of `ProjectCache`, of all levels.

    Attributes:
        twins: what is left out for one that is nearer and says the same, by the number of that one.
    """

    def __init__(self, levels: Sequence[View]) -> None:
        self.levels = levels
        self.vectors = JoinedVectors(self)
        self.twins: dict[int, list[int]] = {}

    def ask(self, level: int, question: Callable[[View], T]) -> T:
        """Ask one level; LevelFailedError when it is a shared bank that does not answer."""
        view = self.levels[level]
        if not level:
            return question(view)
        try:
            return question(view)
        except ReasoningBankError as error:
            raise LevelFailedError(view.engine.project_name, error) from error

    def each(self, question: Callable[[View], T]) -> list[T]:
        """Ask every level."""
        return [self.ask(level, question) for level in range(len(self.levels))]

    def rows(self, numbers: Int64, dtype: Any, question: Callable[[View, Int64], Table]) -> Table:
        """Return a row for each number, in their order, each asked of its level."""
        table = np.zeros(len(numbers), dtype=dtype)
        of = numbers // SPAN
        for level in range(len(self.levels)):
            if len(held := np.flatnonzero(of == level)):
                asked = numbers[held] - level * SPAN
                table[held] = self.ask(level, partial(_asked, question, asked))
        return table

    def follow(self, view: View) -> None:  # noqa: ARG002 - as of one bank
        """Bring what is kept of every level up to what is seen of it."""
        self.each(lambda each: each.engine.cache.follow(each))

    @property
    def learned(self) -> Parameters:
        """What the project taught; of the shared banks, what hold-outs say of their lessons."""
        learned = [view.engine.cache.learned for view in self.levels]
        harms = ((level * SPAN + n, harm) for level, own in enumerate(learned) for n, harm in own.harms)
        harmful = ((level * SPAN + n, revision) for level, own in enumerate(learned) for n, revision in own.harmful)
        return replace(learned[0], harms=tuple(harms), harmful=tuple(harmful))

    def passing(self, view: View, filters: Filters) -> Passing:  # noqa: ARG002
        """Return which memories pass filters."""
        found = self.each(lambda each: each.engine.cache.passing(each, filters))
        return Passing(
            np.concatenate([each.memories + level * SPAN for level, each in enumerate(found)]),
            np.concatenate([_at(each.vectors, level) for level, each in enumerate(found)]),
            np.concatenate([each.happened for each in found]),
        )

    def matches(self, view: View, terms: Sequence[str]) -> tuple[Rows, Scores, int]:  # noqa: ARG002
        """Return the memories that hold any of the rarest terms, with their BM25 as in one bank of all, of how many."""
        found = self.each(lambda each: each.engine.cache.postings(each, terms))
        held: dict[str, list[Postings]] = {}
        for level, (postings, _) in enumerate(found):
            for term, each in postings.items():
                held.setdefault(term, []).append(replace(each, rows=each.rows + level * SPAN))
        documents, words = (sum(totals[i] for _, totals in found) for i in (0, 1))
        return *bm25([_one(each) for each in held.values()], documents, words), documents

    def candidates(self, view: View, numbers: Int64) -> Table:  # noqa: ARG002
        """Return the CANDIDATE columns of these memories; what a nearer one says too is as good as gone."""
        table = self.rows(numbers, CANDIDATE, lambda each, asked: each.engine.cache.candidates(each, asked))
        of = numbers // SPAN
        for column in ("first", "second"):
            table[column] += np.where(table[column] > 0, of * SPAN, 0)
        now = self.levels[0].engine.now().timestamp()
        served = np.flatnonzero(table["there"] & (table["state"] == ACTIVE) & (table["expires"] > now))
        self.twins, gone = {}, set[int]()
        for far, near in self._same(numbers[served], table["first"][served]):
            if far not in gone and near not in gone:
                gone.add(far)
                self.twins.setdefault(near, []).append(far)
        table["there"] &= ~np.isin(numbers, np.array([*gone], dtype=np.int64))
        return table

    def _same(self, numbers: Int64, vectors: Int64) -> Iterator[tuple[int, int]]:
        """Yield each memory of a farther level with each that is nearer and says the same: what came of it first."""
        of = numbers // SPAN
        if not of.any():
            return
        near_by = set(numbers[of == 0].tolist())
        for level in range(1, len(self.levels)):
            asked = (numbers[of == level] - level * SPAN).tolist()
            came = self.ask(level, partial(self._origins, asked))
            own = records.numbers_of(self.levels[0], [each.origin for each in came])
            for each in came:
                if (n := own.get(each.origin, 0)) in near_by:
                    yield each.n + level * SPAN, n
        least, dim = self.levels[0].engine.settings.duplicate_similarity, self.dim
        there = np.flatnonzero(vectors)
        rows, levels = self.vectors.vectors(self.levels[0], vectors[there], dim), of[there]
        for level in range(1, len(self.levels)):
            # Each level against those nearer: all against all is three times the work. And row by row: one product of
            # matrices wakes BLAS's threads, which takes a hundred times as long where the processors are busy.
            farther, nearer = np.flatnonzero(levels == level), np.flatnonzero(levels < level)
            against = rows[nearer]
            cosines = np.array([against @ row for row in rows[farther]]).reshape(len(farther), len(nearer))
            far, near = np.nonzero(cosines > least)
            for i in np.lexsort((-cosines[far, near], levels[nearer[near]])).tolist():
                pair = numbers[there[[farther[far[i]], nearer[near[i]]]]]
                yield from self._if_alike(pair)

    def _if_alike(self, pair: Int64) -> Iterator[tuple[int, int]]:
        """Yield two memories whose vectors are alike, if they are of one outcome."""
        one, other = self._known(pair)["memory"].tolist()
        if one is not None and other is not None and one.outcome is other.outcome:
            yield int(pair[0]), int(pair[1])

    def lesson_vectors(self, numbers: Int64) -> Float32:
        """Return the (n, dim) lesson vectors of memories, in their order; zeros where there are none."""
        table = self.rows(numbers, CANDIDATE, lambda each, asked: each.engine.cache.candidates(each, asked))
        ids = table["first"] + np.where(table["first"] > 0, numbers // SPAN * SPAN, 0)
        return self.vectors.vectors(self.levels[0], ids, self.dim)

    def _origins(self, numbers: Sequence[int], view: View) -> list[sharing.Origin]:
        return sharing.promoted_from(view, self.levels[0].engine.project_name, numbers)

    @property
    def dim(self) -> int:
        """How many numbers a vector has; those of all levels are of one embedder."""
        generations = (view.moment.generation for view in self.levels)
        return next((generation.dim for generation in generations if generation is not None), 0)

    def known(self, view: View, numbers: Int64) -> Table:  # noqa: ARG002
        """Return the KNOWN columns of these memories."""
        return self._known(numbers)

    def _known(self, numbers: Int64) -> Table:
        table = self.rows(numbers, KNOWN, lambda view, asked: view.engine.cache.known(view, asked))
        of = numbers // SPAN
        for column in ("n", "source"):
            table[column] += np.where(table[column] > 0, of * SPAN, 0)
        return table


class JoinedVectors:
    """What a search asks of `VectorCache`, of all levels."""

    def __init__(self, cache: JoinedCache) -> None:
        self._cache = cache

    @property
    def said(self) -> Said:
        """What is to be said of the last search: what kept it from looking at every level's vectors."""
        said, problems = Said(), self._cache.each(lambda each: each.engine.cache.vectors.said.problem)
        said.problem = next((problem for problem in problems if problem is not None), None)
        return said

    def nearest(
        self,
        view: View,  # noqa: ARG002 - as of one bank
        vector: Float32,
        k: int,
        allowed: Int64 | None = None,
    ) -> tuple[Int64, Float32]:
        """Return what up to `k` vectors belong to, and their cosines, nearest first."""
        numbers, near, farthest = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32), -math.inf
        for level in range(len(self._cache.levels)):
            mine = None if allowed is None else allowed[(allowed // SPAN == level) & (allowed > 0)] - level * SPAN
            # What is not nearer than `k` of the levels before is not worth its exact cosine.
            owners, cosines = self._cache.ask(
                level, partial(_nearest, vector=vector, k=k, allowed=mine, least=farthest)
            )
            numbers, near = np.concatenate([numbers, owners + level * SPAN]), np.concatenate([near, cosines])
            farthest = float(np.partition(near, -k)[-k]) if 0 < k <= len(near) else -math.inf
        order = np.argsort(-near, kind="stable")[:k]
        return numbers[order], near[order]

    def vectors(self, view: View, ids: Int64, dim: int) -> Float32:  # noqa: ARG002
        """Return the (n, dim) vectors with these ids, in their order; zeros for 0."""
        rows = np.zeros((len(ids), dim), dtype=np.float32)
        of = ids // SPAN
        for level in range(len(self._cache.levels)):
            if len(held := np.flatnonzero((of == level) & (ids > 0))):
                asked = ids[held] - level * SPAN
                rows[held] = self._cache.ask(level, partial(_vectors, ids=asked, dim=dim))
        return rows

    def scale(self, view: View) -> Scale:  # noqa: ARG002
        """Return how cosines are to be read: as in the level with the most vectors."""
        held = self._cache.each(lambda each: each.engine.cache.vectors.follow(each))
        most = max(range(len(held)), key=lambda level: 0 if (filled := held[level]) is None else len(filled.index))
        return self._cache.ask(most, lambda each: each.engine.cache.vectors.scale(each))


def _asked(question: Callable[[View, Int64], Table], numbers: Int64, view: View) -> Table:
    return question(view, numbers)


def _nearest(view: View, *, vector: Float32, k: int, allowed: Int64 | None, least: float) -> tuple[Int64, Float32]:
    return view.engine.cache.vectors.nearest(view, vector, k, allowed, least)


def _vectors(view: View, *, ids: Int64, dim: int) -> Float32:
    return view.engine.cache.vectors.vectors(view, ids, dim)


def _at(ids: Int64, level: int) -> Int64:
    """Return the ids of vectors of a level among those of all; 0 stays 0."""
    return np.where(ids > 0, ids + level * SPAN, 0)


def _one(postings: Sequence[Postings]) -> Postings:
    """Return the postings of one term in several levels as one."""
    return Postings(
        np.concatenate([each.rows for each in postings]),
        np.concatenate([each.counts for each in postings]),
        np.concatenate([each.lengths for each in postings]),
    )

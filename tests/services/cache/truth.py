"""What a view sees, asked of the database, and what a cache says of it; with an embedder that may fail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.errors import EmbeddingError
from reasoningbank.filters import Filters, conditions
from reasoningbank.search.bm25 import within_budget
from reasoningbank.search.selection import judged_and_votes
from reasoningbank.search.terms import match_expression
from reasoningbank.services.cache.postings import BUDGET
from reasoningbank.services.cache.project import STATES, ProjectCache
from reasoningbank.services.view import View
from reasoningbank.signals import parse_time
from reasoningbank.storage import words
from reasoningbank.storage.filters import clause
from reasoningbank.vectors.base import Float32


class Moody(HashEmbedder):
    """An embedder that fails when it is told to."""

    fails = False

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        if self.fails:
            raise EmbeddingError("not today")
        return super().embed_documents(texts)


QUESTIONS = (("quot", "path"), ("#417",), ("shell", "migrat", "retri"))
FILTERS = (
    Filters(tags=("a",)),
    Filters(where=conditions({"team": 1})),
    Filters(sources=("forum",)),
    Filters(tags=("a",), since=datetime(2026, 2, 1, tzinfo=UTC)),
)

Facts = dict[int, Any]


def _seconds(at: str | None) -> float:
    return math.inf if at is None else parse_time(at).timestamp()


def rounded(*numbers: float) -> tuple[float, ...]:
    """Beliefs that are computed together differ from each one alone by a rounding."""
    return tuple(round(float(number), 9) for number in numbers)


@dataclass(frozen=True)
class Truth:
    """What a view sees, asked of the database without any cache.

    Attributes:
        candidates: state, ids of vectors and when it expires, by row number.
        known: what is looked at of those that lead, by row number.
        passing: what passes each of FILTERS.
        matches: what each of QUESTIONS finds by keyword.
        vectors: row number of the owner, by id.
    """

    candidates: Facts
    known: Facts
    passing: list[set[tuple[int, int]]]
    matches: list[list[tuple[int, float]]]
    vectors: dict[int, int]

    @classmethod
    def of(cls, view: View) -> Truth:
        held = "SELECT id, memory FROM vectors JOIN generations USING (generation) WHERE generations.state = 'current'"
        vectors = dict(view.execute(held).fetchall())
        states = dict(view.execute("SELECT n, state FROM memories").fetchall())
        expiring = {n: _seconds(at) for n, at in view.execute("SELECT n, expires_at FROM memories")}
        ids = {n: {number for number, owner in vectors.items() if owner == n} for n in states}
        rows, texts = view.load(states), words.texts(view, states)
        beliefs, shown = view.beliefs(rows.values()), view.shown(states)
        return cls(
            {n: (state, ids[n], expiring[n]) for n, state in states.items()},
            {
                n: (
                    (
                        rounded(beliefs[n].mean, beliefs[n].deviation, beliefs[n].high),
                        row.usage_count,
                        *judged_and_votes(row.tallies),
                    ),
                    (row.touched.timestamp(), row.source.trusted, shown[n], texts[n]),
                )
                for n, row in rows.items()
            },
            [cls._passing(view, filters, ids) for filters in FILTERS],
            [cls._matches(view, wanted) for wanted in QUESTIONS],
            vectors,
        )

    @staticmethod
    def _passing(view: View, filters: Filters, ids: dict[int, set[int]]) -> set[tuple[int, int]]:
        condition, values = clause(filters)
        numbers = [n for (n,) in view.execute(f"SELECT n FROM memories WHERE {condition}", values)]
        return {(n, number) for n in numbers for number in ids[n] or {0}}

    @staticmethod
    def _matches(view: View, wanted: Sequence[str]) -> list[tuple[int, float]]:
        asked = match_expression(within_budget(view.words.sizes(wanted), BUDGET))
        sql = "SELECT rowid, -bm25(terms) FROM terms WHERE terms MATCH ? ORDER BY rowid"
        return view.execute(sql, (asked,)).fetchall() if asked else []


def candidates(cache: ProjectCache, view: View, numbers: Sequence[int]) -> Facts:
    table = cache.candidates(view, np.array(numbers))
    rows = zip(numbers, table.tolist(), strict=True)
    return {n: (STATES[state], {first, second} - {0}, at) for n, (there, state, first, second, at) in rows if there}


def known(cache: ProjectCache, view: View, numbers: Sequence[int]) -> Facts:
    return {
        int(row["n"]): (
            (rounded(row["mean"], row["deviation"], row["high"]), row["usage"], row["judged"], row["votes"]),
            (row["touched"], row["source"] == 0, row["memory"], row["terms"]),
        )
        for row in cache.known(view, np.array(numbers))
        if row["n"]
    }


def passing(cache: ProjectCache, view: View) -> list[set[tuple[int, int]]]:
    found = [cache.passing(view, filters) for filters in FILTERS]
    return [set(zip(each.memories.tolist(), each.vectors.tolist(), strict=True)) for each in found]


def matches(cache: ProjectCache, view: View) -> list[list[tuple[int, float]]]:
    found = [cache.matches(view, wanted) for wanted in QUESTIONS]
    return [list(zip(rows.tolist(), scores.tolist(), strict=True)) for rows, scores, _ in found]


def near(cache: ProjectCache, view: View) -> list[int]:
    """Return the owners of all vectors."""
    generation = view.moment.generation
    query = np.eye(1, 1 if generation is None else generation.dim, dtype=np.float32)[0]
    return sorted(cache.vectors.nearest(view, query, 1_000)[0].tolist())

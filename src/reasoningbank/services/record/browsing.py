"""Lists of memories by what is believed of them and how often they were handed out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from reasoningbank.arguments import cursor, cursor_at, place, position
from reasoningbank.belief.belief import Standing
from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import Filters
from reasoningbank.memory import State
from reasoningbank.results import Page
from reasoningbank.search.relevance import Mask
from reasoningbank.services.cache.columns import Table
from reasoningbank.services.engine import Engine
from reasoningbank.services.record import record
from reasoningbank.services.view import View
from reasoningbank.storage import records
from reasoningbank.vectors.base import Int64

Sort = Literal["recorded", "newest", "most_believed", "least_believed", "most_used", "least_used"]
# The column that each is sorted by, and whether the largest comes first.
COLUMNS: Final = {
    "most_believed": ("mean", True),
    "least_believed": ("mean", False),
    "most_used": ("usage", True),
    "least_used": ("usage", False),
}
_SORTED = "sorted"
# So many are looked at together at first; where few of them pass, more each time, since each time sorts all anew.
_BATCH, _GROWTH = 1_000, 8


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is asked of memories beside the filters; None asks nothing.

    Attributes:
        floor: confidence at or above which a memory is proven.
        used: whether it was ever handed out.
        least, most: between which confidences it is believed, both included.
    """

    floor: float
    standing: Standing | None = None
    used: bool | None = None
    least: float = 0.0
    most: float = 1.0

    def passes(self, table: Table) -> Mask:
        """Tell which rows of the STANDING columns pass."""
        passing: Mask = (table["n"] > 0) & (table["mean"] >= self.least) & (table["mean"] <= self.most)
        if self.used is not None:
            passing &= (table["usage"] > 0) == self.used
        if self.standing is not None:
            passing &= record.standings(table, self.floor) == self.standing
        return passing


def page(engine: Engine, filters: Filters, sifted: Sifted | None, sort: Sort, after: str | None, limit: int) -> Page:
    """Return up to `limit` memories behind `after`, in the order of `sort`.

    InvalidInputError for an `after` that is no place of such a list.
    """
    sifted = sifted or Sifted(engine.settings.floor)
    with engine.read() as view:
        engine.cache.follow(view)
        if sort in COLUMNS:
            found = _by_number(view, filters, sifted, sort, after, limit + 1)
        else:
            found = _in_order(view, filters, sifted, sort, after, limit + 1)
        following = found[limit - 1][1] if len(found) > limit else None
        return record.page_of(view, [n for n, _ in found[:limit]], following)


def count(engine: Engine, filters: Filters, sifted: Sifted) -> int:
    """Return how many memories pass the filters and what is asked beside."""
    with engine.read() as view:
        engine.cache.follow(view)
        return int(sifted.passes(_table(view, filters)).sum())


def counts(engine: Engine, floor: float) -> dict[str, int]:
    """Return how many memories there are by standing, of those in service, and by state, of the others."""
    with engine.read() as view:
        engine.cache.follow(view)
        now = record.standings(_table(view, Filters()), floor)
        states = {state: records.count(view, Filters(states=(state,))) for state in State if state is not State.ACTIVE}
        return {each.value: int((now == each).sum()) for each in Standing} | {s.value: n for s, n in states.items()}


def _table(view: View, filters: Filters) -> Table:
    """Return the STANDING columns of the memories that pass filters, in the order they were recorded."""
    numbers: Int64 = np.unique(view.engine.cache.passing(view, filters).memories)
    return view.engine.cache.standing(view, numbers)


def _by_number(
    view: View, filters: Filters, sifted: Sifted, sort: Sort, after: str | None, limit: int
) -> list[tuple[int, str]]:
    column, largest_first = COLUMNS[sort]
    table = _table(view, filters)
    table = table[sifted.passes(table)]
    keys = np.asarray(table[column], dtype=np.float64) * (-1.0 if largest_first else 1.0)
    order = np.lexsort((table["n"], keys))
    keys, numbers = keys[order], table["n"][order]
    if (begin := _read(after)) is not None:
        key, n = begin
        behind = (keys > key) | ((keys == key) & (numbers > n))
        keys, numbers = keys[behind], numbers[behind]
    pairs = zip(keys[:limit].tolist(), numbers[:limit].tolist(), strict=True)
    return [(n, f"{_SORTED}:{key!r}:{n}") for key, n in pairs]


def _read(after: str | None) -> tuple[float, int] | None:
    if after is None:
        return None
    with suppress(ValueError):
        name, key, n = after.split(":")
        if name == _SORTED:
            return float(key), int(n)
    raise InvalidInputError(f"after {after!r:.80} is not the `next` of a page that is sorted so: leave it out")


def _in_order(
    view: View, filters: Filters, sifted: Sifted, sort: Sort, after: str | None, limit: int
) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for batch in _newest(view, filters, after) if sort == "newest" else _recorded(view, filters, after):
        passing = sifted.passes(view.engine.cache.standing(view, np.array([n for n, _ in batch], dtype=np.int64)))
        found += [each for each, passes in zip(batch, passing.tolist(), strict=True) if passes]
        if len(found) >= limit:
            break
    return found[:limit]


def _recorded(view: View, filters: Filters, after: str | None) -> Iterator[list[tuple[int, str]]]:
    last, batch = position("memories", after), _BATCH
    while numbers := records.page(view, filters, last, batch):
        batch *= _GROWTH
        yield [(n, cursor("memories", n) or "") for n in numbers]
        last = numbers[-1]


def _newest(view: View, filters: Filters, after: str | None) -> Iterator[list[tuple[int, str]]]:
    last, batch = place(after), _BATCH
    while rows := records.newest(view, filters, last, batch):
        batch *= _GROWTH
        yield [(n, cursor_at((n, happened))) for n, happened in rows]
        last = rows[-1][1], rows[-1][0]

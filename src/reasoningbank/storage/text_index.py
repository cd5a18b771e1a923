"""What the text index knows: in how many memories terms occur, and which of them to ask for."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

VIEWS = (
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'terms', 'row')",
    "CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab('main', 'terms', 'instance')",
)
"""For each connection once: views of the text index, which take no space and are never out of date."""

BUDGET = 4_000
"""How many postings a keyword search looks at: about 2 ms on a quiet machine to read, however large the bank is."""


Counted = dict[str, tuple[int, int]]
"""In how many memories terms were, and the newest change then."""

REMEMBERED = 20_000
"""Terms whose counts are remembered."""


def rarest(
    connection: sqlite3.Connection, wanted: Sequence[str], counted: Counted, newest: int, *, budget: int = BUDGET
) -> list[str]:
    """Return the terms that tell most, the rarest first: as many as occur in up to `budget` memories together.

    The rarest one that occurs at all is always among them; terms that occur nowhere are not. In a bank of a few hundred
    memories all terms stay.

    Args:
        counted: what earlier calls found out, and this one adds to. Counting a common term reads all of its entries;
            but a change moves a count by one at most, so that one which was far beyond `budget` still is.
        newest: the newest change that this transaction sees.
    """
    told = {term: known for term in wanted if (known := counted.get(term)) is not None}
    small = [term for term in wanted if not _is_beyond(told.get(term), newest, budget)]
    sizes = _sizes(connection, small, told, newest)
    if not sizes or sizes[0][0] > budget:
        sizes = _sizes(connection, wanted, told, newest)
    if len(counted) > REMEMBERED:
        counted.clear()
    counted.update(told)
    kept: list[str] = []
    for size, term in sizes:
        budget -= size
        if kept and budget < 0:
            break
        kept.append(term)
    return kept


def _is_beyond(known: tuple[int, int] | None, newest: int, budget: int) -> bool:
    return known is not None and known[0] - abs(newest - known[1]) > budget


def _sizes(connection: sqlite3.Connection, wanted: Sequence[str], told: Counted, newest: int) -> list[tuple[int, str]]:
    """Return in how many memories each term is that is in any, the rarest first; what is counted is added to `told`."""
    asked = [term for term in wanted if term not in told or told[term][1] != newest]
    if asked:
        told.update(dict.fromkeys(asked, (0, newest)))
        rows = connection.execute(
            "SELECT term, doc FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?))", (json.dumps(asked),)
        )
        told.update((term, (memories, newest)) for term, memories in rows)
    return sorted((told[term][0], term) for term in wanted if told[term][0])


@dataclass(frozen=True, slots=True)
class Indexed:
    """The terms of one memory, with how often it has each, and how many it has altogether."""

    counts: Mapping[str, int]
    length: int


def indexed(connection: sqlite3.Connection, numbers: Collection[int]) -> dict[int, Indexed]:
    """Return the terms that these memories are indexed under; those that are gone have none."""
    found = {n: Indexed({}, 0) for n in numbers}
    for n, text in indexed_text(connection, numbers).items():
        terms = text.split()
        found[n] = Indexed(Counter(terms), len(terms))
    return found


def indexed_text(connection: sqlite3.Connection, numbers: Collection[int]) -> dict[int, str]:
    """Return the terms, separated by blanks, that those of these memories are indexed under that are there."""
    rows = connection.execute(
        "SELECT rowid, text FROM terms WHERE rowid IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
    )
    return dict(rows)

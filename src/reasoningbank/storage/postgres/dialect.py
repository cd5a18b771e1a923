"""Our statements, as PostgreSQL takes them."""

from __future__ import annotations

import re
from functools import lru_cache

# A text, a list in IN, a value, the key of an upsert (whose first column is the project), or a sign of psycopg's own.
_PARTS = re.compile(
    r"(?P<text>'(?:[^']|'')*')|(?P<isnot>\bNOT\s+)?\bIN \(:(?P<list>\w+)\)|(?<!:):(?P<name>[a-z_]\w*)|(?P<mark>\?)"
    r"|(?P<key>\bON CONFLICT ?\()|(?P<percent>%)"
)


@lru_cache(maxsize=1024)
def translated(sql: str) -> str:
    """Return a statement with `?`, `:name` and `IN (:name)` as psycopg has them, and the project in an upsert's key."""
    return _PARTS.sub(_part, sql)


def _part(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "text":
        return match[0].replace("%", "%%")
    if kind == "list":
        return f"{'<> ALL' if match['isnot'] else '= ANY'}(%({match['list']})s)"
    if kind == "name":
        return f"%({match['name']})s"
    return {"mark": "%s", "key": "ON CONFLICT (project, ", "percent": "%%"}[str(kind)]


# What `translated` leaves of values and of a percent sign.
_MARKS = re.compile(r"%\((?P<name>\w+)\)s|%s|%%")
_LONGEST = 10_000  # characters of a statement that is kept as pieces: longer ones are imports


def pieces(sql: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the texts before, between and behind the values of a translated statement, and the names of the values.

    Names are empty where values go by their order. A name that comes twice is two values, each of its place's type.
    """
    return _kept_pieces(sql) if len(sql) <= _LONGEST else _pieces(sql)


def _pieces(sql: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    texts, names, last = [""], [], 0
    for match in _MARKS.finditer(sql):
        texts[-1] += sql[last : match.start()]
        last = match.end()
        if match[0] == "%%":
            texts[-1] += "%"
        else:
            names.append(match["name"] or "")
            texts.append("")
    texts[-1] += sql[last:]
    return tuple(texts), tuple(names)


_kept_pieces = lru_cache(maxsize=256)(_pieces)


def numbered(sql: str) -> str:
    """Return a translated statement with `$1`, `$2`, … for its values."""
    (first, *others), _ = pieces(sql)
    return first + "".join(f"${n}{text}" for n, text in enumerate(others, 1))

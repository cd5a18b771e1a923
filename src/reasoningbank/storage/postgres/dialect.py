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


@lru_cache(maxsize=256)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return a translated statement with `$1`, `$2`, … for its values, and their names, where they have any.

    A name that comes twice is two values: each has the type of its place.
    """
    names: list[str] = []

    def part(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        names.append(match["name"] or "")
        return f"${len(names)}"

    text = _MARKS.sub(part, sql)
    return text, tuple(filter(None, names))

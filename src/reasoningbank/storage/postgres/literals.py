"""Values as they stand in a statement: many of them go in one text, so they are written here rather than bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import psycopg

from reasoningbank.storage.postgres.dialect import pieces

if TYPE_CHECKING:
    from reasoningbank.storage.contract import Values


class Literals:
    """Writes statements for one connection, as `psycopg.ClientCursor.mogrify` does.

    Plain numbers and texts, most of all values, are written here, which takes a fifth of its time; all else by it.
    """

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._cursor = psycopg.ClientCursor(connection)

    def literal(self, value: object) -> str:
        """Return a value as it stands in a statement."""
        if value is None:
            return "NULL"
        if type(value) is int:
            # Behind a minus another one would begin a comment.
            return f"{value}" if value >= 0 else f" {value}"
        # What a backslash means depends on the server's settings, and no text holds NUL.
        if type(value) is str and "\\" not in value and "\0" not in value:
            return "'" + value.replace("'", "''") + "'"
        return self._cursor.mogrify("%s", (value,))

    def listed(self, values: Iterable[object]) -> str:
        """Return values with commas between them."""
        return ", ".join(map(self.literal, values))

    def written(self, sql: str, values: Values) -> str:
        """Return a translated statement with its values in it."""
        (first, *others), _ = split = pieces(sql)
        if not others:
            return first
        return first + "".join(
            chain.from_iterable(zip(map(self.literal, in_order(split[1], values)), others, strict=True))
        )


def in_order(names: tuple[str, ...], values: Values) -> Iterable[object]:
    """Return values in the order of the places that names say."""
    return [values[name] for name in names] if isinstance(values, Mapping) else values

"""Statements that a session keeps planned: over partitioned tables, planning takes longer than what is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from reasoningbank.storage.postgres.dialect import numbered

if TYPE_CHECKING:
    from reasoningbank.storage.contract import Values
    from reasoningbank.storage.postgres.wire import Asked

MOST_KEPT = 100  # statements of one session: each takes some 50 kB of the server's memory
MOST_SEEN = 500
# Characters of a trip in which any is prepared: the server keeps all of its text with each, and long ones are imports.
LONGEST = 20_000
_TRANSACTION = ("BEGIN", "COMMIT")
_TYPES: dict[type, str] = {float: "double precision", bytes: "bytea", bool: "smallint"}

_Key: TypeAlias = "tuple[str, tuple[str, ...]]"


class Prepared:
    """The statements of one session, which are prepared when they come for the second time.

    Args:
        written: writes a statement with its values in it, as `psycopg.ClientCursor.mogrify` does.
    """

    def __init__(self, written: Callable[[str, Values], str]) -> None:
        self._written = written
        self._seen: set[str] = set()
        self._kept: dict[_Key, str] = {}
        self._new: dict[_Key, str] = {}
        self._count = 0

    def texts(self, asked: Sequence[Asked]) -> list[list[str]]:
        """Return what to send for each of the statements of a trip; the last of its texts answers it."""
        short = sum(len(sql) + sum(map(_size, _values(values))) for sql, values in asked) <= LONGEST
        return [self._texts(sql, values, short=short) for sql, values in asked]

    def _texts(self, sql: str, values: Values, *, short: bool) -> list[str]:
        if sql not in self._seen or sql.startswith(_TRANSACTION):
            if short:
                self._see(sql)
            return [self._written(sql, values)]
        text, names = numbered(sql)
        given = [values[name] for name in names] if isinstance(values, Mapping) else list(values)
        key = sql, tuple(map(_type, given))
        there = key in self._kept or key in self._new
        if not (there or short):
            return [self._written(sql, values)]
        before = [] if there else self._prepare(key, text)
        name = self._new.get(key) or self._used(key)
        marks = f"({', '.join(['%s'] * len(given))})" if given else ""
        return [*before, self._written(f"EXECUTE {name}{marks}", given)]

    def _see(self, sql: str) -> None:
        if len(self._seen) >= MOST_SEEN:
            self._seen.clear()
        self._seen.add(sql)

    def _prepare(self, key: _Key, text: str) -> list[str]:
        self._count += 1
        # Never a name that was given before: it may be there although what came after it failed.
        name = self._new[key] = f"kept_{self._count}"
        types = f"({', '.join(key[1])})" if key[1] else ""
        prepared = f"PREPARE {name}{types} AS {text}"
        if len(self._kept) + len(self._new) <= MOST_KEPT or not self._kept:
            return [prepared]
        return [f"DEALLOCATE {self._kept.pop(next(iter(self._kept)))}", prepared]

    def _used(self, key: _Key) -> str:
        """Return the name of a statement that is kept, which is now the one that was used last."""
        name = self._kept[key] = self._kept.pop(key)
        return name

    def sent(self) -> None:
        """Know that all that was to be prepared is."""
        self._kept |= self._new
        self._new = {}

    def failed(self) -> None:
        """Forget what was to be prepared: nobody knows whether it is."""
        self._new = {}


def _values(values: Values) -> Iterable[object]:
    return values.values() if isinstance(values, Mapping) else values


def _size(value: object) -> int:
    return len(value) * (2 if isinstance(value, bytes) else 1) if isinstance(value, str | bytes | list) else 1


def _type(value: object) -> str:
    """Return the type that a value has when it is written into a statement; where context says it, `unknown`."""
    if isinstance(value, list):
        # What a list holds is written as text, and what it is compared with says its type.
        return "unknown"
    if type(value) is int:
        return "integer" if -(2**31) <= value < 2**31 else "bigint"
    return _TYPES.get(type(value), "unknown")

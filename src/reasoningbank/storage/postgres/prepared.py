"""Statements that a session keeps planned: over partitioned tables, planning takes longer than what is planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from reasoningbank.storage.postgres.dialect import numbered, pieces
from reasoningbank.storage.postgres.literals import Literals, in_order

if TYPE_CHECKING:
    from reasoningbank.storage.contract import Values
    from reasoningbank.storage.postgres.wire import Asked

MOST_KEPT = 200  # statements of one session: each takes some 50 kB of the server's memory
MOST_SEEN = 500
# Characters of a trip in which any is prepared: the server keeps all of its text with each, and long ones are imports.
LONGEST = 20_000
_TRANSACTION = ("BEGIN", "COMMIT")
_TYPES: dict[type, str] = {float: "double precision", bytes: "bytea", bool: "smallint"}

_Key: TypeAlias = "tuple[int, str, tuple[str, ...]]"


class Prepared:
    """The statements of one session, which are prepared when they come for the second time.

    Args:
        literals: write statements with their values in them.
    """

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self._seen: set[str] = set()
        self._kept: dict[_Key, str] = {}
        self._new: dict[_Key, str] = {}
        self._count = self._size = 0

    def suit(self, changes: int) -> None:
        """Go on with plans for projects that had about so many changes, within eight times.

        What is planned for a handful of rows may go through all of them, and would be kept for the largest project that
        the session serves.
        """
        self._size = changes.bit_length() // 3

    def texts(self, asked: Sequence[Asked]) -> list[list[str]]:
        """Return what to send for each of the statements of a trip; the last of its texts answers it."""
        short = sum(len(sql) + sum(map(_size, _values(values))) for sql, values in asked) <= LONGEST
        return [self._texts(sql, values, short=short) for sql, values in asked]

    def _texts(self, sql: str, values: Values, *, short: bool) -> list[str]:
        if sql not in self._seen or sql.startswith(_TRANSACTION):
            if short:
                self._see(sql)
            return [self._literals.written(sql, values)]
        given = list(in_order(pieces(sql)[1], values))
        key = self._size, sql, tuple(map(_type, given))
        there = key in self._kept or key in self._new
        if not (there or short):
            return [self._literals.written(sql, values)]
        before = [] if there else self._prepare(key)
        name = self._new.get(key) or self._used(key)
        return [*before, f"EXECUTE {name}({self._literals.listed(given)})" if given else f"EXECUTE {name}"]

    def _see(self, sql: str) -> None:
        if len(self._seen) >= MOST_SEEN:
            self._seen.clear()
        self._seen.add(sql)

    def _prepare(self, key: _Key) -> list[str]:
        self._count += 1
        # Never a name that was given before: it may be there although what came after it failed.
        name = self._new[key] = f"kept_{self._count}"
        _, sql, types = key
        of_types = f"({', '.join(types)})" if types else ""
        prepared = f"PREPARE {name}{of_types} AS {numbered(sql)}"
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

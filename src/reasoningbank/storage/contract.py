"""What one transaction sees of a project, and what it may do: all that anything above storage knows of a database.

SQL goes through here in the subset that every engine speaks: `?` or `:name`; a list in `IN (:name)`; upserts that name
their key; no numbers asked back from an insert; truth as 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from reasoningbank.signals import Signal
    from reasoningbank.storage.fold import Facts, Folded
    from reasoningbank.storage.words import Words
    from reasoningbank.vectors.base import Float32

Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
INDEXES = ("terms", "node_terms")
"""The text indexes: of memories, and of the graph's nodes."""

Op: TypeAlias = Literal["put", "delete", "evidence"]


class Generation(NamedTuple):
    """A generation of vectors, with the identity of the embedder they are of, as it is stored."""

    number: int
    name: str
    revision: str
    dim: int
    pooling: str
    normalised: int


class Moment(NamedTuple):
    """Which state of a project a transaction sees, read once when it begins.

    Attributes:
        deleted: the project is marked as deleted.
        change: number of the newest change in the feed of memories; 0 when there was none.
        node_change: the same of the graph's nodes.
        fit: number of the newest fit of the confidence model's parameters; 0 when there is none.
        pinned: some memory is pinned.
        generation: the vectors that are searched; None before the first.
        moved_to: where the project is now; None when it is here.
        format: of the schema, in a folder.
    """

    deleted: bool
    change: int
    node_change: int
    fit: int
    pinned: bool
    generation: Generation | None
    moved_to: str | None = None
    format: int = 0

    @property
    def searched(self) -> int:
        """Number of the generation that is searched; 0 before the first."""
        return 0 if self.generation is None else self.generation.number


class Rows(Protocol):
    """What a question gives, as Python's database interface (PEP 249) has it."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchmany(self, size: int = ..., /) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Near(Protocol):
    """How an engine that can search vectors is asked to."""

    def nearest(
        self, generation: int, vector: Float32, k: int, allowed: Sequence[int] | None, least: float
    ) -> list[tuple[int, float]]:
        """Return what up to `k` vectors belong to (row numbers), and their cosines, nearest first.

        Considered are those of a generation, with `allowed` ids (None for all), whose cosine is at least `least`.
        """

    def expect(self, generation: int, dim: int) -> None:
        """Let the engine get ready for a first search, without waiting for it."""


class Reading(Protocol):
    """One state of one project. A project that does not exist is one without any rows."""

    @property
    def moment(self) -> Moment:
        """Which state it is."""

    @property
    def folder(self) -> Path | None:
        """Where the project's files are, or would be; None where an engine keeps none."""

    @property
    def words(self) -> Words:
        """The text indexes."""

    @property
    def near(self) -> Near | None:
        """The vectors of memories as the engine itself searches them; None where it cannot."""

    @property
    def format(self) -> int:
        """Number of the newest migration that the database has."""

    def given(self) -> dict[str, int]:
        """Return the last row number of each table that was ever given, as of this transaction's beginning."""

    def execute(self, sql: str, values: Values = (), /) -> Rows:
        """Ask a question. A list among named values stands for `IN (:name)`."""


def column(reading: Reading, sql: str, values: Values = ()) -> list[Any]:
    """Return the only column of what a question gives."""
    return [value for (value,) in reading.execute(sql, values)]


def number(reading: Reading, sql: str, values: Values = ()) -> int:
    """Return the one number that a question gives."""
    return int(reading.execute(sql, values).fetchone()[0])


class Writing(Reading, Protocol):
    """A reading that is alone in its project until it ends, and may change it; all of it is kept, or nothing."""

    @property
    def newest_change(self) -> int:
        """Number of the newest change, those of this transaction included."""

    def refresh(self) -> None:
        """Read the moment anew: this transaction changed what it says."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], on: str = "", /) -> int:
        """Insert rows by as few statements as there can be; return how many were inserted or changed.

        What is done with a row that is there is said by `on`, as `ON CONFLICT (key) DO …`.
        """

    def number(self, table: str, count: int = 1, /) -> int:
        """Take the next `count` row numbers of a table, and return the first; no number is ever given twice."""

    def go_on_from(self, given: Mapping[str, int], /) -> None:
        """Give no number again that another place gave, whose rows were put here."""

    def tell(self, op: Op, memory: int, vector: int | None = None, /) -> None:
        """Tell the feed of a change; those of a transaction are written together at its end."""

    def write_signals(
        self, signals: Sequence[Signal], now: datetime, /, *, only_news: bool = False, facts: Facts | None = None
    ) -> list[Folded]:
        """Append signals to the log and count them; if `only_news`, without what would change nothing, or is too late.

        `facts` are what is known of them, where that was asked before in this transaction.

        StorageError when the disk refuses; nothing was appended then.
        """

    def reword_signals(self, said: Callable[[Signal], Signal], /) -> int:
        """Put what `said` makes of each signal of the kept log into its place; return how many it changed.

        What the rows that count them say is the caller's.
        """

    def catch_up(self) -> None:
        """Count what stands in the log and is not counted yet."""


def by_state(reading: Reading, table: str) -> dict[str, int]:
    """Return how many rows of a table are in each state."""
    return dict(reading.execute(f"SELECT state, count(*) FROM {table} GROUP BY state ORDER BY state").fetchall())

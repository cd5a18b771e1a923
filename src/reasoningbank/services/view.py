"""What one transaction sees of a project, with what this process knows of it: where every service begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reasoningbank.belief.belief import Belief, ConfidenceModel
from reasoningbank.embed.base import EmbedderIdentity
from reasoningbank.errors import CorruptionError, EmbedderMismatchError
from reasoningbank.memory import Memory
from reasoningbank.services.cache.shown import rescrubbed
from reasoningbank.signals import Signal
from reasoningbank.storage import generations, records
from reasoningbank.storage.contract import Generation, Moment, Near, Op, Reading, Rows, Values, Writing
from reasoningbank.storage.fold import Facts, Folded
from reasoningbank.storage.stored import Judged, Stored

if TYPE_CHECKING:
    from reasoningbank.services.engine import Engine
    from reasoningbank.storage.words import Words

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Asked(Protocol[T_co]):
    """A question to one of several banks, whose row numbers begin at `first` among those of all."""

    def __call__(self, view: View, /, first: int) -> T_co: ...


class View:
    """One state of a project; a `Reading`. A project that does not exist is seen as an empty one.

    Args:
        engine: whose project it is.
        reading: the transaction.
    """

    def __init__(self, engine: Engine, reading: Reading) -> None:
        self.engine, self._reading = engine, reading

    @property
    def moment(self) -> Moment:
        """Which state it is."""
        return self._reading.moment

    @property
    def folder(self) -> Path | None:
        """Where the project's files are, or would be."""
        return self._reading.folder

    @property
    def words(self) -> Words:
        """The text indexes."""
        return self._reading.words

    @property
    def near(self) -> Near | None:
        """The vectors as the engine itself searches them; None where it cannot."""
        return self._reading.near

    @property
    def format(self) -> int:
        """Number of the newest migration that the database has."""
        return self._reading.format

    def given(self) -> dict[str, int]:
        """Return the last row number of each table that was ever given."""
        return self._reading.given()

    def execute(self, sql: str, values: Values = (), /) -> Rows:
        """Ask a question; see `Reading.execute`. For the modules of storage: nothing else holds SQL."""
        return self._reading.execute(sql, values)

    def check_embedder(self, identity: EmbedderIdentity) -> None:
        """Check that the vectors that are searched are of this embedder, if there are any.

        Raises:
            EmbedderMismatchError: they are another's.
        """
        stored, engine = self.moment.generation, self.engine
        if stored is not None and identity_of(stored) != identity:
            alike = stored.name == identity.name
            own = "that one as an object" if alike else f"embedder={stored.name!r} (--embedder {stored.name})"
            raise EmbedderMismatchError(
                f"project {engine.project_name!r} holds vectors of {described(stored)}, not of {described(identity)}: "
                f"open it with {own}; or embed everything anew: reasoningbank reembed "
                f"--project {engine.project_name!r} --embedder {identity.name}"
            )

    def each(self, question: Asked[T]) -> list[T]:
        """Ask every bank that is seen here, giving it where its row numbers begin among those of all."""
        return [question(self, first=0)]

    # -- beliefs -------------------------------------------------------------------------------------------------

    @property
    def model(self) -> ConfidenceModel:
        """The confidence model with what this project has taught it."""
        return self.engine.models.current(self)

    def load(self, numbers: Iterable[int]) -> dict[int, Stored]:
        """Return the rows of memories with their tallies, by row number; numbers that are gone are left out."""
        return records.load(self, numbers, self.engine.project_name)

    def row(self, n: int) -> Stored:
        """Return the row of a memory that is there; CorruptionError when it cannot be read."""
        if (found := self.load([n]).get(n)) is None:
            path = self.engine.root
            raise CorruptionError(
                f"a memory's row in {path} is damaged: doctor names it, and what can be done", path=path
            )
        return found

    def beliefs(self, stored: Iterable[Stored | Judged]) -> dict[int, Belief]:
        """Return the belief about each memory, by row number."""
        return self.engine.models.beliefs(self, stored)

    def memories(self, stored: Mapping[int, Stored]) -> dict[int, Memory]:
        """Return the memories with their present confidence, by row number, in the given order."""
        beliefs = self.beliefs(stored.values())
        return {n: s.believed(beliefs[n].mean) for n, s in stored.items()}

    def shown(self, numbers: Iterable[int]) -> dict[int, Memory]:
        """Return memories as they may be shown, by row number, in the given order; those that are gone are left out."""
        asked = list(numbers)
        rows = self.load(asked)
        memories = self.memories({n: rows[n] for n in asked if n in rows})
        return {n: rescrubbed(memory, rows[n].scrub_version, self.engine.rules) for n, memory in memories.items()}


class Edit(View):
    """A view that may change the project, alone in it; a `Writing`. All of it is kept, or nothing."""

    def __init__(self, engine: Engine, writing: Writing) -> None:
        super().__init__(engine, writing)
        self._writing = writing

    @property
    def newest_change(self) -> int:
        """Number of the newest change, those of this transaction included."""
        return self._writing.newest_change

    def refresh(self) -> None:
        """Read the moment anew; see `Writing.refresh`."""
        self._writing.refresh()

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], on: str = "", /) -> int:
        """Insert rows; see `Writing.insert`."""
        return self._writing.insert(table, columns, rows, on)

    def number(self, table: str, count: int = 1, /) -> int:
        """Take row numbers; see `Writing.number`."""
        return self._writing.number(table, count)

    def go_on_from(self, given: Mapping[str, int], /) -> None:
        """Give no number again that another place gave; see `Writing.go_on_from`."""
        self._writing.go_on_from(given)

    def tell(self, op: Op, memory: int, vector: int | None = None, /) -> None:
        """Tell the feed; see `Writing.tell`."""
        self._writing.tell(op, memory, vector)

    def write_signals(
        self, signals: Sequence[Signal], now: datetime, /, *, only_news: bool = False, facts: Facts | None = None
    ) -> list[Folded]:
        """Append and count signals; see `Writing.write_signals`."""
        return self._writing.write_signals(signals, now, only_news=only_news, facts=facts)

    def reword_signals(self, said: Callable[[Signal], Signal], /) -> int:
        """Say the log otherwise; see `Writing.reword_signals`."""
        return self._writing.reword_signals(said)

    def catch_up(self) -> None:
        """Count what is not counted; see `Writing.catch_up`."""
        self._writing.catch_up()

    def generation(self, identity: EmbedderIdentity) -> int:
        """Return the number of the current generation, which is of this embedder; the first one begins here.

        Raises:
            EmbedderMismatchError: the vectors there are of another.
        """
        self.check_embedder(identity)
        current = self.moment.generation
        return add_generation(self, identity, "current") if current is None else current.number


def add_generation(writing: Writing, identity: EmbedderIdentity, state: str) -> int:
    """Begin a generation of vectors of this embedder, and return its number."""
    embedder = (identity.name, identity.revision, identity.dim, identity.pooling, identity.normalised)
    return generations.add(writing, embedder, state)


def identity_of(stored: Generation) -> EmbedderIdentity:
    """Return whose vectors a generation holds."""
    return EmbedderIdentity(stored.name, stored.revision, stored.dim, stored.pooling, bool(stored.normalised))


def described(embedder: EmbedderIdentity | Generation) -> str:
    """Name an embedder, or the one whose vectors a generation holds, for people."""
    return f"{embedder.name} {embedder.revision} ({embedder.dim} numbers)"

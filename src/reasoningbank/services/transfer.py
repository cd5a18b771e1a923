"""Import and export: memories as JSON lines, in and out of a bank."""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from reasoningbank.errors import InvalidInputError, StorageError
from reasoningbank.memory import State, fingerprint_text, is_blank
from reasoningbank.results import Imported, Rejected
from reasoningbank.services import record
from reasoningbank.services.engine import Engine
from reasoningbank.services.shown import served
from reasoningbank.storage import records, restore
from reasoningbank.storage.filters import Filters
from reasoningbank.transfer import Incoming, incoming, outgoing, parse, to_line

# Small enough that progress is seen, large enough that a transaction is worth it.
BATCH = 64

Line = str | bytes | Mapping[str, Any]


@dataclass
class _Tally:
    """What became of the lines so far."""

    created: int = 0
    existing: int = 0
    quarantined: int = 0
    not_embedded: int = 0
    differing: list[Rejected] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    redactions: Counter[str] = field(default_factory=Counter)

    def answer(self) -> Imported:
        return Imported(
            created=self.created,
            existing=self.existing,
            quarantined=self.quarantined,
            not_embedded=self.not_embedded,
            differing=tuple(self.differing),
            rejected=tuple(self.rejected),
            redactions=dict(self.redactions),
        )


def import_file(
    engine: Engine,
    path: Path,
    *,
    trusted: bool,
    by: str | None,
    progress: Callable[[int, int | None], None] | None,
) -> Imported:
    """Store the lessons of a file of JSON lines.

    Raises:
        InvalidInputError: there is no such file, or it cannot be read.
    """
    try:
        with path.open("rb") as lines:
            total = sum(1 for _ in lines)
            lines.seek(0)
            return import_lines(engine, lines, trusted=trusted, by=by or path.name, progress=progress, total=total)
    except StorageError:
        raise
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror or error}") from error


def import_lines(
    engine: Engine,
    lines: Iterable[Line],
    *,
    trusted: bool,
    by: str | None,
    progress: Callable[[int, int | None], None] | None,
    total: int | None = None,
) -> Imported:
    """Store the lessons of many lines, a batch a transaction; a bad line costs no other."""
    tally = _Tally()
    numbered = ((n, line) for n, line in enumerate(lines, start=1) if not _is_blank(line))
    for batch in _batches(numbered):
        _import_batch(engine, batch, tally, trusted=trusted, by=by)
        if progress is not None:
            progress(batch[-1][0], total)
    return tally.answer()


def _batches(numbered: Iterator[tuple[int, Line]]) -> Iterator[list[tuple[int, Line]]]:
    while batch := list(itertools.islice(numbered, BATCH)):
        yield batch


def _is_blank(line: Line) -> bool:
    if isinstance(line, Mapping):
        return False
    return is_blank(line.decode("utf-8", "replace") if isinstance(line, bytes) else line)


def _import_batch(
    engine: Engine, batch: Sequence[tuple[int, Line]], tally: _Tally, *, trusted: bool, by: str | None
) -> None:
    items: list[Incoming] = []
    cleaned: list[record.Prepared] = []
    for number, line in batch:
        try:
            item = incoming(number, parse(line), trusted=trusted, by=by)
            cleaned.append(record.clean(item.draft, item.memory_id))
            items.append(item)
        except InvalidInputError as error:
            tally.rejected.append(Rejected(number, str(error)))
    if items:
        engine.with_embedder(lambda embedder: _store(engine, items, record.embed(embedder, cleaned), tally))


def _store(engine: Engine, items: Sequence[Incoming], cleaned: Sequence[record.Prepared], tally: _Tally) -> None:
    with engine.write() as (_, connection):
        record.check_embedder(engine, connection, cleaned)
        was_empty = connection.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is None
        for item, prepared in zip(items, cleaned, strict=True):
            n, created = _store_one(engine, connection, item, prepared)
            if created:
                _count_created(tally, item, prepared)
            else:
                tally.existing += 1
                tally.differing += _difference(connection, engine.project_name, n, item)
        if was_empty:
            # Weights that votes taught belong to the bank as a whole: only a copy of it may take them over.
            restore.restore_taught(connection, [counts for item in items for counts in item.taught])


def _store_one(
    engine: Engine, connection: sqlite3.Connection, item: Incoming, prepared: record.Prepared
) -> tuple[int, bool]:
    # An archived lesson may well say the same as the active one it was merged into.
    is_copy = item.memory_id is not None and item.restored.state is State.ARCHIVED
    n, created = record.store(engine, connection, prepared, look_for_same=not is_copy)
    if created:
        if item.restored.state is not None:
            restore.restore_state(connection, n, item.restored.state)
        restore.restore_times(connection, n, item.restored.created_at, item.restored.updated_at)
        restore.restore_tallies(connection, n, item.restored.tallies)
    return n, created


def _count_created(tally: _Tally, item: Incoming, prepared: record.Prepared) -> None:
    tally.created += 1
    tally.quarantined += (item.restored.state or prepared.state) is State.QUARANTINED
    tally.not_embedded += bool(prepared.problem)
    tally.redactions.update(prepared.redactions)


def _difference(connection: sqlite3.Connection, project: str, n: int, item: Incoming) -> list[Rejected]:
    """Say so when the id was taken by a lesson that says something else."""
    memory = records.load(connection, [n], project)[n].memory
    if memory.id != item.memory_id:
        return []
    if fingerprint_text(memory.title, memory.content) == fingerprint_text(item.draft.title, item.draft.content):
        return []
    return [Rejected(item.line, f"memory {memory.id!r} is there and says something else; it was left as it is")]


# -- the way out ---------------------------------------------------------------------------------------------------


def export_file(engine: Engine, path: Path, progress: Callable[[int], None] | None = None) -> int:
    """Write every memory into a file, which appears whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as target:
            written = export_lines(engine, target, progress)
            target.flush()
            os.fsync(target.fileno())
        unfinished.replace(path)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}", path=path) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    return written


def export_lines(engine: Engine, target: IO[str], progress: Callable[[int], None] | None = None) -> int:
    """Write every memory as one line, as they are at one moment, in the order they were recorded; return how many."""
    written = 0
    with engine.read() as connection:
        if connection is None:
            return 0
        # It belongs to no memory, so the first line carries it: every line is a memory, for whoever reads them.
        extra: dict[str, Any] = {"taught": taught} if (taught := restore.taught(connection)) else {}
        for line in _outgoing(engine, connection):
            target.write(to_line(line | extra))
            extra = {}
            written += 1
            if progress is not None:
                progress(written)
    return written


def _outgoing(engine: Engine, connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    after = 0
    while numbers := records.page(connection, Filters(states=tuple(State)), after, 500):
        rows = records.load(connection, numbers, engine.project_name)
        shown = served(engine, connection, numbers)
        yield from (outgoing(shown[n], rows[n].tallies) for n in numbers)
        after = numbers[-1]

"""The stored vectors that a process holds an index of, and the change feed that the index is kept up to date from.

A snapshot of an index bears a token that was stored in the database in the transaction that put it into place. A
database that holds the token has been through that moment, so its feed goes on from what the snapshot covers: one that
was put back, copied or begun anew never takes another's snapshot for its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from reasoningbank.storage import meta
from reasoningbank.storage.contract import Moment, Reading, Writing, column, number
from reasoningbank.storage.files import asides, remove_files, rename

CURRENT = "(SELECT generation FROM generations WHERE state = 'current')"
BATCH = 512  # rows read at once: what is made of them on the way fits into a core's cache
FOLLOWED = 25_000  # changes that are followed one by one; beyond so many, what is kept is derived anew

Row = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Tail:
    """What was told to a feed after one change, up to another: (op, owner, id of its vector or None), in order."""

    since: int
    newest: int
    rows: list[tuple[str, int, int | None]]

    @property
    def changed(self) -> set[int]:
        """The owners that were put or deleted: they may say something else, or be in another state."""
        return {owner for op, owner, _ in self.rows if op != "evidence"}

    @property
    def touched(self) -> set[int]:
        """The owners that were changed in any way, in their evidence too."""
        return {owner for _, owner, _ in self.rows}

    def vectors(self, op: str) -> list[int]:
        """Return the ids of the vectors that were put, or deleted, in order."""
        return [vector for told, _, vector in self.rows if told == op and vector is not None]


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """A table of vectors with its feed: the only SQL about them that an index needs.

    Ids of vectors are never used again, and a vector never changes.

    Attributes:
        table: has the columns id, `owner`, generation and vector (float32 bytes).
        owner: the column with the row number of what a vector belongs to.
        feed: has the columns seq, op ('put', 'delete' and others) and vector.
        newest: gives the number of the newest change in the feed that a transaction sees.
    """

    table: str
    owner: str
    feed: str
    newest: Callable[[Moment], int]

    def tail(self, reading: Reading, since: int, most: int = FOLLOWED) -> Tail | None:
        """Return what was told to the feed after a change; None when that is unknown, or more than `most` rows."""
        newest = self.newest(reading.moment)
        if newest == since:
            return Tail(since, newest, [])
        rows = reading.execute(
            f"SELECT seq, op, {self.owner}, vector FROM {self.feed} WHERE seq > ? ORDER BY seq LIMIT ?",
            (since, most + 1),
        ).fetchall()
        if newest < since or not rows or rows[0][0] != since + 1 or len(rows) > most:
            return None
        return Tail(since, newest, [(op, owner, vector) for _, op, owner, vector in rows])

    def reaches_back(self, reading: Reading, since: int) -> bool:
        """Tell whether the feed still holds everything after a change."""
        if self.newest(reading.moment) <= since:
            return True
        return bool(reading.execute(f"SELECT min(seq) <= ? FROM {self.feed}", (since + 1,)).fetchone()[0])

    def trim_feed(self, writing: Writing, kept: int) -> int:
        """Drop all but the newest `kept` changes from the feed; return how many went."""
        return writing.execute(f"DELETE {self._beyond}", (kept,)).rowcount

    def count_beyond(self, reading: Reading, kept: int) -> int:
        """Return how many changes `trim_feed` would drop."""
        return number(reading, f"SELECT count(*) {self._beyond}", (kept,))

    @property
    def _whole(self) -> str:
        # A damaged one costs itself only; doctor finds it.
        return (
            f"length({self.table}.vector) = "
            f"(SELECT 4 * g.dim FROM generations AS g WHERE g.generation = {self.table}.generation)"
        )

    @property
    def _beyond(self) -> str:
        return f"FROM {self.feed} WHERE seq <= (SELECT max(seq) FROM {self.feed}) - ?"

    def every(self, reading: Reading, generation: int) -> Iterator[list[Row]]:
        """Yield (id, owner, vector) of a generation, in batches."""
        rows = reading.execute(
            f"SELECT id, {self.owner}, vector FROM {self.table} WHERE generation = ? AND {self._whole}", (generation,)
        )
        while batch := rows.fetchmany(BATCH):
            yield batch

    def ids(self, reading: Reading, generation: int) -> list[int]:
        """Return the ids of a generation's vectors, in order."""
        return column(reading, f"SELECT id FROM {self.table} WHERE generation = ? ORDER BY id", (generation,))

    def count(self, reading: Reading, generation: int) -> int:
        """Return how many vectors a generation has."""
        return number(reading, f"SELECT count(*) FROM {self.table} WHERE generation = ?", (generation,))

    def these(self, reading: Reading, generation: int, ids: Sequence[int]) -> Iterator[list[Row]]:
        """Yield (id, owner, vector) of those of these ids that are there and of this generation, in batches."""
        for start in range(0, len(ids), BATCH):
            batch = reading.execute(
                f"SELECT id, {self.owner}, vector FROM {self.table} WHERE generation = :generation AND id IN (:ids) "
                f"AND {self._whole}",
                {"generation": generation, "ids": list(ids[start : start + BATCH])},
            ).fetchall()
            if batch:
                yield batch

    def vectors(self, reading: Reading, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the vectors with these ids that this transaction sees."""
        asked = f"SELECT id, vector FROM {self.table} WHERE id IN (:ids) AND {self._whole}"
        return dict(reading.execute(asked, {"ids": list(ids)}))

    def sample(self, reading: Reading, size: int) -> list[bytes]:
        """Return the oldest vectors of the current generation, up to `size` of them."""
        oldest = f"SELECT vector FROM {self.table} WHERE generation = {CURRENT} AND {self._whole} ORDER BY id LIMIT ?"
        return column(reading, oldest, (size,))

    # -- the snapshot of its index ------------------------------------------------------------------------------------

    def snapshot(self, reading: Reading) -> Path | None:
        """Return where the snapshot stands; it need not be there. None where the engine keeps no files."""
        return None if reading.folder is None else reading.folder / f"{self.table}.index"

    def token(self, reading: Reading) -> str | None:
        """Return the token of the snapshot that belongs to this database."""
        return meta.read(reading).get(self._token)

    @property
    def _token(self) -> str:
        return f"snapshot of {self.table}"

    def install_snapshot(self, writing: Writing, made: Path, path: Path, token: str) -> None:
        """Put a snapshot into place, inside the caller's transaction; OSError if it is gone, or the disk refused."""
        rename(made, path)
        meta.put(writing, self._token, token)

    def drop_snapshot(self, writing: Writing) -> None:
        """Remove the snapshot, also one that is being made, inside the caller's write transaction.

        Called before anything that it may hold is deleted: not even its codes are to stay on the disk.
        """
        if (path := self.snapshot(writing)) is not None:
            remove_files(path)
            self.sweep(writing)
            meta.drop(writing, self._token)

    def sweep(self, reading: Reading) -> None:
        """Remove what killed processes left of snapshots that they were making; one being made is made another time."""
        if (path := self.snapshot(reading)) is not None:
            remove_files(*asides(path, "new"))


MEMORIES = StoredVectors("vectors", "memory", "changes", attrgetter("change"))
NODES = StoredVectors("node_vectors", "node", "node_changes", attrgetter("node_change"))

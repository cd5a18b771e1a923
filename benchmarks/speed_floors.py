"""The least that a writing call can take: SQLite alone with the rows that it wrote, and the lines that it appended."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Self

# A statement and the rows that it is run for.
Write = tuple[str, list[tuple[Any, ...]]]


class BareDatabase:
    """A copy of a bank's database, into which its rows are written once more and with nothing else.

    Tables, indexes, page size and PRAGMAs are the bank's, and so is how much is there already; no row is looked up,
    checked or made. Whatever the bank writes after the copy has to be written here too, in the same order.

    Args:
        database: the bank's own file; its signals lie beside it.
        folder: where the copy is made, and removed again.
    """

    def __init__(self, database: Path, folder: Path) -> None:
        self._signals = database.parent / "signals"
        self._paths = folder / "bare.sqlite3", folder / "bare.jsonl"
        self._bank = sqlite3.connect(database)
        self._copy = sqlite3.connect(self._paths[0], isolation_level=None)
        self._bank.backup(self._copy)
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "temp_store = memory", "cache_size = -16000"):
            self._copy.execute(f"PRAGMA {pragma}").fetchall()
        self._log = os.open(self._paths[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __enter__(self) -> Self:
        """Return the copy."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the copy."""
        os.close(self._log)
        with closing(self._bank), closing(self._copy):
            pass
        for path in self._paths:
            path.unlink()

    def record_ms(self, memory_id: str) -> float:
        """Write a memory: its row, its vectors, its terms for the text index, and what the feed says of it."""
        ((n,),) = self._bank.execute("SELECT n FROM memories WHERE id = ?", (memory_id,))
        return self._written(
            self._rows("INSERT", "memories", "n = ?", n),
            self._rows("INSERT", "vectors", "memory = ?", n),
            self._rows("INSERT", "terms", "rowid = ?", n, columns="rowid, text"),
            self._feed(),
        )

    def report_ms(self, ref: str) -> float:
        """Write a verdict: evidence and tally of each memory that was served, the feed, the episode, the log."""
        served = "kind = 'outcome' AND memory IN (SELECT memory FROM served WHERE ref = ?)"
        ended = self._bank.execute("SELECT verdict, closed_at, reason, judge, ref FROM episodes WHERE ref = ?", (ref,))
        return self._written(
            self._rows("INSERT", "evidence", "ref = ? AND kind = 'outcome'", ref),
            self._rows("REPLACE", "tallies", served, ref),
            self._feed(),
            ("UPDATE episodes SET verdict = ?, closed_at = ?, reason = ?, judge = ? WHERE ref = ?", ended.fetchall()),
            self._position(),
            lines=self._lines(),
        )

    def vote_ms(self, memory_id: str, ref: str) -> float:
        """Write a vote: its evidence, the memory's tally, what the vote says of other evidence, the feed, the log."""
        ((n,),) = self._bank.execute("SELECT n FROM memories WHERE id = ?", (memory_id,))
        spoken_for = (
            "(segment, kind) IN (SELECT e.segment, said.value FROM evidence AS e, json_each(e.validates) AS said "
            "WHERE e.memory = ? AND e.ref = ? AND e.kind = 'explicit')"
        )
        return self._written(
            self._rows("INSERT", "evidence", "memory = ? AND ref = ? AND kind = 'explicit'", n, ref),
            self._rows("REPLACE", "tallies", "memory = ? AND kind = 'explicit'", n),
            self._rows("REPLACE", "validations", spoken_for, n, ref),
            self._feed(),
            self._position(),
            lines=self._lines(),
        )

    def _rows(self, verb: str, table: str, where: str, *values: object, columns: str = "*") -> Write:
        asked = f"SELECT {columns} FROM {table} WHERE {where}"  # noqa: S608 - all three are written above
        rows = self._bank.execute(asked, values).fetchall()
        into = table if columns == "*" else f"{table}({columns})"
        return f"{verb} INTO {into} VALUES ({', '.join('?' * len(rows[0] if rows else ()))})", rows

    def _feed(self) -> Write:
        ((newest,),) = self._copy.execute("SELECT max(seq) FROM changes")
        return self._rows("INSERT", "changes", "seq > ?", newest)

    def _position(self) -> Write:
        newest = "SELECT position, checksum, segment FROM log_positions ORDER BY segment DESC LIMIT 1"
        counted = self._bank.execute(newest).fetchall()
        return "UPDATE log_positions SET position = ?, checksum = ? WHERE segment = ?", counted

    def _lines(self) -> bytes:
        newest = "SELECT name, position FROM log_positions ORDER BY segment DESC LIMIT 1"
        ((name, end),), ((_, start),) = self._bank.execute(newest), self._copy.execute(newest)
        with (self._signals / name).open("rb") as log:
            log.seek(start)
            lines: bytes = log.read(end - start)
            return lines

    def _written(self, *writes: Write, lines: bytes = b"") -> float:
        """Write all of it in one transaction, and return the milliseconds that took."""
        needed = [(statement, rows) for statement, rows in writes if rows]
        start = time.perf_counter()
        self._copy.execute("BEGIN IMMEDIATE")
        if lines:
            os.write(self._log, lines)
        for statement, rows in needed:
            self._copy.executemany(statement, rows)
        self._copy.execute("COMMIT")
        return (time.perf_counter() - start) * 1e3

"""A disk that loses, at a power loss, what nobody waited for.

Every wait for the disk is noted: `os.fsync` of our own, and the sync calls that SQLite makes on the database and its
write-ahead log (seen by putting a function of ours into the table through which SQLite calls its files). What a file
held at its last wait has survived; of what was written later, any part may have. What a drive does with a wait is not
seen, and the folder of a new file counts as written only once it was waited for, too.
"""

from __future__ import annotations

import ctypes
import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.storage import files
from reasoningbank.storage.database import Database
from reasoningbank.storage.ledger import RECENT
from tests.torture.sqlite_calls import library

_FILE_POINTER, _JOURNAL_POINTER = 7, 28
_METHODS, _SYNC = 19, 5
_SyncCall = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


class Disk:
    """What of a folder's files would be there after a power loss.

    Args:
        folder: its files as they are now count as written.

    Attributes:
        before_wait: called at each wait for the disk, before what it waits for counts as written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        self._named = {folder, *folder.rglob("*")}
        self._kept_alive: list[Any] = []
        self.before_wait: Callable[[], None] | None = None
        self._library = library()

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Note every wait for the disk from now on."""
        fsync, open_connection = os.fsync, Database._open

        def noting_fsync(descriptor: int) -> None:
            fsync(descriptor)
            self._waited_for(Path(f"/proc/self/fd/{descriptor}").readlink())

        def noting_open(database: Database, mode: str) -> sqlite3.Connection:
            connection = open_connection(database, mode)
            self._note_syncs(connection, _FILE_POINTER, database.path)
            self._note_syncs(connection, _JOURNAL_POINTER, Path(f"{database.path}-wal"))
            return connection

        monkeypatch.setattr(os, "fsync", noting_fsync)
        monkeypatch.setattr(Database, "_open", noting_open)
        assert files._FULL_SYNC is None

    def _note_syncs(self, connection: sqlite3.Connection, which: int, path: Path) -> None:
        database = ctypes.c_void_p.from_address(id(connection) + object.__basicsize__).value
        file = ctypes.c_void_p()
        assert self._library.sqlite3_file_control(database, b"main", which, ctypes.byref(file)) == 0
        methods = ctypes.c_void_p.from_address(file.value or 0)
        table = (ctypes.c_void_p * _METHODS)()
        ctypes.memmove(table, methods.value or 0, ctypes.sizeof(table))
        sync = _SyncCall(table[_SYNC] or 0)

        def noting_sync(opened: int, flags: int) -> int:
            result: int = sync(opened, flags)
            # SQLite waits for the folder, too, when the log is new.
            self._named.add(path)
            self._waited_for(path)
            return result

        callback = _SyncCall(noting_sync)
        table[_SYNC] = ctypes.cast(callback, ctypes.c_void_p).value
        methods.value = ctypes.addressof(table)
        self._kept_alive += [table, callback, sync]

    def _waited_for(self, path: Path) -> None:
        if self.before_wait is not None:
            self.before_wait()
        if path.is_dir():
            self._named |= set(path.iterdir())
        elif path.is_file():
            self._written[path] = path.read_bytes()

    def lose_power(self, target: Path, rng: random.Random, *, at_worst: bool) -> None:
        """Make in `target` what could be left of the folder.

        Args:
            at_worst: nothing has survived that nobody waited for; otherwise any part of it may have.
        """
        # The disk has long written what is older.
        old = sorted(self.folder.rglob("*.jsonl"))[:-RECENT]
        settled = {*old, *(path.parent for path in old)}
        for path in sorted(self.folder.rglob("*")):
            there = target / path.relative_to(self.folder)
            if not there.parent.is_dir() or path.name.endswith("-shm"):
                continue
            if path in settled | self._named or (not at_worst and rng.random() < 0.7):
                if path.is_dir():
                    there.mkdir()
                else:
                    left = path.read_bytes() if path in settled else self._left_of(path, rng, at_worst=at_worst)
                    there.write_bytes(left)

    def _left_of(self, path: Path, rng: random.Random, *, at_worst: bool) -> bytes:
        written, now = self._written.get(path, b""), path.read_bytes()
        if at_worst:
            return written
        cut = rng.choice((0, len(now), rng.randint(0, len(now))))
        left = now[:cut] + written[cut:]
        if path.name.endswith(".jsonl") and len(left) < len(now) and rng.random() < 0.2:
            # The file's new length was noted, its new end was not.
            left += b"\0" * rng.randint(1, len(now) - len(left))
        return left

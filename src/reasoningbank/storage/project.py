"""One project's files, opened together: the database and the signal log whose lock it is.

A project that does not exist is one without any rows (`nothing`): nobody who reads has to ask whether it is there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

from reasoningbank.errors import ProjectDeletedError, ScopeError, StorageError
from reasoningbank.signals import Signal, time_text
from reasoningbank.storage import files, meta
from reasoningbank.storage.contract import INDEXES, Moment, Reading
from reasoningbank.storage.database import Database, empty, inode, prepare
from reasoningbank.storage.failures import deleted_error, moved_error, reported
from reasoningbank.storage.fold import Facts, Folded
from reasoningbank.storage.ledger import Appended, Ledger, Logged, LogHealth
from reasoningbank.storage.lifecycle import check_nothing_is_missing, create_database, finish_deletion
from reasoningbank.storage.signal_log import SignalLog
from reasoningbank.storage.stored_vectors import MEMORIES, NODES
from reasoningbank.storage.transaction import SqliteReading, SqliteWriting, number_anew

DATABASE_NAME = "bank.sqlite3"
SIGNALS_NAME = "signals"


class Project:
    """The files of one project of one tenant; durability and busy timeout are those of `Database`."""

    def __init__(self, folder: Path, *, durability: Literal["normal", "full"], busy_timeout: float) -> None:
        self.folder = folder
        read_only = _is_protected(folder) or _is_protected(folder / DATABASE_NAME)
        self.database = Database(
            folder / DATABASE_NAME, durability=durability, busy_timeout=busy_timeout, read_only=read_only
        )
        self.log = SignalLog(folder / SIGNALS_NAME, fsync=durability == "full")
        self.ledger = Ledger(self.log)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        tenant: str,
        project: str,
        durability: Literal["normal", "full"],
        busy_timeout: float,
        create_at: datetime | None = None,
    ) -> Project | None:
        """Open a project's files; None when there is no such project and none was to be made.

        With `create_at` they are made when they are not there yet, with this time, also where a deletion was cut short.

        Raises:
            ScopeError: the folder belongs to another tenant or project.
            CorruptionError: the database is gone, but its logs are there.
            NewerFormatError, StorageError: as their names say.
        """
        path = folder / DATABASE_NAME
        check_nothing_is_missing(path, folder / SIGNALS_NAME)
        facts = {"tenant": tenant, "project": project, "created_at": time_text(create_at)} if create_at else None
        while inode(path) is not None or facts is not None:
            if facts is not None:
                create_database(path, facts)
            opened = cls(folder, durability=durability, busy_timeout=busy_timeout)
            try:
                opened._check(tenant, project)
            except ProjectDeletedError:
                if facts is None:
                    break
                finish_deletion(path)
            except StorageError:
                # What SQLite says when the folder is taken away while it opens the file can be anything.
                if opened.database.in_place:
                    raise
            else:
                return opened
        return None

    def _check(self, tenant: str, project: str) -> None:
        try:
            self.database.migrate()
            with self.read() as reading:
                owner = meta.read(reading)
            if (owner.get("tenant"), owner.get("project")) != (tenant, project):
                raise ScopeError(
                    f"{self.folder} belongs to project {owner.get('project')!r} of tenant {owner.get('tenant')!r}, "
                    f"not to project {project!r} of tenant {tenant!r}: open it under its own names"
                )
        except BaseException:
            self.database.close()
            raise

    # -- transactions ----------------------------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Iterator[SqliteReading]:
        """Give one state of the project; raises what `Database.read` does, and NewerFormatError."""
        with self.database.read() as connection:
            reading = SqliteReading(connection, self.folder)
            self._check_here(reading.moment)
            yield reading

    @contextmanager
    def write(self) -> Iterator[SqliteWriting]:
        """Give what may change the project, alone in it; all of it is kept at the end, or nothing, signals included.

        Raises what `Database.write` does, and NewerFormatError.
        """
        appended: Appended = {}
        with self.database.write(undo=lambda: self.ledger.take_back(appended)) as connection:
            writing = SqliteWriting(connection, self.folder, self.ledger, appended)
            self._check_here(writing.moment)
            yield writing
            writing.finish()

    def _check_here(self, moment: Moment) -> None:
        """Check that the project is here, and of no format that another process, of a newer version, made of it."""
        if moment.deleted:
            raise deleted_error(self.database.path)
        if moment.moved_to is not None:
            raise moved_error(self.folder, moment.moved_to)
        self.database.check_format(moment.format)

    # -- upkeep --------------------------------------------------------------------------------------------------

    def roll_up(self, now: datetime, keep_days: int) -> list[str]:
        """Move segments older than `keep_days` into the tallies for good, then delete their files.

        Their names come back; those with bad lines are kept. Safe to run twice and by several processes at once.
        """
        with self.write() as writing:
            rolled = self.ledger.roll_up(writing, now, keep_days)
        # A file may only go once the mark that its lines are counted for good is on the disk.
        self.database.settle()
        self.sweep()
        return [segment.name for segment in rolled]

    def sweep(self) -> None:
        """Remove the files of segments that are rolled up, and what killed processes had no time to remove."""
        with self.read() as reading:
            self.ledger.delete_rolled(reading)
            for stored in (MEMORIES, NODES):
                stored.sweep(reading)
        files.remove_files(*files.asides(self.database.path, "new"))

    def forget_words(self) -> None:
        """Take the words of what was deleted or rewritten out of the text indexes, a bounded step at a time."""
        with self.read() as reading:
            due = "words_left" in meta.read(reading)
        if not due:
            return
        with self.write() as writing:
            # What is deleted from here on is due again.
            meta.drop(writing, "words_left")
            left = [index for index in INDEXES if writing.words.forget(index, begin=True)]
        for index in left:
            more = True
            while more:
                with self.write() as writing:
                    more = writing.words.forget(index, begin=False)

    def log_of(self, reading: Reading) -> SignalLog:  # noqa: ARG002 - as on a server
        """Return the signal log that a reading sees."""
        return self.log

    def due(self, reading: Reading, now: datetime, keep_days: int) -> list[str]:
        """Return the names of the segments that are old enough to be rolled up."""
        return [segment.name for segment in self.ledger.due(reading, now, keep_days)]

    def health(self, reading: Reading) -> LogHealth:
        """Look at the log without changing anything."""
        return self.ledger.health(reading)

    def damage(self, reading: Reading) -> str:
        """Return what is wrong with the database itself; "" when nothing is."""
        found: str = reading.execute("PRAGMA quick_check(1)").fetchone()[0]
        return "" if found == "ok" else found

    def space(self) -> dict[str, int]:
        """Return how many bytes the files take, and how many are free on their disk."""
        return files.space_of(self.folder)

    def tidy(self) -> None:
        """Fold the write-ahead log into the file, as far as nobody needs it."""
        self.database.truncate_wal()

    @property
    def read_only(self) -> bool:
        """Whether this user cannot write here."""
        return self.database.read_only

    @property
    def hides_recent_writes(self) -> bool:
        """Whether a write-ahead log is there that this user cannot read."""
        return self.database.hides_recent_writes

    def refold(self) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        # Only here, as it reads projects of every kind.
        from reasoningbank.storage.folding_again import fold_again

        fold_again(self, lambda _: self.ledger)

    def backup(self, target: Path) -> None:
        """Copy the files, as they are at one moment, into a new folder; other writers wait for an instant only.

        Where it can be written, the copy holds no word of what was deleted.

        StorageError when the disk refuses; there is no new folder then.
        """
        if not self.database.read_only:
            self.forget_words()
        with reported(target), files.new_folder(target, "backup") as made, ExitStack() as open_files:
            files.make_folders(made / SIGNALS_NAME)
            with nullcontext() if self.database.read_only else self.write():
                reading = open_files.enter_context(self.read())
                # Opened now, a segment that is rolled up meanwhile can be read on.
                segments = [
                    (name, open_files.enter_context((self.log.folder / name).open("rb")), size)
                    for name, size in self.log.files()
                ]
            # A plain copy would miss the log and drop locks.
            with closing(sqlite3.connect(made / DATABASE_NAME)) as database:
                reading.connection.backup(database)
                # No log that is left where it is put back is taken for its own.
                number_anew(database)
            for name, source, size in segments:
                with (made / SIGNALS_NAME / name).open("wb") as copy:
                    copy.write(source.read(size))
                    copy.flush()
                    files.sync_file(copy.fileno())

    def close(self) -> None:
        """Fold the write-ahead log into the file where that is possible, and close it. Closing twice is fine."""
        # It is only tidier: what is in the log is as safe there, and the files may be gone.
        with suppress(StorageError):
            self.database.truncate_wal()
        self.database.close()


def _is_protected(path: Path) -> bool:
    """Tell whether something is there that this user cannot write."""
    return os.access(path, os.F_OK) and not os.access(path, os.W_OK)


@contextmanager
def nothing(folder: Path | None) -> Iterator[SqliteWriting]:
    """Give an empty project. It may be written to like any other, and nothing of that is kept or made in `folder`."""
    with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as connection:
        connection.deserialize(empty())
        prepare(connection)
        yield SqliteWriting(connection, folder, _NoLog(SignalLog(Path(SIGNALS_NAME), fsync=False)), {})


class _NoLog(Ledger):
    """The log that is not there: neither is anything that a signal could be about."""

    def write(
        self,
        writing: Logged,  # noqa: ARG002 - as any ledger is asked
        signals: Sequence[Signal],
        now: datetime,  # noqa: ARG002
        *,
        only_news: bool,  # noqa: ARG002
        facts: Facts | None = None,  # noqa: ARG002
    ) -> list[Folded]:
        """Say that no signal is about anything."""
        return [Folded.ORPHAN] * len(signals)

    def catch_up(self, writing: Logged) -> None:
        """Nothing is left to count."""

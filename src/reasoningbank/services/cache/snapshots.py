"""Snapshots of an index: read when a process starts, written when it pays, and never needed."""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.storage.check import Finding
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.files import aside, remove_files
from reasoningbank.storage.place import Project
from reasoningbank.storage.stored_vectors import MEMORIES, NODES, StoredVectors
from reasoningbank.vectors.base import Int64
from reasoningbank.vectors.blocks import Coded
from reasoningbank.vectors.faiss import BLOCK_ROWS, FaissIndex
from reasoningbank.vectors.flat import FlatIndex
from reasoningbank.vectors.snapshot import Head, SnapshotError, head_of, read, write

log = logging.getLogger("reasoningbank")

Generation = list[Any]
"""The row of a generation: its number, and name, revision, dimension, pooling and normalisation of the embedder."""

FROM = 4_096
"""Vectors from which on there is a snapshot: fewer are coded anew in a few milliseconds."""

BEHIND = 16
"""A snapshot is written anew when more than one in so many of the vectors came since."""

CHANGES_BEHIND = 25_000
"""Or when the feed went on by so many changes of any kind: they have to be read through, and are trimmed one day."""

SPARE = 4
"""So many times its size must be free on the disk: the bank itself comes first."""


@dataclass
class Filled:
    """An index, what it covers, and what each of its vectors belongs to (the row number of a memory or a node).

    Attributes:
        covered: the newest change that it takes into account.
        version: the newest change at which a vector came or went since it was made, or else the one it was made at.
    """

    generation: int
    index: FaissIndex | FlatIndex
    covered: int
    owners: dict[int, int] = field(default_factory=dict)
    version: int = field(init=False)

    def __post_init__(self) -> None:
        self.version = self.covered


def load(reading: Reading, stored: StoredVectors) -> Filled | None:
    """Return the index as its snapshot has it; None when there is none that belongs to this database and is whole."""
    path = stored.snapshot(reading)
    if path is None:
        return None
    try:
        head = head_of(path)
        return _restored(path, _generation(reading), head["covered"]) if _fits(reading, stored, head) else None
    except OSError as error:
        log.debug("%s cannot be read (%s): the index is built from the database", path, error)
    except SnapshotError as error:
        log.warning("%s is damaged (%s): it is removed, and the index is built from the database", path, error)
        remove_files(path)
    return None


def _restored(path: Path, generation: Generation, covered: int) -> Filled:
    owners: dict[int, int] = {}

    def noted() -> Iterator[Coded]:
        for coded, of_block in read(path, generation[3], BLOCK_ROWS):
            owners.update(zip(coded.ids.tolist(), of_block.tolist(), strict=True))
            yield coded

    return Filled(generation[0], FaissIndex.restored(generation[3], noted()), covered, owners=owners)


def is_due(reading: Reading, stored: StoredVectors, vectors: int) -> bool:
    """Tell whether an index of so many vectors should be written: there is no snapshot, or it is far behind."""
    path = stored.snapshot(reading)
    if path is None or vectors < FROM:
        return False
    try:
        head = head_of(path)
    except (OSError, SnapshotError):
        return True
    if not _fits(reading, stored, head) or stored.newest(reading.moment) - head["covered"] > CHANGES_BEHIND:
        return True
    tail = stored.tail(reading, head["covered"])
    return tail is None or len(tail.vectors("put")) + len(tail.vectors("delete")) > vectors / BEHIND


def _fits(reading: Reading, stored: StoredVectors, head: Head) -> bool:
    """Tell whether a snapshot belongs to this database, and can be brought up to date from the feed."""
    if stored.token(reading) != head["token"] or _generation(reading) != head["generation"]:
        return False
    return head["covered"] <= stored.newest(reading.moment) and stored.reaches_back(reading, head["covered"])


def save(
    project: Project,
    stored: StoredVectors,
    index: FaissIndex,
    filled: Filled,
    *,
    covered: int,
    is_same: Callable[[], bool],
) -> None:
    """Write a snapshot of an index, and put it into place if it still is what it was.

    No lock is held but for the moments in which a block is copied, and the rename. The index covered `covered` when
    this was called, and `is_same` tells whether it is unchanged since. OSError or StorageError when the disk refuses.
    """
    with project.read() as reading:
        path, generation = stored.snapshot(reading), _generation(reading)
    if (
        path is None
        or generation[0] != filled.generation
        or not _has_room(path, len(filled.index) * (generation[3] + 16))
    ):
        return
    made, token = aside(path, "new"), secrets.token_hex(16)
    head: Head = {"token": token, "generation": generation, "covered": covered}
    try:
        with made.open("xb") as file:
            write(file, head, _with_owners(index, filled.owners))
        if not is_same():
            return
        with project.write() as writing:
            tail = stored.tail(writing, covered)
            # What was deleted meanwhile must not come back to the disk.
            if _generation(writing) == generation and tail is not None and not tail.vectors("delete"):
                stored.install_snapshot(writing, made, path, token)
    finally:
        remove_files(made)


def _with_owners(index: FaissIndex, owners: Mapping[int, int]) -> Iterator[tuple[Coded, Int64]]:
    for coded in index.coded():
        yield coded, np.array([owners.get(number, -1) for number in coded.ids.tolist()], dtype=np.int64)


def _generation(reading: Reading) -> Generation:
    """Return what the current generation is, and whose vectors it holds."""
    return list(reading.moment.generation or ())


def _has_room(path: Path, size: int) -> bool:
    return shutil.disk_usage(path.parent).free >= SPARE * size


def findings(reading: Reading) -> list[Finding]:
    """Say which snapshots are damaged, or belong to another state of the database. Neither does any harm."""
    found = []
    for stored in (MEMORIES, NODES):
        path = stored.snapshot(reading)
        if path is None or not path.exists():
            continue
        try:
            fits = _fits(reading, stored, head_of(path))
            for _ in read(path, _generation(reading)[3], BLOCK_ROWS) if fits else ():
                pass
            problem = "" if fits else "belongs to another state of the database"
        except (OSError, SnapshotError) as error:
            problem = f"is damaged ({error})"
        if problem:
            found.append(Finding(f"{path.name} {problem}; it is not used", "remove it, it is made anew", "snapshots"))
    return found


def drop_all(writing: Writing) -> None:
    """Remove the snapshots, inside the caller's write transaction."""
    for stored in (MEMORIES, NODES):
        stored.drop_snapshot(writing)


class SnapshotWriter:
    """Writes snapshots in a thread beside the requests of a bank, one at a time."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, and forget the thread, which is not in this process."""
        self._thread, self._lock = None, threading.Lock()

    def start(self, keep: Callable[[], None]) -> None:
        """Begin to write, unless that is under way already."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=keep, name="reasoningbank-snapshot")
                # Near the end of the process no thread can be started any more.
                with contextlib.suppress(RuntimeError):
                    self._thread.start()

    def wait(self) -> None:
        """Wait until what is under way is written."""
        with self._lock:
            thread = self._thread
        # Not under the lock: what is under way may ask for more.
        if thread is not None and thread.is_alive():
            thread.join()

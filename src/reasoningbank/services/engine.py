"""One opened project: its files, its vector index, its embedder and its beliefs, wired together.

This module and what it imports is loaded at a bank's first use: the import of the package stays light.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from reasoningbank.belief.belief import Belief, ConfidenceModel
from reasoningbank.config import Settings
from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.embed.cache import QueryCache
from reasoningbank.embed.named import open_embedder
from reasoningbank.errors import EmbedderMismatchError, StorageError
from reasoningbank.forks import renew_after_fork
from reasoningbank.memory import Memory, State
from reasoningbank.services.cache.features import FeatureShelves
from reasoningbank.services.cache.filtered import FilteredMemories
from reasoningbank.services.cache.index_snapshot import SnapshotWriter
from reasoningbank.services.cache.index_view import IndexView
from reasoningbank.services.cache.keyword_index import KeywordIndex
from reasoningbank.services.cache.known import Known
from reasoningbank.services.cache.models import Models
from reasoningbank.services.cache.shelf import Shelf
from reasoningbank.services.deadline import Patience
from reasoningbank.signals import as_utc
from reasoningbank.storage import generations, records
from reasoningbank.storage.filters import Filters
from reasoningbank.storage.generations import Generation
from reasoningbank.storage.project import Project
from reasoningbank.storage.root import project_folder
from reasoningbank.storage.stored import Stored
from reasoningbank.storage.stored_vectors import MEMORIES, NODES

Float32 = npt.NDArray[np.float32]
T = TypeVar("T")

SHOWN = 10_000
"""Memories that are kept as they may be shown: some 30 MB of lessons of usual length."""


class Engine:
    """Everything behind one bank handle.

    Args:
        root: absolute folder.
        tenant, project: checked names.
        embedder: a name, or an object with the contract.
        clock: the only source of time.
    """

    def __init__(
        self,
        root: Path,
        *,
        tenant: str,
        project: str,
        embedder: str | Embedder,
        settings: Settings,
        clock: Callable[[], datetime],
    ) -> None:
        self.root, self.tenant, self.project_name, self.settings = root, tenant, project, settings
        self._clock = clock
        self._embedder_choice = embedder
        self._embedder: Embedder | None = None
        self._known: dict[EmbedderIdentity, Embedder] = {}
        self._closed = False
        self._lock = threading.RLock()
        self._project: Project | None = None
        self._snapshots = SnapshotWriter()
        self.index, self.nodes = IndexView(MEMORIES, self._keep_soon), IndexView(NODES, self._keep_soon)
        self.keywords = KeywordIndex()
        self.queries, self.shelf, self.features = QueryCache(), Shelf[Known](SHOWN), FeatureShelves()
        self.filtered = FilteredMemories()
        self._patience: Patience | None = None
        self._models = Models(settings.confidence_model)
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, whose holder is not in this process, and the threads, which are not either."""
        self._lock = threading.RLock()
        self._patience = None

    def now(self) -> datetime:
        """Return the clock's time in UTC; a naive clock is read as UTC."""
        return as_utc(self._clock())

    # -- files ---------------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The project's folder, which need not exist."""
        return project_folder(self.root, self.tenant, self.project_name)

    def project(self, *, create: bool = False) -> Project | None:
        """Return the project's files; None when there are none and none are to be made."""
        project = self._project
        if project is None or self._closed:
            with self._lock:
                if self._closed:
                    raise StorageError("the bank was closed: open a new one", path=self.root)
                if self._project is None:
                    self._project = self._open(create=create)
                project = self._project
        return project

    def _open(self, *, create: bool) -> Project | None:
        return Project.open(
            self.folder,
            tenant=self.tenant,
            project=self.project_name,
            durability=self.settings.durability,
            busy_timeout=self.settings.busy_timeout,
            create_at=self.now() if create else None,
        )

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection | None]:
        """Give a connection inside one read transaction; None when the project does not exist."""
        project = self.project()
        if project is None:
            yield None
        else:
            with project.database.read() as connection:
                yield connection

    @contextmanager
    def write(self) -> Iterator[tuple[Project, sqlite3.Connection]]:
        """Give the project and a connection inside one write transaction; the project is made if need be."""
        project = self.project(create=True)
        assert project is not None  # noqa: S101 - create=True always returns one
        with project.write() as connection:
            yield project, connection

    @contextmanager
    def write_existing(self) -> Iterator[tuple[Project, sqlite3.Connection] | None]:
        """Like `write`, but gives None when the project does not exist, instead of making it."""
        project = self.project()
        if project is None:
            yield None
        else:
            with project.write() as connection:
                yield project, connection

    def close(self) -> None:
        """Close the files. The handle cannot be used any more."""
        self.keep_indexes()
        with self._lock:
            self._closed = True
            project, self._project = self._project, None
        if project is not None:
            project.close()
        self.drop_indexes()
        if self._patience is not None:
            self._patience.close()

    def drop_indexes(self) -> None:
        """Forget what is derived in memory; it comes back at the next call."""
        self.index.drop()
        self.nodes.drop()
        self.keywords.drop()

    def keep_indexes(self) -> None:
        """Write snapshots of the indexes that are in memory, where they are due."""
        self._snapshots.wait()
        project = self._project
        if project is not None:
            self.index.keep(project.database)
            self.nodes.keep(project.database)

    def _keep_soon(self, view: IndexView) -> None:
        project = self._project
        if project is not None:
            self._snapshots.start(lambda: view.keep(project.database))

    @property
    def patience(self) -> Patience:
        """Recalls for those who cannot wait."""
        with self._lock:
            if self._patience is None:
                self._patience = Patience()
            return self._patience

    # -- embeddings ----------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """The embedder in use, opened at its first use."""
        if self._embedder is None:
            with self._lock:
                if self._embedder is None:
                    self._embedder = self.know(self._embedder_choice)
        return self._embedder

    def know(self, embedder: str | Embedder) -> Embedder:
        """Open an embedder that is used from the moment on that the stored vectors are its own."""
        opened = open_embedder(embedder)
        self._known[opened.identity] = opened
        return opened

    def use_embedder(self, embedder: Embedder) -> None:
        """Switch to an embedder that is known."""
        self._embedder = embedder

    def with_embedder(self, attempt: Callable[[Embedder], T]) -> T:
        """Return what `attempt` returns with the embedder in use.

        A re-embedding by this handle swaps the stored vectors between two moments of other threads' calls: what was
        embedded before is then embedded again with the new one.

        Raises:
            EmbedderMismatchError: the stored vectors are of an embedder that this handle does not know.
        """
        while True:
            tried = self.embedder
            try:
                return attempt(tried)
            except EmbedderMismatchError:
                if not self._follow_swap(tried):
                    raise

    def _follow_swap(self, tried: Embedder) -> bool:
        with self.read() as connection:
            stored = None if connection is None else generations.current(connection)
        known = None if stored is None else self._known.get(identity_of(stored))
        if known is None or known is tried:
            return False
        self._embedder = known
        return True

    def embed_query(self, embedder: Embedder, text: str) -> Float32:
        """Return the query's unit vector, from the cache when it was asked before."""
        return self.queries.embed(embedder, text)

    def generation(
        self, connection: sqlite3.Connection, identity: EmbedderIdentity, *, create: bool = False
    ) -> int | None:
        """Return the current generation's number, after checking that its vectors are of this embedder.

        Raises:
            EmbedderMismatchError: they are another's.
        """
        stored = generations.current(connection)
        if stored is None:
            return add_generation(connection, identity, "current") if create else None
        if identity_of(stored) != identity:
            raise EmbedderMismatchError(
                f"project {self.project_name!r} holds vectors of {described(stored)}, not of "
                f"{described(identity)}; to move it over: reasoningbank reembed --project {self.project_name!r} "
                f"--embedder {identity.name}"
            )
        return stored.number

    def warm(self) -> None:
        """Load the embedder, and the vector index if the project exists."""
        self.embedder.embed_query("warm")
        with self.read() as connection:
            if connection is not None:
                self.index.sync(connection)

    # -- beliefs -------------------------------------------------------------------------------------------------

    def model(self, connection: sqlite3.Connection) -> ConfidenceModel:
        """Return the confidence model with what this project has taught it."""
        return self._models.current(connection)

    def fitted_to(self, connection: sqlite3.Connection) -> int:
        """Return the newest change of the project that the calibrated model's parameters take into account."""
        return self._models.fitted_to(connection)

    def beliefs(self, connection: sqlite3.Connection, stored: Iterable[Stored]) -> dict[int, Belief]:
        """Return the belief about each memory, by row number."""
        return self._models.beliefs(connection, stored)

    def memories(self, connection: sqlite3.Connection, stored: Mapping[int, Stored]) -> dict[int, Memory]:
        """Return the memories with their present confidence, by row number, in the given order."""
        beliefs = self.beliefs(connection, stored.values())
        return {n: s.believed(beliefs[n].mean) for n, s in stored.items()}

    def every_memory(self, connection: sqlite3.Connection) -> Iterator[tuple[int, Memory]]:
        """Yield every memory with its row number, whatever its state, in the order they were recorded."""
        after = 0
        while numbers := records.page(connection, Filters(states=tuple(State)), after, 500):
            rows = records.load(connection, numbers, self.project_name)
            yield from self.memories(connection, {n: rows[n] for n in numbers}).items()
            after = numbers[-1]

    @property
    def keep_time(self) -> timedelta:
        """How long what was counted is kept in full."""
        return timedelta(days=self.settings.keep_days)

    @property
    def episode_ttl(self) -> timedelta:
        """How long an open episode stays live."""
        return timedelta(hours=self.settings.episode_ttl_hours)


def add_generation(connection: sqlite3.Connection, identity: EmbedderIdentity, state: str) -> int:
    """Begin a generation of vectors of this embedder, and return its number."""
    embedder = (identity.name, identity.revision, identity.dim, identity.pooling, identity.normalised)
    return generations.add(connection, embedder, state)


def identity_of(stored: Generation) -> EmbedderIdentity:
    """Return whose vectors a generation holds."""
    return EmbedderIdentity(stored.name, stored.revision, stored.dim, stored.pooling, bool(stored.normalised))


def described(embedder: EmbedderIdentity | Generation) -> str:
    """Name an embedder, or the one whose vectors a generation holds, for people."""
    return f"{embedder.name} {embedder.revision} ({embedder.dim} numbers)"

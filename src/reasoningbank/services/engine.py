"""One opened project: its files, its vector index, its embedder and its beliefs, wired together.

This module and what it imports is loaded at a bank's first use: the import of the package stays light.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from reasoningbank.address import ServerAddress
from reasoningbank.config import Settings
from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.embed.named import open_embedder
from reasoningbank.errors import EmbedderMismatchError, InvalidInputError, ReasoningBankError, StorageError
from reasoningbank.forks import renew_after_fork
from reasoningbank.screening.scrub import DEFAULT_RULES, RuleSet
from reasoningbank.services.cache.beliefs import Models
from reasoningbank.services.cache.project import ProjectCache
from reasoningbank.services.cache.queries import QueryCache
from reasoningbank.services.cache.snapshots import SnapshotWriter
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.services.deadline import Deadlines
from reasoningbank.services.view import Edit, View, identity_of
from reasoningbank.signals import as_utc
from reasoningbank.storage import meta
from reasoningbank.storage.contract import Writing
from reasoningbank.storage.place import Project, place_at
from reasoningbank.storage.root import project_folder
from reasoningbank.storage.stored_vectors import MEMORIES, NODES

log = logging.getLogger("reasoningbank")

# The embedder of a project that holds no vectors yet, where none was named.
DEFAULT = "minilm"

# Numbers the transactions of a process, so that one can tell which bank was idle for longest.
_TURNS = itertools.count(1)

Float32 = npt.NDArray[np.float32]
T = TypeVar("T")


class Engine:
    """Everything behind one bank handle: an absolute root, checked names, and a clock, the only source of time.

    Attributes:
        deadlines: of its callers that cannot wait.
        rules: by which secrets are told.
        used: which of the process's transactions was its last.
    """

    def __init__(
        self,
        root: Path | ServerAddress,
        *,
        tenant: str,
        project: str,
        embedder: str | Embedder | None,
        settings: Settings,
        clock: Callable[[], datetime],
        deadlines: Deadlines,
        rules: RuleSet = DEFAULT_RULES,
        when_opened: Callable[[Engine], None] | None = None,
    ) -> None:
        self.root, self.tenant, self.project_name, self.settings = root, tenant, project, settings
        self.place = place_at(root)
        self._clock = clock
        self.rules = rules
        self._embedder_choice = embedder
        self._embedder: Embedder | None = None
        self._known: dict[EmbedderIdentity, Embedder] = {}
        self._closed = False
        self._when_opened = when_opened
        self.used, self._users, self._counting = 0, 0, threading.Lock()
        self._lock = threading.RLock()
        self._project: Project | None = None
        self._snapshots = SnapshotWriter()
        self.cache, self.nodes = ProjectCache(self._keep_soon), VectorCache(NODES, self._keep_soon)
        if "://" in settings.vectors:
            # Loaded only where it is asked for.
            from reasoningbank.services.cache.overlaid import OverlaidCache

            self.cache.vectors = OverlaidCache(MEMORIES, self._keep_soon, address=settings.vectors, place=self.where)
        elif isinstance(root, ServerAddress):
            # Those of nodes are few.
            self.cache.vectors.where = settings.vectors
        self.queries = QueryCache(self.rules)
        self.deadlines = deadlines
        self.models = Models(settings.confidence_model)
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the locks, whose holders are not in this process."""
        self._lock, self._counting, self._users = threading.RLock(), threading.Lock(), 0

    def now(self) -> datetime:
        """Return the clock's time in UTC; a naive clock is read as UTC."""
        return as_utc(self._clock())

    # -- files ---------------------------------------------------------------------------------------------------

    @property
    def where(self) -> str:
        """Where the project is, or would be."""
        return self.place.where(self.tenant, self.project_name)

    @property
    def folder(self) -> Path:
        """The project's folder, which need not exist; InvalidInputError where it is on a server."""
        if isinstance(self.root, Path):
            return project_folder(self.root, self.tenant, self.project_name)
        raise InvalidInputError(f"{self.root} is no folder: use the server's own tools for its files")

    def project(self, *, create: bool = False) -> Project | None:
        """Return the project's files; None when there are none and none are to be made."""
        project = self._project
        if project is None or self._closed:
            opened = False
            with self._lock:
                if self._closed:
                    raise StorageError("the bank was closed: open a new one", path=self.root)
                if self._project is None:
                    self._project = self.place.open(
                        self.tenant,
                        self.project_name,
                        durability=self.settings.durability,
                        busy_timeout=self.settings.busy_timeout,
                        create_at=self.now() if create else None,
                        seen=self.cache.vectors.expect,
                    )
                    opened = self._project is not None
                project = self._project
            if opened and self._when_opened is not None:
                self._when_opened(self)
        return project

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Let nobody put the files to rest meanwhile."""
        with self._counting:
            self._users += 1
            self.used = next(_TURNS)
        try:
            yield
        finally:
            with self._counting:
                self._users -= 1

    def _is_busy(self) -> bool:
        return self._users > 0

    def rest(self) -> bool:
        """Close the files and forget what is in memory, until the next call; False when one is under way.

        A handle that rests costs a few kilobytes and no descriptor.
        """
        if self._is_busy():
            return False
        self.keep_indexes()
        self._note_late()
        with self._lock, self._counting:
            if self._is_busy():
                return False
            project, self._project = self._project, None
        if project is not None:
            project.close()
        self.drop_indexes()
        self.queries = QueryCache(self.rules)
        return True

    @contextmanager
    def read(self) -> Iterator[View]:
        """Give one state of the project; an empty one where there is no project."""
        with self._in_use():
            project = self.project()
            with project.read() if project is not None else self._nothing() as reading:
                yield View(self, reading)

    @contextmanager
    def write(self, *, create: bool = True) -> Iterator[Edit]:
        """Give what may change the project, alone in it; the project is made if need be.

        Without `create`, one that does not exist is seen as an empty one, and what is written to it comes to nothing.
        """
        with self._in_use():
            project = self.project(create=create)
            with project.write() if project is not None else self._nothing() as writing:
                yield Edit(self, writing)

    def _nothing(self) -> AbstractContextManager[Writing]:
        return self.place.nothing(self.tenant, self.project_name)

    def close(self) -> None:
        """Close the files. The handle cannot be used any more."""
        self.keep_indexes()
        self._note_late()
        with self._lock:
            self._closed = True
            project, self._project = self._project, None
        if project is not None:
            project.close()
        self.drop_indexes()

    def _note_late(self) -> None:
        """Write down recalls that came too late, where no later one has done so."""
        if not (late := self.deadlines.late) or self._project is None:
            return
        try:
            with self.write(create=False) as edit:
                meta.count_late(edit, late, self.now())
        except ReasoningBankError as error:
            log.warning("%d recalls that came too late were not counted: %s", late, error)

    def drop_indexes(self) -> None:
        """Forget what is derived in memory; it comes back at the next call."""
        self.cache.forget()
        self.nodes.drop()

    def keep_indexes(self) -> None:
        """Write snapshots of the indexes that are in memory, where they are due."""
        self._snapshots.wait()
        if (project := self._project) is not None:
            self.cache.vectors.keep(project)
            self.nodes.keep(project)

    def _keep_soon(self, index: VectorCache) -> None:
        if (project := self._project) is not None:
            self._snapshots.start(lambda: index.keep(project))

    # -- embeddings ----------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """The embedder in use, opened at its first use."""
        if self._embedder is None:
            with self._lock:
                if self._embedder is None:
                    self._embedder = self._opened_embedder()
        return self._embedder

    def _opened_embedder(self) -> Embedder:
        chosen = self._embedder_choice
        if chosen is None:
            return self._stored_embedder()
        with self.read() as view:
            stored = view.moment.generation
        return self.know(chosen, None if stored is None or stored.name != chosen else stored.dim)

    def _stored_embedder(self) -> Embedder:
        """Return the embedder whose vectors the project holds, or the default one where there are none yet."""
        with self.read() as view:
            stored = view.moment.generation
        try:
            return self.know(DEFAULT) if stored is None else self.know(stored.name, stored.dim)
        except InvalidInputError as error:
            raise EmbedderMismatchError(
                f"project {self.project_name!r} holds vectors of {stored.name if stored else DEFAULT!r}, an embedder "
                "that no name opens: open the bank with that object as embedder"
            ) from error

    def know(self, embedder: str | Embedder, width: int | None = None) -> Embedder:
        """Open an embedder that is used from the moment on that the stored vectors are its own.

        With the width of those that are stored an endpoint need not be asked, and may be down.
        """
        opened = open_embedder(embedder, width)
        self._known[opened.identity] = opened
        return opened

    def use_embedder(self, embedder: Embedder) -> None:
        """Switch to an embedder that is known."""
        self._embedder = embedder

    def with_embedder(self, attempt: Callable[[Embedder], T]) -> T:
        """Return what `attempt` returns with the embedder in use.

        A re-embedding by this handle swaps the stored vectors between two moments of other threads' calls: what was
        embedded before is then embedded again with the new one. EmbedderMismatchError when the stored vectors are of an
        embedder that this handle does not know.
        """
        while True:
            tried = self.embedder
            try:
                return attempt(tried)
            except EmbedderMismatchError:
                with self.read() as view:
                    stored = view.moment.generation
                identity = None if stored is None else identity_of(stored)
                # One that was given as an object is known, and no name opens it.
                if identity not in self._known and self._embedder_choice is None:
                    self._stored_embedder()
                known = None if identity is None else self._known.get(identity)
                if known is None or known is tried:
                    raise
                self._embedder = known

    def warm(self) -> None:
        """Load the embedder, and the vector index if the project exists."""
        self.embedder.embed_query("warm")
        with self.read() as view:
            self.cache.follow(view)

    @property
    def episode_ttl(self) -> timedelta:
        """How long an open episode stays live."""
        return timedelta(hours=self.settings.episode_ttl_hours)

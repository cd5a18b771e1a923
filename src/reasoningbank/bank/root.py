"""A tenant's projects under one root."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from reasoningbank.bank.bank import ReasoningBank
from reasoningbank.bank.handle import utc_now
from reasoningbank.config import Settings, data_folder
from reasoningbank.storage.root import checked_name, delete_project_files, list_projects

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder


class BankRoot:
    """Lists, opens and deletes the projects of one tenant.

    Args:
        root: the folder that holds the data; the user's data folder when None.
        tenant: whose projects. There is no default.
        embedder, settings, clock: given to every bank that is opened.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        tenant: str,
        embedder: str | Embedder = "minilm",
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._root = data_folder(root)
        self._tenant = checked_name(tenant, "tenant")
        self._embedder, self._settings, self._clock = embedder, Settings.of(settings), clock
        self._banks: dict[str, ReasoningBank] = {}
        self._lock = threading.Lock()

    @property
    def root(self) -> Path:
        """The absolute root folder."""
        return self._root

    @property
    def tenant(self) -> str:
        """The tenant's name, in NFC."""
        return self._tenant

    def projects(self) -> list[str]:
        """Return the names of the tenant's projects, sorted. Nothing is made."""
        return list_projects(self._root, self._tenant)

    def open(self, project: str) -> ReasoningBank:
        """Return the bank of a project; the same handle each time."""
        name = checked_name(project, "project")
        with self._lock:
            if name not in self._banks:
                self._banks[name] = ReasoningBank(
                    self._root,
                    tenant=self._tenant,
                    project=name,
                    embedder=self._embedder,
                    settings=self._settings,
                    clock=self._clock,
                )
            return self._banks[name]

    def delete_project(self, project: str) -> None:
        """Delete everything of exactly this project, for good. Handles that others have open refuse from then on.

        Raises:
            ProjectNotFoundError: there is none of this name.
        """
        name = checked_name(project, "project")
        with self._lock:
            if name in self._banks:
                self._banks.pop(name).close()
        delete_project_files(self._root, self._tenant, name)

    def close(self) -> None:
        """Close every bank that was opened here."""
        with self._lock:
            while self._banks:
                self._banks.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

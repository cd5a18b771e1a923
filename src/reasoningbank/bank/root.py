"""A tenant's projects under one root."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

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

    Attributes:
        root: the absolute root folder.
        tenant: the tenant's name, in NFC.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        tenant: str,
        embedder: str | Embedder | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.root: Final = data_folder(root)
        self.tenant: Final = checked_name(tenant, "tenant")
        self._bank_of = partial(
            ReasoningBank, self.root, tenant=self.tenant, embedder=embedder, settings=Settings.of(settings), clock=clock
        )
        self._banks: dict[str, ReasoningBank] = {}
        self._lock = threading.Lock()

    def projects(self) -> list[str]:
        """Return the names of the tenant's projects, sorted. Nothing is made."""
        return list_projects(self.root, self.tenant)

    def open(self, project: str) -> ReasoningBank:
        """Return the bank of a project; the same handle each time."""
        name = checked_name(project, "project")
        with self._lock:
            if name not in self._banks:
                self._banks[name] = self._bank_of(project=name)
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
        delete_project_files(self.root, self.tenant, name)

    def close(self) -> None:
        """Close every bank that was opened here."""
        with self._lock:
            while self._banks:
                self._banks.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

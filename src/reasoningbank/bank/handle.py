"""What a bank handle is bound to. The parts of the API build on it; heavy modules are imported at first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoningbank.config import Settings, data_folder
from reasoningbank.storage.names import checked_name

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder
    from reasoningbank.services.engine import Engine


def utc_now() -> datetime:
    """Return the present time, aware, in UTC."""
    return datetime.now(UTC)


class Handle:
    """Bound to one project of one tenant, and never to another."""

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        tenant: str,
        project: str,
        embedder: str | Embedder = "minilm",
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._tenant = checked_name(tenant, "tenant")
        self._project = checked_name(project, "project")
        self._root = data_folder(root)
        self._settings = Settings.of(settings)
        self._embedder = embedder
        self._clock = clock
        self._opened: Engine | None = None
        self._opening = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._root)!r}, tenant={self._tenant!r}, project={self._project!r})"

    @property
    def tenant(self) -> str:
        """The tenant's name, in NFC."""
        return self._tenant

    @property
    def project(self) -> str:
        """The project's name, in NFC."""
        return self._project

    @property
    def root(self) -> Path:
        """The absolute root folder."""
        return self._root

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def _engine(self) -> Engine:
        if self._opened is None:
            from reasoningbank.services.engine import Engine

            with self._opening:
                if self._opened is None:
                    self._opened = Engine(
                        self._root,
                        tenant=self._tenant,
                        project=self._project,
                        embedder=self._embedder,
                        settings=self._settings,
                        clock=self._clock,
                    )
        return self._opened

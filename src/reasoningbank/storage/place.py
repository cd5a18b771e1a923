"""Where projects are kept, and what is asked of one that is opened: a folder, or a server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from reasoningbank.address import ServerAddress
from reasoningbank.errors import MissingExtraError, ReasoningBankError
from reasoningbank.status import ProjectCounts
from reasoningbank.storage import root as folders
from reasoningbank.storage import told
from reasoningbank.storage.contract import Writing
from reasoningbank.storage.project import Project as FolderProject
from reasoningbank.storage.project import nothing
from reasoningbank.storage.sharing import shared_name
from reasoningbank.storage.told import Told

if TYPE_CHECKING:
    from reasoningbank.storage.contract import Reading
    from reasoningbank.storage.due import Bell, Found, Work
    from reasoningbank.storage.ledger import Log, LogHealth

Durability = Literal["normal", "full"]


class Project(Protocol):
    """One project of one tenant that is opened."""

    @property
    def read_only(self) -> bool:
        """Whether this user cannot write here."""

    @property
    def hides_recent_writes(self) -> bool:
        """Whether writes are there that this user cannot see."""

    def read(self) -> AbstractContextManager[Any]:
        """Give one state of the project, a `Reading`. StorageError when it cannot be had."""

    def write(self) -> AbstractContextManager[Any]:
        """Give what may change the project, a `Writing`, alone in it; all of it is kept at the end, or nothing.

        Raises:
            BusyError: another writer was at it for too long.
            ReadOnlyError, ProjectDeletedError, StorageError: as their names say; nothing was changed.
        """

    def log_of(self, reading: Any) -> Log:
        """Return the signal log that a reading sees."""

    def due(self, reading: Any, now: datetime, keep_days: int) -> list[str]:
        """Return the names of the segments that are old enough to be rolled up."""

    def health(self, reading: Any) -> LogHealth:
        """Look at the log without changing anything."""

    def space(self) -> dict[str, int]:
        """Return how many bytes the project takes and how many are free, as far as it is known: fields of `Status`."""

    def damage(self, reading: Any) -> str:
        """Return what is wrong with the database itself; "" when nothing is."""

    def roll_up(self, now: datetime, keep_days: int) -> list[str]:
        """Move segments older than `keep_days` into the tallies for good, and return their names.

        Those with bad lines are kept. Safe to run twice and by several processes at once.
        """

    def refold(self) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""

    def sweep(self) -> None:
        """Remove what is rolled up, and what killed processes had no time to remove."""

    def forget_words(self) -> None:
        """Take the words of what was deleted or rewritten out of the text indexes, a bounded step at a time."""

    def tidy(self) -> None:
        """Do what makes the next opening cheaper; nobody is kept waiting for it."""

    def backup(self, target: Path) -> None:
        """Copy the project, as it is at one moment, into a new folder that can be opened as a project."""

    def close(self) -> None:
        """Close it. Closing twice is fine."""


class Place(Protocol):
    """Where projects are. Names are checked ones."""

    def where(self, tenant: str, project: str) -> str:
        """Say where a project is, or would be."""

    def open(
        self,
        tenant: str,
        project: str,
        *,
        durability: Durability,
        busy_timeout: float,
        create_at: datetime | None = None,
        seen: Callable[[Reading], None] | None = None,
    ) -> Project | None:
        """Open a project; None when there is none and none was to be made (as of `create_at`).

        `seen` is called with what is read of it meanwhile, if anything is.
        """

    def projects(self, tenant: str) -> list[str]:
        """Return the names of a tenant's projects, sorted; nothing is made."""

    def every(self, tenant: str) -> list[str]:
        """Return these and the names that are reserved for shared banks, sorted; nothing is made."""

    def tenants(self) -> list[str]:
        """Return the names of the tenants that have projects, sorted; ScopeError where nobody may know."""

    def overview(self, tenant: str) -> list[ProjectCounts]:
        """Return how much is in each of a tenant's projects, by name; behind them those that cannot be read."""

    def delete(self, tenant: str, project: str) -> None:
        """Delete everything of exactly this project; ProjectNotFoundError when there is none of this name."""

    def due(self, tenant: str | None, work: Work, now: datetime) -> AbstractContextManager[Found | None]:
        """Give a project of a tenant, or of any, in which such work is due, alone in it; None when there is none.

        A project that others write to at this moment may be passed over. Shared banks are no part of it.

        ScopeError when the work of every tenant is not for this role to see.
        """

    def bell(self, tenant: str | None, clock: Callable[[], datetime]) -> Bell:
        """Return what to wait with for jobs of these projects; it is closed by the caller."""

    def clock(self, own: Callable[[], datetime]) -> Callable[[], datetime]:
        """Return the clock to go by here, of a process with a clock of its own: a server's is one for all."""

    def nothing(self, tenant: str, project: str) -> AbstractContextManager[Writing]:
        """Give an empty project. It may be written to like any other, and nothing of that is kept."""


class Folder:
    """The projects under one folder; `Place` says what its calls do."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def where(self, tenant: str, project: str) -> str:
        return str(self._folder(tenant, project))

    def _folder(self, tenant: str, project: str) -> Path:
        return folders.project_folder(self.root, tenant, project)

    def open(
        self,
        tenant: str,
        project: str,
        *,
        durability: Durability,
        busy_timeout: float,
        create_at: datetime | None = None,
        seen: Callable[[Reading], None] | None = None,  # noqa: ARG002 - as for servers
    ) -> FolderProject | None:
        return FolderProject.open(
            self._folder(tenant, project),
            tenant=tenant,
            project=project,
            durability=durability,
            busy_timeout=busy_timeout,
            create_at=create_at,
        )

    def projects(self, tenant: str) -> list[str]:
        return [name for name in self.every(tenant) if shared_name(name) is None]

    def every(self, tenant: str) -> list[str]:
        return folders.list_projects(self.root, tenant)

    def tenants(self) -> list[str]:
        return folders.list_tenants(self.root)

    def overview(self, tenant: str) -> list[ProjectCounts]:
        return folders.count_projects(self.root, tenant)

    def delete(self, tenant: str, project: str) -> None:
        folders.delete_project_files(self.root, tenant, project)

    def due(self, tenant: str | None, work: Work, now: datetime) -> AbstractContextManager[Found | None]:
        # Loaded when it is asked for, here and below: of those who import the bank, few look for work.
        from reasoningbank.storage.due import in_folders

        return in_folders(self, tenant, work, now)

    def bell(self, tenant: str | None, clock: Callable[[], datetime]) -> Bell:  # noqa: ARG002 - as for servers
        from reasoningbank.storage.due import Clockwork

        return Clockwork()

    def clock(self, own: Callable[[], datetime]) -> Callable[[], datetime]:
        return own

    def nothing(self, tenant: str, project: str) -> AbstractContextManager[Writing]:
        return nothing(self._folder(tenant, project))


def place_at(root: Path | ServerAddress) -> Place:
    """Return the place at a root; MissingExtraError when it is a server whose driver is not installed."""
    if isinstance(root, Path):
        return Folder(root)
    try:
        from reasoningbank.storage.postgres.project import ServerPlace
    except ImportError as error:
        raise MissingExtraError("a bank on PostgreSQL", "postgres") from error
    return ServerPlace(root)


def told_of(place: Place, tenant: str, project: str) -> dict[str, Told]:
    """Return what vector engines were told of a project, by their addresses; nothing where it cannot be read."""
    try:
        opened = place.open(tenant, project, durability="normal", busy_timeout=1.0)
        if opened is None:
            return {}
        try:
            with opened.read() as reading:
                return told.every(reading, place.where(tenant, project))
        finally:
            opened.close()
    except ReasoningBankError:
        return {}

"""Projects of tenants under one root, of which only so many are open at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakValueDictionary

from reasoningbank import arguments
from reasoningbank.address import ServerAddress
from reasoningbank.bank.bank import ReasoningBank
from reasoningbank.bank.handle import Later, as_distiller, as_run_judge, clock_at, utc_now
from reasoningbank.bank.sharing import checked_banks
from reasoningbank.config import Settings, data_root
from reasoningbank.status import ProjectCounts
from reasoningbank.storage.place import place_at, told_of
from reasoningbank.storage.root import checked_name

if TYPE_CHECKING:
    from reasoningbank.bank.handle import AnyJudge
    from reasoningbank.bank.shared import SharedBanks
    from reasoningbank.distill.distiller import Distiller
    from reasoningbank.embed.base import Embedder
    from reasoningbank.formats.scrub_rules import ScrubRules
    from reasoningbank.services.engine import Engine
    from reasoningbank.services.runs.fleet import Fleet
    from reasoningbank.services.runs.worker import Worker
    from reasoningbank.services.upkeep import rounds
    from reasoningbank.status import Round
else:
    rounds = Later("reasoningbank.services.upkeep.rounds")

MOST_OPEN = 64

_Key = tuple[str, str, tuple[str, ...], str | None]
"""Tenant, project, shared banks and person of a handle."""


class _Resting(ReasoningBank):
    """A bank that tells when its files are opened, so that they can be closed while it is idle."""

    def __init__(self, *args: Any, when_opened: Callable[[Engine], None], **options: Any) -> None:
        super().__init__(*args, **options)
        self._handle.when_opened = when_opened


class Tenants:
    """Opens banks of many tenants, for a server: one that is given a run knows whose it is.

        tenants = Tenants("data")
        middleware = ReasoningBankMiddleware(lambda run: tenants.open(run["configurable"]["tenant"], "support"))

    A handle comes back as long as somebody holds it. Only so many have their files open: beyond that those that were
    idle for longest are closed, never one that is in use, and are opened again by their next call. So descriptors and
    memory are bounded by the tenants that are active, however many there are; opening a handle touches no file.

    Args:
        root: the folder that holds the data; the user's data folder when None.
        embedder, settings, scrub_rules, clock: given to every bank that is opened.
        most_open: how many may have their files open at once, at least 1.

    Attributes:
        root: the absolute root folder.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | ServerAddress | None = None,
        *,
        embedder: str | Embedder | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        scrub_rules: ScrubRules | None = None,
        clock: Callable[[], datetime] = utc_now,
        most_open: int = MOST_OPEN,
    ) -> None:
        self.root: Final = data_root(root)
        checked = Settings.of(settings)
        self._clock = clock
        self._bank_of = partial(
            _Resting, self.root, embedder=embedder, settings=checked, scrub_rules=scrub_rules, clock=clock
        )
        self._most_open = arguments.whole("most_open", most_open, 1)
        self._banks: WeakValueDictionary[_Key, ReasoningBank] = WeakValueDictionary()
        # Those whose files are open are held, so that one is never opened twice.
        self._open: dict[Engine, ReasoningBank] = {}
        self._lock = threading.Lock()

    def open(
        self, tenant: str, project: str, *, shared: Sequence[str] = (), person: str | None = None
    ) -> ReasoningBank:
        """Return the bank of a tenant's project; the same handle as long as somebody holds it.

        Args:
            shared, person: as for a ReasoningBank.

        Raises:
            ScopeError: no tenant or no project.
            InvalidNameError: a name that is not allowed.
        """
        names = checked_name(tenant, "tenant"), checked_name(project, "project")
        key: _Key = (*names, checked_banks(shared), person)
        with self._lock:
            bank = self._banks.get(key)
            if bank is None:
                tell = partial(self._opened, key)
                options: dict[str, Any] = {"shared": shared, "person": person, "when_opened": tell}
                bank = self._banks[key] = self._bank_of(tenant=names[0], project=names[1], **options)
            return bank

    def _opened(self, key: _Key, engine: Engine) -> None:
        """An engine opened its files: close those of the engines that were idle for longest, as far as need be."""
        with self._lock:
            if (bank := self._banks.get(key)) is not None:
                self._open[engine] = bank
            surplus = len(self._open) - self._most_open
            others = [one for one in self._open if one is not engine] if surplus > 0 else []
        for idle in sorted(others, key=lambda one: one.used):
            if surplus > 0 and idle.rest():
                surplus -= 1
                with self._lock:
                    self._open.pop(idle, None)

    def worker(
        self,
        distiller: Distiller | None = None,
        judge: AnyJudge | None = None,
        *,
        poll: float = 1.0,
        upkeep: bool = False,
    ) -> Worker:
        """Return a worker for the queues of all projects of every tenant; it works in its own thread while entered.

        Of any number of them, in any number of processes, each job is taken by one. On a server their role needs the
        right to look for the work of every tenant: `server.init(…, fleet=ROLE)`.

        Args:
            distiller, judge: as in a bank's `distill`.
            poll: seconds between two looks where nothing tells of a job: in folders, and behind a pooler.
            upkeep: do rounds of upkeep that are due, too, when there is no job (see `maintain`).

        Raises:
            ScopeError: from entering it, where the role lacks that right. A server that is away is tried again.
        """
        return self._worker(None, distiller, judge, poll=poll, upkeep=upkeep)

    def _worker(
        self, tenant: str | None, distiller: Distiller | None, judge: AnyJudge | None, *, poll: float, upkeep: bool
    ) -> Worker:
        from reasoningbank.services.runs.fleet import EveryProject
        from reasoningbank.services.runs.worker import Worker

        fleet = self._fleet(tenant)
        when_idle = (lambda: rounds.next_round(fleet) is not None) if upkeep else bool
        return Worker(EveryProject(fleet), as_distiller(distiller), as_run_judge(judge), poll=poll, when_idle=when_idle)

    def maintain(self) -> list[Round]:
        """Do a round of upkeep in each project of every tenant that had none for a day, and say what was done.

        Several processes that are at it share the projects; none is kept by two at once. On a server the role needs
        the right that `worker` needs.
        """
        return self._maintain(None)

    def _maintain(self, tenant: str | None) -> list[Round]:
        return list(rounds.rounds(self._fleet(tenant)))

    def _fleet(self, tenant: str | None) -> Fleet:
        from reasoningbank.services.runs.fleet import Fleet

        return Fleet(place_at(self.root), tenant, clock_at(self.root, self._clock), self._engine)

    @contextmanager
    def _engine(self, tenant: str, project: str) -> Iterator[Engine]:
        bank = self.open(tenant, project)
        yield bank._handle.engine  # noqa: SLF001 - what a bank stands on

    def names(self) -> list[str]:
        """Return the names of the tenants that have projects, sorted. Nothing is made. A server tells nobody."""
        return place_at(self.root).tenants()

    def projects(self, tenant: str) -> list[str]:
        """Return the names of a tenant's projects, sorted. Nothing is made."""
        return place_at(self.root).projects(checked_name(tenant, "tenant"))

    def overview(self, tenant: str) -> list[ProjectCounts]:
        """Return how much is in each of a tenant's projects, by name; behind them those that cannot be read."""
        return place_at(self.root).overview(checked_name(tenant, "tenant"))

    def delete_project(self, tenant: str, project: str) -> None:
        """Delete everything of exactly this project, for good. Handles that others have open refuse from then on.

        Raises:
            ProjectNotFoundError: there is none of this name.
        """
        key = checked_name(tenant, "tenant"), checked_name(project, "project")
        with self._lock:
            opened = [self._banks.pop(held) for held in list(self._banks) if held[:2] == key]
        for bank in opened:
            bank.close()
        place = place_at(self.root)
        told = told_of(place, *key)
        place.delete(*key)
        if told:
            from reasoningbank.services.cache.overlaid import drop_told

            drop_told(told)

    def close(self) -> None:
        """Close every bank that was opened here."""
        with self._lock:
            banks = list(self._banks.values())
            self._banks.clear()
            self._open.clear()
        for bank in banks:
            bank.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BankRoot:
    """Lists, opens and deletes the projects of one tenant, of which only so many have their files open.

    Args:
        root: the folder that holds the data; the user's data folder when None.
        tenant: whose projects. There is no default.
        embedder, settings, scrub_rules, clock: given to every bank that is opened.
        most_open: how many may have their files open at once (see Tenants).

    Attributes:
        root: the absolute root folder.
        tenant: the tenant's name, in NFC.
        shared: the tenant's shared banks.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | ServerAddress | None = None,
        *,
        tenant: str,
        embedder: str | Embedder | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        scrub_rules: ScrubRules | None = None,
        clock: Callable[[], datetime] = utc_now,
        most_open: int = MOST_OPEN,
    ) -> None:
        self.tenant: Final = checked_name(tenant, "tenant")
        self._options = {"embedder": embedder, "settings": settings, "scrub_rules": scrub_rules, "clock": clock}
        self._tenants = Tenants(root, **self._options, most_open=most_open)  # type: ignore[arg-type]
        self.root: Final = self._tenants.root

    def projects(self) -> list[str]:
        """Return the names of the tenant's projects, sorted. Nothing is made."""
        return self._tenants.projects(self.tenant)

    def overview(self) -> list[ProjectCounts]:
        """Return how much is in each of the tenant's projects, by name; behind them those that cannot be read."""
        return self._tenants.overview(self.tenant)

    def open(self, project: str, *, shared: Sequence[str] = (), person: str | None = None) -> ReasoningBank:
        """Return the bank of a project; the same handle as long as somebody holds it."""
        return self._tenants.open(self.tenant, project, shared=shared, person=person)

    def worker(
        self,
        distiller: Distiller | None = None,
        judge: AnyJudge | None = None,
        *,
        poll: float = 1.0,
        upkeep: bool = False,
    ) -> Worker:
        """Return a worker for the queues of all the tenant's projects; it works in its own thread while it is entered.

        Of any number of them, in any number of processes, each job is taken by one; `Tenants.worker` says the rest.
        """
        return self._tenants._worker(self.tenant, distiller, judge, poll=poll, upkeep=upkeep)  # noqa: SLF001

    def maintain(self) -> list[Round]:
        """Do a round of upkeep in each of the tenant's projects that had none for a day, and say what was done.

        Several processes that are at it share the projects; none is kept by two at once.
        """
        return self._tenants._maintain(self.tenant)  # noqa: SLF001

    @property
    def shared(self) -> SharedBanks:
        """The tenant's shared banks: declared here, and who they are open to."""
        from reasoningbank.bank.shared import SharedBanks

        return SharedBanks(self, **self._options)

    def delete_project(self, project: str) -> None:
        """Delete everything of exactly this project, for good. Handles that others have open refuse from then on.

        Raises:
            ProjectNotFoundError: there is none of this name.
        """
        self._tenants.delete_project(self.tenant, project)

    def move(self, project: str, to: str | os.PathLike[str]) -> int:
        """Take a project to another folder or server, where it goes on as it is; return how many rows it has.

        Numbers, revisions, beliefs and answers stay the same, and are compared before the move counts. Meanwhile
        others can read it and wait to write. Stopped anywhere, it is where it was, and moving again goes on. Afterwards
        what is left in the old place only says where it is: `delete_project` removes it.

        Raises:
            ProjectNotFoundError: there is none of this name.
            InvalidInputError: the other place has another project of this name.
            StorageError: a place refuses; nothing was moved.
        """
        from reasoningbank.storage.moving import Named, move

        return move(Named(self.tenant, checked_name(project, "project")), place_at(self.root), place_at(data_root(to)))

    def close(self) -> None:
        """Close every bank that was opened here."""
        self._tenants.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

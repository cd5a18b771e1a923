"""What a bank is bound to, and what its parts stand on; heavy modules are imported at first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from reasoningbank.address import ServerAddress
from reasoningbank.config import Settings, data_root
from reasoningbank.errors import MissingLibraryError, ReasoningBankError
from reasoningbank.filters import FilterOptions
from reasoningbank.services.deadline import Deadlines
from reasoningbank.storage.place import place_at
from reasoningbank.storage.root import checked_name

if TYPE_CHECKING:
    from pathlib import Path

    from reasoningbank.distill import judge as judging
    from reasoningbank.distill import template
    from reasoningbank.distill.distiller import Distiller
    from reasoningbank.distill.judge import RunJudge
    from reasoningbank.embed.base import Embedder
    from reasoningbank.formats import scrub_rules as rule_files
    from reasoningbank.formats.scrub_rules import ScrubRules
    from reasoningbank.runs.trajectory import Trajectory
    from reasoningbank.services.engine import Engine
    from reasoningbank.services.sharing.levels import Levels

    AnyJudge: TypeAlias = RunJudge | Callable[[Trajectory], Any]


def utc_now() -> datetime:
    """Return the present time, aware, in UTC."""
    return datetime.now(UTC)


def clock_at(root: Path | ServerAddress, clock: Callable[[], datetime]) -> Callable[[], datetime]:
    """Return the clock to go by at a root: one that was given, or the place's."""
    return clock if clock is not utc_now else place_at(root).clock(clock)


@contextmanager
def needed() -> Iterator[None]:
    """Load what the bank cannot do without; MissingLibraryError where a library of another's is not there."""
    try:
        yield
    except ImportError as missing:
        if isinstance(missing, ReasoningBankError):
            raise
        raise MissingLibraryError(missing) from missing


class Later:
    """A module that is loaded at its first use: a bank is imported in a fraction of the time that its services take."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        with needed():
            self.__dict__[name] = found = getattr(import_module(self._name), name)
        return found

    @classmethod
    def each(cls, package: str, *names: str) -> list[Later]:
        """Return several modules of a package."""
        return [cls(f"{package}.{name}") for name in names]


if not TYPE_CHECKING:
    rule_files = Later("reasoningbank.formats.scrub_rules")
    judging, template = Later.each("reasoningbank.distill", "judge", "template")


class Handle:
    """Bound to one project of one tenant, and never to another."""

    def __init__(
        self,
        root: str | os.PathLike[str] | ServerAddress | None,
        *,
        tenant: str,
        project: str,
        embedder: str | Embedder | None,
        settings: Settings | Mapping[str, Any] | None,
        scrub_rules: ScrubRules | None = None,
        clock: Callable[[], datetime],
    ) -> None:
        self.tenant, self.project = checked_name(tenant, "tenant"), checked_name(project, "project")
        self.root, self.settings = data_root(root), Settings.of(settings)
        self._rules = scrub_rules if scrub_rules is not None else self.settings.scrub_rules
        if self._rules is not None:
            self._rules = rule_files.as_rule_set(self._rules)
        self._embedder, self._clock = embedder, clock
        self._opened: Engine | None = None
        # Told each time the files are opened: by the first call, and by one after a rest.
        self.when_opened: Callable[[Engine], None] | None = None
        # A shared bank, looked after by itself; and the ones that a project is looked at with, and by whom.
        self.is_shared = False
        self.shared: tuple[str, ...] = ()
        self.person: str | None = None
        self._levels: Levels | None = None
        self._borrowed = False
        self._opening = threading.Lock()
        self.deadlines = Deadlines(self._warm)

    def _warm(self) -> None:
        self.engine.warm()

    @property
    def engine(self) -> Engine:
        """Everything behind the bank, opened at its first use."""
        if self._opened is None:
            with needed():
                opened_as = _shared_engine() if self.is_shared else _engine()

            with self._opening:
                if self._opened is None:
                    self._opened = opened_as(
                        self.root,
                        tenant=self.tenant,
                        project=self.project,
                        embedder=self._embedder,
                        settings=self.settings,
                        clock=clock_at(self.root, self._clock),
                        deadlines=self.deadlines,
                        rules=rule_files.as_rule_set(self._rules),
                        when_opened=self.when_opened,
                    )
        return self._opened

    @property
    def levels(self) -> Levels:
        """The project and its shared banks; each is opened at its first use."""
        if self._levels is None:
            with needed():
                from reasoningbank.services.sharing.levels import Levels

            own = self.engine
            with self._opening:
                if self._levels is None:
                    self._levels = Levels(own, self.shared, self.person)
        return self._levels

    def beside(self, shared: tuple[str, ...], person: str | None) -> Handle:
        """Return a handle on the same project, whose files it uses, that looks through these shared banks, too."""
        other = copy(self)
        own = {"_opened": self.engine, "_levels": None, "_borrowed": True, "shared": shared, "person": person}
        other.__dict__.update(own)
        return other

    def close(self) -> None:
        """Close the files of the project and of the shared banks."""
        if self._levels is not None:
            self._levels.close()
        if not self._borrowed:
            self.engine.close()


def _engine() -> type[Engine]:
    from reasoningbank.services.engine import Engine

    return Engine


def _shared_engine() -> type[Engine]:
    from reasoningbank.services.sharing.engine import SharedEngine

    return SharedEngine


class Namespace:
    """Calls of a bank that belong together. It keeps nothing but what it is bound to."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @cached_property
    def _engine(self) -> Engine:
        return self._handle.engine


# -- what several calls take and pass on ------------------------------------------------------------------------------


class RecallOptions(FilterOptions, total=False):
    """What `recall` takes beside task and limit, for a run that waits for its lessons."""

    ref: str | None
    thread: str | None
    join: bool
    max_tokens: int
    deadline: datetime | None
    expand_links: bool
    min_confidence: float | None
    strict: bool
    policy: str
    holdout: float | str | None
    weak: str


def as_distiller(given: Distiller | None) -> Distiller:
    """Return the distiller that is given, or the one that needs no model."""
    return template.TemplateDistiller() if given is None else given


def as_run_judge(given: AnyJudge | None) -> RunJudge | None:
    """Return what judges runs, if anything does."""
    return None if given is None else judging.as_judge(given)

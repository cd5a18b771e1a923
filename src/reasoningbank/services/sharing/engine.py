"""One shared bank as it is seen from a project, or by whoever looks after the tenant."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reasoningbank.belief.belief import ConfidenceModel, Evidence
from reasoningbank.belief.calibrated import CalibratedModel
from reasoningbank.belief.pooled import PooledModel, by_project
from reasoningbank.belief.worlds import Start, starting
from reasoningbank.errors import InvalidInputError, SharedAccessError, StorageError
from reasoningbank.services.cache.beliefs import Models
from reasoningbank.services.deadline import Deadlines
from reasoningbank.services.engine import Engine
from reasoningbank.services.view import Edit, View
from reasoningbank.sharing.rights import Right, effective
from reasoningbank.storage import sharing
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.root import project_folder
from reasoningbank.storage.stored import Stored

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder

log = logging.getLogger("reasoningbank")
Seen = TypeVar("Seen", bound=View)

TICK = 0.02
"""Seconds. Refusing takes a whole number of these, so that how long it takes does not tell whether there is a bank: to
open one takes about one, and to see that there is none a part of one."""

WHAT = {Right.READ: "read", Right.WRITE: "write to", Right.APPROVE: "approve in"}


class PooledModels(Models):
    """The model of a shared bank: the calibrated one pools what projects saw (see `belief.pooled`)."""

    def __init__(self, choice: str, here: str | None) -> None:
        super().__init__(choice)
        self._here = here

    def current(self, reading: Reading) -> ConfidenceModel:
        """Return the confidence model with what the shared bank has taught it."""
        model = super().current(reading)
        return PooledModel(model, self._here) if isinstance(model, CalibratedModel) else model

    def start(self, reading: Reading) -> Start:
        """Return where a fit of the parameters starts: at what all member projects have in common."""
        return starting([*sharing.told_by_project(reading).values()])

    def evidence(self, stored: Iterable[Stored]) -> list[Evidence]:
        """Return what the parameters are fitted to: what each project knows of each memory, by itself."""
        every = super().evidence(stored)
        return [(theirs, initial) for tallies, initial in every for theirs in by_project(tallies).values()]


class SharedEngine(Engine):
    """A shared bank, whose files are those of a project that no project's name can reach.

    Attributes:
        place: the place of shared banks.
    """

    def __init__(self, *args: Any, here: str | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.place = sharing.SharedPlace(self.place)  # type: ignore[assignment]
        self.models = PooledModels(self.settings.confidence_model, here)

    @property
    def folder(self) -> Path:
        """The folder of its files; InvalidInputError where it is on a server."""
        if isinstance(self.root, Path):
            return project_folder(self.root, self.tenant, sharing.reserved(self.project_name))
        raise InvalidInputError(f"{self.root} is no folder: use the server's own tools for its files")


class MemberEngine(SharedEngine):
    """A shared bank as one project sees it: every transaction asks first whether it may.

    So who is shut out is out from the next call on, in every process. Whether there is such a bank or it is closed is
    the same answer, found in the same way.

    Args:
        own: the project's engine.
        bank: the shared bank's name.
        person: who acts, beside the project.

    Attributes:
        own: the project's engine.
    """

    def __init__(self, own: Engine, bank: str, person: str | None) -> None:
        super().__init__(
            own.root,
            tenant=own.tenant,
            project=bank,
            embedder=None,
            settings=own.settings,
            clock=own.now,
            deadlines=Deadlines(lambda: None),
            rules=own.rules,
            here=own.project_name,
        )
        self.own, self._person = own, person
        self._was_let_in = False

    def right(self, reading: Reading) -> Right | None:
        """Return what this handle may do, in the state that a transaction sees."""
        project = sharing.right_of(reading, "project", self.own.project_name)
        return effective(project, sharing.right_of(reading, "person", self._person))

    def check(self, reading: Reading, needed: Right) -> Right:
        """Return what this handle may do; SharedAccessError when that is less than what is needed."""
        may = self.right(reading)
        if may is None or not may.includes(needed):
            # Who may not read is told the same whatever was tried.
            raise SharedAccessError(self.project_name, WHAT[needed if may is not None else Right.READ])
        return may

    @contextmanager
    def read(self) -> Iterator[View]:
        """Give one state of the shared bank to a member."""
        with self._for_members(super().read()) as view:
            yield view

    @contextmanager
    def write(self, *, create: bool = True) -> Iterator[Edit]:  # noqa: ARG002 - as of any engine; nobody makes one so
        """Give what a member may change; the services say what that is."""
        if not self._was_let_in:
            # Who is none does not wait for those who write, either: there are none where there is no bank.
            with self.read():
                pass
        with self._for_members(super().write(create=False)) as edit:
            yield edit

    @contextmanager
    def _for_members(self, transaction: AbstractContextManager[Seen]) -> Iterator[Seen]:
        """Begin a transaction for a member; others are refused at a tick, whatever had to be opened to tell."""
        began = time.perf_counter()
        with ExitStack() as opened:
            try:
                view = self._let_in(opened, transaction)
            except SharedAccessError:
                opened.close()
                if not self._was_let_in:
                    time.sleep(TICK - (time.perf_counter() - began) % TICK)
                raise
            yield view

    def _let_in(self, opened: ExitStack, transaction: AbstractContextManager[Seen]) -> Seen:
        """Begin a transaction for a member.

        A bank that cannot be read, or is elsewhere by now, says so to who was seen to be a member: to others it is as
        if there were none, and the log alone says why.
        """
        try:
            view = opened.enter_context(transaction)
        except StorageError as error:
            if self._was_let_in:
                raise
            log.warning("who may read shared bank %r cannot be told: %s", self.project_name, error)
            raise SharedAccessError(self.project_name, WHAT[Right.READ]) from None
        try:
            self.check(view, Right.READ)
        except SharedAccessError:
            self._was_let_in = False
            raise
        self._was_let_in = True
        return view

    def _opened_embedder(self) -> Embedder:
        # What the project looks with finds what is written here.
        return self.own.embedder

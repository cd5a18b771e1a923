"""What all pages of one dashboard share."""

from __future__ import annotations

import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from reasoningbank import BankRoot, ProjectNotFoundError, ReasoningBank
from reasoningbank.dashboard.access import Access
from reasoningbank.dashboard.addresses import shared_of
from reasoningbank.dashboard.tasks import Tasks
from reasoningbank.errors import InvalidInputError, ProjectDeletedError

_NOTICES = 200


@dataclass(frozen=True, slots=True)
class Undo:
    """A button that takes back what was just done: where it goes to, and what it says."""

    address: str
    fields: Mapping[str, str] = field(default_factory=dict)
    label: str = "Undo"


@dataclass(frozen=True, slots=True)
class Notice:
    """What an action did, in a sentence; shown once, on the page that follows."""

    text: str
    undo: Undo | None = None
    is_problem: bool = False


class Site:
    """One dashboard: the projects of one tenant.

    Args:
        banks: the tenant's projects.
        access: who may come in.
        home: the project that the dashboard opens with; the overview of all of them when None.
    """

    def __init__(self, banks: BankRoot, access: Access, home: str | None = None) -> None:
        self.banks: Final = banks
        self.access: Final = access
        self.home: Final = home
        self.tasks: Final = Tasks()
        self._notices: OrderedDict[str, Notice] = OrderedDict()
        self._lock = threading.Lock()
        self._shared: dict[str, ReasoningBank] = {}

    def bank(self, project: str) -> ReasoningBank:
        """Return the bank of a project, or a shared one; ProjectNotFoundError where there is none. Nothing is made."""
        if (name := shared_of(project)) is not None:
            return self._shared_bank(name)
        bank = self.banks.open(project) if project else None
        if bank is None or not bank.exists:
            raise ProjectNotFoundError(project, self.banks.tenant, "the overview lists those there are")
        return bank

    def _shared_bank(self, name: str) -> ReasoningBank:
        """Return a shared bank as whoever looks after the tenant sees it; it stays open for the next request."""
        with self._lock:
            bank = self._shared.get(name)
            if bank is not None and _is_deleted(bank):
                # It may have been declared anew.
                self._shared.pop(name).close()
                bank = None
            if bank is None:
                bank = self._shared[name] = self.banks.shared.open(name)
            return bank

    def close(self) -> None:
        """Close the shared banks that were looked at."""
        with self._lock:
            while self._shared:
                self._shared.popitem()[1].close()

    def leave(self, notice: Notice) -> str:
        """Keep a notice for the next page, and return the key that fetches it."""
        key = secrets.token_hex(8)
        with self._lock:
            self._notices[key] = notice
            while len(self._notices) > _NOTICES:
                self._notices.popitem(last=False)
        return key

    def take(self, key: str) -> Notice | None:
        """Return the notice that was left under a key, once."""
        with self._lock:
            return self._notices.pop(key, None)


def _is_deleted(bank: ReasoningBank) -> bool:
    try:
        bank.sources.list()
    except ProjectDeletedError:
        return True
    return False


@dataclass(frozen=True)
class Asked:
    """One request, as the pages see it.

    Attributes:
        project: "" for what is about all of the tenant's projects.
        parts: the named segments of the path.
        query, form: fields by name; of several of one name the last.
    """

    site: Site
    project: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def bank(self) -> ReasoningBank:
        """The project's bank; ProjectNotFoundError where there is none."""
        return self.site.bank(self.project)

    def number(self, name: str, otherwise: float | None = None) -> float | None:
        """Return a field of the query as a number, `otherwise` where it is empty.

        InvalidInputError for what is no number.
        """
        given = self.query.get(name, "").strip()
        if not given:
            return otherwise
        with suppress(ValueError):
            if math.isfinite(found := float(given)):
                return found
        raise InvalidInputError(f"{name} {given!r:.80} is no number: leave it out, or give one such as 0.5")


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: a template, and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """An answer: go on there, and show what was done."""

    address: str
    notice: Notice | None = None


@dataclass(frozen=True, slots=True)
class Json:
    """An answer for programs."""

    value: Any
    status: int = 200


Answer = Page | Moved | Json

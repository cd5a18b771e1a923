"""Whose memories a server serves: one project, or some of one tenant. No client can widen it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.errors import InvalidInputError


class Projects(Protocol):
    """Which projects a server serves. None of them can be widened by a client."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def bank(self, name: str, /) -> ReasoningBank: ...


@dataclass(frozen=True, slots=True)
class OneProject:
    """A server bound to one project: no argument names it."""

    only: ReasoningBank

    @property
    def names(self) -> tuple[str, ...]:
        """The project."""
        return (self.only.project,)

    def bank(self, _name: str, /) -> ReasoningBank:
        """Return the bank."""
        return self.only


@dataclass(frozen=True, slots=True)
class ManyProjects:
    """A server for some projects of its one tenant: `project_id` names one of them in each call.

    Attributes:
        shared: the shared banks that are looked through with each of them.
    """

    banks: BankRoot
    names: tuple[str, ...]
    shared: tuple[str, ...] = ()

    def bank(self, name: str, /) -> ReasoningBank:
        """Return the bank of one of the projects."""
        return self.banks.open(name, shared=self.shared)


def is_one(projects: Projects) -> bool:
    """Tell whether a server is bound to one project, so that nothing names it."""
    return isinstance(projects, OneProject)


def taken_out(projects: Projects, arguments: dict[str, Any]) -> str:
    """Take the project out of the arguments of a call, where it has to name one, and return it.

    InvalidInputError where it names none that is served, or one where it may not.
    """
    names = projects.names
    if is_one(projects):
        if "project_id" in arguments:
            raise InvalidInputError(f"this server is bound to project {names[0]!r}: leave project_id out")
        return names[0]
    given = arguments.pop("project_id", None)
    if given not in names:
        hint = nearest(given, names) if isinstance(given, str) else ""
        raise InvalidInputError(f"project_id {given!r} is not served here{hint}; give one of {', '.join(names)}")
    return str(given)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return words that name the nearest of what is known, "" where nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean {near[0]!r}?" if near else ""

"""What the calls about shared banks return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from reasoningbank.memory import Memory
from reasoningbank.sharing.rights import Right
from reasoningbank.sharing.specific import Specific


@dataclass(frozen=True, slots=True)
class Member:
    """Who may do what in a shared bank.

    Attributes:
        kind: a project of the tenant, or a person, by the name that a handle was opened with.
    """

    kind: Literal["project", "person"]
    name: str
    may: Right


@dataclass(frozen=True, slots=True)
class SharedBankFacts:
    """A shared bank of a tenant.

    Attributes:
        members: who may do what, sorted by kind and name.
        memories: how many lessons are in each state.
        auto: suggestions are carried out unasked (`shared.promote_suggested`).
    """

    name: str
    members: tuple[Member, ...] = ()
    memories: dict[str, int] = field(default_factory=dict)
    auto: bool = False


@dataclass(frozen=True, slots=True)
class Promoted:
    """What became of a promotion.

    Attributes:
        bank: the shared bank.
        memory: the lesson there; None where nothing was stored, since it names what is specific to the project.
        created: whether it is new there; else one that says the same was there, and is linked now.
        waits: it waits for a review, and is not served yet.
        specific: what of it is specific to the project.
        proposed: wording without that, by a model: fields of the lesson by name; empty without a model.
    """

    bank: str
    memory: Memory | None = None
    created: bool = False
    waits: bool = False
    specific: tuple[Specific, ...] = ()
    proposed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A lesson that is worth sharing, and why. Nothing is done by making one.

    Attributes:
        bank: the shared bank that it is proposed for.
        origins: the lessons that say it, as (project, memory id), the one to promote first.
        title: of that one.
        confidence: what is believed with the evidence of all, by the formula of shared lessons (`belief/pooled.py`).
        successes, failures: the evidence of all of them, each piece counted once.
        reason: in words.
    """

    bank: str
    origins: tuple[tuple[str, str], ...]
    title: str
    confidence: float
    successes: float
    failures: float
    reason: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A shared lesson and the lesson of this project that it came from.

    Attributes:
        memory: id of the shared one.
        origin: id of the project's.
        state: "same", "origin changed", "copy changed", "both changed", "origin deleted": what became of them since
            they were compared last.
    """

    bank: str
    memory: str
    origin: str
    state: str

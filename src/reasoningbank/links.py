"""Links between memories: their types, what makes one likely, and what they mean for a recall."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import DESCRIPTION_LIMIT, clean_text, is_blank, within
from reasoningbank.signals import parse_time, time_text
from reasoningbank.verdict import Verdict

__all__ = ["Conflict", "Link", "Linked", "SuggestedLink"]

TYPES = (
    "causes",
    "requires",
    "conflicts",
    "enhances",
    "alternative",
    "duplicate_of",
    "contradicts",
    "refines",
    "architectural_analogy",
    "supersedes",
)
"""The known types; any other is taken too, with a warning."""

SUPERSEDES = "supersedes"
"""The type of a link from a memory to the one whose place it took."""

SYMMETRIC = frozenset({"conflicts", "alternative", "contradicts", "architectural_analogy"})
"""Types that say the same read from either end."""

OPPOSED = ("conflicts", "contradicts")
"""Types of two memories that cannot both be followed."""

TYPE_LIMIT = 64
DEEPEST = 3
MOST_REQUIRED = 5

# Above these cosines, strictly, two memories are about the same thing, or say the same.
NEAR, SAME, OPPOSITE = 0.75, 0.92, 0.85
# Two memories are used together when they share so many runs, and at least this part of all runs of either.
SHARED_RUNS, SHARED_PART = 3, 0.5


@dataclass(frozen=True, slots=True)
class Link:
    """How one memory relates to another of the same project.

    Attributes:
        source, target: ids; "source type target" reads as a sentence, as in "a requires b".
        strength: in (0, 1].
        evidence: why, in words.
        by: who says so.
    """

    source: str
    target: str
    type: str
    strength: float
    evidence: str
    by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SuggestedLink:
    """A link that the bank's evidence speaks for: give its fields to `link` to set it.

    Attributes:
        strength: in (0, 1]: the similarity, or the part of the runs that the two share.
        evidence: what speaks for it, in words.
    """

    source: str
    target: str
    type: str
    strength: float
    evidence: str


@dataclass(frozen=True, slots=True)
class Linked:
    """What became of a link that was to be set.

    Attributes:
        created: False when it was there already; its strength, evidence and judge are then the new ones.
        warning: what is odd about it, in words; empty when nothing is.
    """

    link: Link
    created: bool
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories of one recall that cannot both be followed.

    Attributes:
        one, other: their ids.
        type: conflicts or contradicts.
    """

    one: str
    other: str
    type: str
    strength: float
    evidence: str


# -- what is given: each raises InvalidInputError for what is not allowed ------------------------------------------


def checked_type(given: object) -> tuple[str, str]:
    """Return a link's type as it is stored, and a warning when it is none of the known ones."""
    if not isinstance(given, str) or is_blank(given):
        raise InvalidInputError(f"link type {given!r} is no name: use one of {', '.join(TYPES)}")
    name = re.sub(r"[\s\-]+", "_", clean_text(given).strip().lower())
    if within("link type", name, TYPE_LIMIT) in TYPES:
        return name, ""
    near = difflib.get_close_matches(name, TYPES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(TYPES)}"
    return name, f"link type {name!r} is not a known one ({hint}); it was taken, and recall makes nothing of it"


def checked_strength(given: object) -> float:
    """Return a link's strength: a number above 0, up to 1."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0.0 < given <= 1.0:
        raise InvalidInputError(f"strength {given!r} is not a number above 0 and up to 1")
    return float(given)


def checked_evidence(given: object) -> str:
    """Return a link's evidence: a text, no longer than a description may be."""
    if not isinstance(given, str):
        raise InvalidInputError(f"evidence {given!r:.80} is no text: say in words why the memories are linked")
    return clean_text(within("evidence", given, DESCRIPTION_LIMIT)).strip()


# -- suggestions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CoUse:
    """In how many runs two memories were handed out: `together`, of these judged so or so, and `either` of them."""

    together: int
    succeeded: int
    failed: int
    either: int


def by_co_use(one: str, other: str, runs: CoUse) -> SuggestedLink | None:
    """Return the link that shared runs speak for: they enhance each other, or conflict when most shared runs failed.

    None where they share fewer than 3 runs or less than half of all runs of either, or where nothing was judged.
    """
    part = runs.together / runs.either
    judged = runs.succeeded + runs.failed
    if runs.together < SHARED_RUNS or part < SHARED_PART or judged < SHARED_RUNS:
        return None
    kind = "enhances" if runs.succeeded * 2 > judged else "conflicts"
    evidence = f"handed out together in {runs.together} of {runs.either} runs; {runs.succeeded} of {judged} succeeded"
    return SuggestedLink(one, other, kind, round(part, 4), evidence)


def by_similarity(one: str, other: str, outcomes: tuple[Verdict, Verdict], cosine: float) -> SuggestedLink | None:
    """Return the link that a cosine speaks for, strictly above each limit.

    Of one outcome: duplicate_of above 0.92, alternative above 0.75. Of two: contradicts above 0.85.
    """
    alike = outcomes[0] is outcomes[1]
    limits = (("duplicate_of", SAME), ("alternative", NEAR)) if alike else (("contradicts", OPPOSITE),)
    kind = next((kind for kind, limit in limits if cosine > limit), None)
    if kind is None:
        return None
    lessons = f"two lessons from a {outcomes[0].value} each" if alike else "lessons from a success and a failure"
    return SuggestedLink(one, other, kind, round(min(cosine, 1.0), 4), f"{lessons} with a similarity of {cosine:.2f}")


# -- recall --------------------------------------------------------------------------------------------------------

Requires = Mapping[int, Sequence[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Required:
    """A memory that comes along because one that is handed out requires it, both by row number.

    The strength is that of the link, times those on the way to it.
    """

    n: int
    by: int
    strength: float


def required_by(hits: Sequence[int], requires: Callable[[Sequence[int]], Requires]) -> list[Required]:
    """Return what memories require, and what that requires, up to 3 links away and 5 memories in all.

    The nearest come first, then the strongest, then the oldest. A circle ends where it began. `hits` are row numbers of
    what is handed out already; `requires` returns, for row numbers, the (row number, strength) of what each requires.
    """
    strength = dict.fromkeys(hits, 1.0)
    found: list[Required] = []
    edge: Sequence[int] = hits
    for _ in range(DEEPEST):
        links = requires(edge)
        best: dict[int, Required] = {}
        for by in edge:
            for n, weight in links.get(by, ()):
                candidate = Required(n, by, strength[by] * weight)
                if n not in strength and (n not in best or candidate.strength > best[n].strength):
                    best[n] = candidate
        nearest = sorted(best.values(), key=lambda r: (-r.strength, r.n))
        found += nearest
        strength |= {r.n: r.strength for r in nearest}
        edge = [r.n for r in nearest]
    return found[:MOST_REQUIRED]


# -- the exchange format -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExportedLink:
    """A link as the line of its source memory holds it."""

    target: str
    type: str
    strength: float
    evidence: str
    by: str
    created_at: datetime | None


def as_field(links: Iterable[Link]) -> dict[str, Any]:
    """Return links as the line of their source holds them; nothing where there are none."""
    objects = [asdict(link) | {"created_at": time_text(link.created_at)} for link in links]
    kept = [{name: value for name, value in each.items() if name != "source"} for each in objects]
    return {"links": kept} if kept else {}


def from_object(given: Mapping[str, Any]) -> ExportedLink:
    """Read a link of a line, with the checks of one that is set."""
    target, created = given.get("target"), given.get("created_at")
    if not isinstance(target, str) or is_blank(target):
        raise InvalidInputError(f"link to {target!r}, which is no id")
    try:
        at = None if created is None else parse_time(created)
    except (TypeError, ValueError):
        raise InvalidInputError(f"link of {created!r}, which is not an ISO 8601 time") from None
    return ExportedLink(
        target=clean_text(target),
        type=checked_type(given.get("type"))[0],
        strength=checked_strength(given.get("strength", 1.0)),
        evidence=checked_evidence(given.get("evidence", "")),
        by=clean_text(str(given.get("by", ""))),
        created_at=at,
    )

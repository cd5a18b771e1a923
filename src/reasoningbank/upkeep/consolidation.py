"""Consolidation: which memories say the same, which one's text is kept, and what is believed of the merged one.

Pure: it decides, and changes nothing. What was tried and what it gave: docs/benchmarks/merging.md.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from reasoningbank.identity import counted_blanks
from reasoningbank.memory import CONFIDENCE_IMPORTED, Source
from reasoningbank.results import Change
from reasoningbank.upkeep.certainty import beyond_doubt
from reasoningbank.upkeep.likeness import Wording, differences, hang_on_signs, likeness, swapped
from reasoningbank.verdict import Verdict

# What agreeing sources add to the confidence of what they are merged into, at most.
AGREEMENT_BONUS: Final = 0.1
FULL_DISAGREEMENT: Final = 0.5
FULL_AGREEMENT_OF: Final = 10


@dataclass(frozen=True, slots=True)
class Lesson:
    """What consolidation knows of one memory.

    Attributes:
        wording: of all that it says: title, description, content.
        applies: of when it applies; None when it does not say.
        confidence: the present belief that it helps.
        uses: how often it was handed out.
        made: when it was recorded.
        text: title, description and content as they stand.
        when: when it applies, as it stands; "" when it does not say.
    """

    id: str
    outcome: Verdict
    source: Source
    wording: Wording
    applies: Wording | None
    confidence: float
    uses: int
    made: datetime
    text: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two lessons that are near to each other, by their places in a list, the smaller first, and their cosine."""

    first: int
    second: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Proposals:
    """What consolidation proposes, each in a fixed order.

    Attributes:
        merges: of lessons that say the same beyond doubt.
        asked: merges of lessons that say the same as far as words tell: for somebody to agree to.
        links: between lessons that speak against each other.
    """

    merges: tuple[Change, ...]
    asked: tuple[Change, ...]
    links: tuple[Change, ...]


def proposals(lessons: Sequence[Lesson], pairs: Iterable[Pair], max_clusters: int | None = None) -> Proposals:
    """Return what to merge, at most `max_clusters` groups, what to ask about, and what to link.

    The pairs are those above the threshold, in any order; pairs that are not given are not near. A lesson is in one
    group: what is merged beyond doubt is compared with the rest the next time.
    """
    near = [(pair, lessons[pair.first], lessons[pair.second]) for pair in pairs]
    sure = [pair for pair, one, other in near if surely_the_same(one, other)]
    clusters = complete_link(sure, lessons)[:max_clusters]
    taken = {i for cluster in clusters for i in cluster}
    left = [(pair, one, other) for pair, one, other in near if taken.isdisjoint((pair.first, pair.second))]
    alike = [pair for pair, one, other in left if say_the_same(one, other)]
    doubted = complete_link(alike, lessons)[: None if max_clusters is None else max_clusters - len(clusters)]
    links = (_contradiction(pair, lessons) for pair, one, other in near if contradict(one, other))
    return Proposals(
        tuple(_merge(cluster, lessons, sure) for cluster in clusters),
        tuple(_merge(cluster, lessons, alike) for cluster in doubted),
        tuple(sorted(links, key=lambda change: change.memories)),
    )


def may_merge(one: Lesson, other: Lesson) -> bool:
    """Tell whether two lessons may become one, if they say the same.

    Never a success with a failure, nor an untrusted lesson with another's.
    """
    return (
        one.outcome is other.outcome
        and one.source.trusted is other.source.trusted
        and (one.source.trusted or one.source.by == other.source.by)
    )


def surely_the_same(one: Lesson, other: Lesson) -> bool:
    """Tell whether two lessons may be merged unasked."""
    return (
        may_merge(one, other)
        and beyond_doubt(one.text, other.text)
        and beyond_doubt(one.when, other.when)
        and counted_blanks(one.text) == counted_blanks(other.text)
    )


def say_the_same(one: Lesson, other: Lesson) -> bool:
    """Tell whether two near lessons may be merged when somebody agrees."""
    return surely_the_same(one, other) or (
        may_merge(one, other)
        and differences(one.wording, other.wording).none
        and not hang_on_signs(one.text, other.text)
        and not swapped(one.text, other.text)
        and counted_blanks(one.text) == counted_blanks(other.text)
        and (one.applies is None or other.applies is None or differences(one.applies, other.applies).none)
    )


def contradict(one: Lesson, other: Lesson) -> bool:
    """Tell whether two near lessons speak against each other.

    Either one of a success and one of a failure say the same, or two of the same outcome say opposite things.
    """
    apart = differences(one.wording, other.wording)
    return apart.none if one.outcome is not other.outcome else apart.opposed


def complete_link(pairs: Iterable[Pair], lessons: Sequence[Lesson]) -> list[tuple[int, ...]]:
    """Return groups of two and more lessons of which every two are a pair, the surest groups first.

    Groups grow by their likest pair, so a chain of lessons that each resemble the next is not one group.
    """

    def surest(pair: Pair) -> tuple[float, int, int]:
        alike = likeness(pair.cosine, lessons[pair.first].wording, lessons[pair.second].wording)
        return -alike, pair.first, pair.second

    linked = {(pair.first, pair.second): pair for pair in pairs}
    group_of: dict[int, tuple[int, ...]] = {}
    for pair in sorted(linked.values(), key=surest):
        one, other = group_of.get(pair.first, (pair.first,)), group_of.get(pair.second, (pair.second,))
        if one is not other and all((min(a, b), max(a, b)) in linked for a in one for b in other):
            merged = tuple(sorted(one + other))
            group_of.update(dict.fromkeys(merged, merged))
    return list(dict.fromkeys(group_of.values()))


def _merge(cluster: Sequence[int], lessons: Sequence[Lesson], pairs: Sequence[Pair]) -> Change:
    ordered = tuple(lesson.id for lesson in sorted((lessons[i] for i in cluster), key=_keeps))
    least = min(pair.cosine for pair in pairs if {pair.first, pair.second} <= {*cluster})
    return Change("merge", ordered, f"{len(ordered)} memories say the same in other words", similarity=least)


def _keeps(lesson: Lesson) -> tuple[float, int, datetime, str]:
    """Sort by whose text is kept: the best believed, then the most used, then the oldest."""
    return -lesson.confidence, -lesson.uses, lesson.made, lesson.id


def _contradiction(pair: Pair, lessons: Sequence[Lesson]) -> Change:
    one, other = lessons[pair.first], lessons[pair.second]
    reason = "one says not what the other says"
    if one.outcome is not other.outcome:
        reason = "one was learned from a success and one from a failure, and they say the same"
    return Change("link", tuple(sorted((one.id, other.id))), reason, similarity=pair.cosine, link="contradicts")


def merged_confidence(sources: Sequence[tuple[float, int]]) -> float:
    """Return the belief that a memory merged from several starts from, in [0, 1].

    The mean of the sources, each weighing its uses and one more; plus a bonus of up to 0.1 for sources that agree
    (their plain population standard deviation, from 0 to 0.5) and are many (up to ten). One source keeps its own; none
    give 0.6. Each source is (confidence, uses).

    Source: contextd's consolidation.
    """
    if not sources:
        return CONFIDENCE_IMPORTED
    weight = math.fsum(uses + 1 for _, uses in sources)
    mean = math.fsum(confidence * (uses + 1) for confidence, uses in sources) / weight
    return min(max(mean + _agreement([confidence for confidence, _ in sources]), 0.0), 1.0)


def _agreement(confidences: Sequence[float]) -> float:
    if len(confidences) < 2:
        return 0.0
    agreeing = 1.0 - min(statistics.pstdev(confidences) / FULL_DISAGREEMENT, 1.0)
    return agreeing * min(len(confidences) / FULL_AGREEMENT_OF, 1.0) * AGREEMENT_BONUS

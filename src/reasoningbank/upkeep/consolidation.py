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

from reasoningbank.memory import CONFIDENCE_IMPORTED, Source
from reasoningbank.results import Change
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


@dataclass(frozen=True, slots=True)
class Pair:
    """Two lessons that are near to each other, by their places in a list, the smaller first, and their cosine."""

    first: int
    second: int
    cosine: float


def proposals(lessons: Sequence[Lesson], pairs: Iterable[Pair], max_clusters: int | None = None) -> list[Change]:
    """Return the merges, at most `max_clusters`, then the links between contradicting lessons, each in a fixed order.

    The pairs are those above the threshold, in any order; pairs that are not given are not near.
    """
    near = list(pairs)
    same = [pair for pair in near if say_the_same(lessons[pair.first], lessons[pair.second])]
    clusters = complete_link(same, lessons)[:max_clusters]
    cosines = {(pair.first, pair.second): pair.cosine for pair in same}
    merges = [_merge(cluster, lessons, cosines) for cluster in clusters]
    against = [pair for pair in near if contradict(lessons[pair.first], lessons[pair.second])]
    links = sorted((_contradiction(pair, lessons) for pair in against), key=lambda change: change.memories)
    return merges + links


def say_the_same(one: Lesson, other: Lesson) -> bool:
    """Tell whether two near lessons may be merged: never a success with a failure, nor an untrusted with another's."""
    return (
        one.outcome is other.outcome
        and one.source.trusted is other.source.trusted
        and (one.source.trusted or one.source.by == other.source.by)
        and differences(one.wording, other.wording).none
        and not hang_on_signs(one.text, other.text)
        and not swapped(one.text, other.text)
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


def _merge(cluster: Sequence[int], lessons: Sequence[Lesson], cosines: dict[tuple[int, int], float]) -> Change:
    ordered = tuple(lesson.id for lesson in sorted((lessons[i] for i in cluster), key=_keeps))
    least = min(cosines[a, b] for a in cluster for b in cluster if a < b)
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

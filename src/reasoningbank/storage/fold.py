"""Folding signals into evidence, tallies, validations and verdicts: a decision between what is known and what is put.

A fold is a function of the lines in their order: folding the kept segments again gives the same rows. What a
(memory, ref, kind) said is counted once: a repeat changes nothing and an opposite signal replaces the first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar

from reasoningbank.signals import Signal, SignalKind, day_number, time_text

# Weights are kept as whole millionths: sums are exact and do not depend on the order.
UNIT = 1_000_000

EXPLICIT, OUTCOME, USAGE = SignalKind.EXPLICIT.value, SignalKind.OUTCOME.value, SignalKind.USAGE.value

Item = TypeVar("Item")

Key = tuple[int, str, str]
"""(memory, ref, kind): what is counted once."""
Tally = tuple[int, str, int, str, str, int]
"""(memory, kind, day, source, judge, superseded): what contributions are summed by."""


class Folded(StrEnum):
    """What became of a signal."""

    COUNTED = "counted"
    REPEATED = "repeated"
    ORPHAN = "orphan"


class Contribution(NamedTuple):
    """What (memory, ref, kind) adds to the tallies; columns of `evidence`, in order."""

    memory: int
    ref: str
    kind: str
    polarity: int
    weight: int
    superseded: int
    day: int
    at: str
    source: str
    judge: str
    alone: int
    validates: str
    segment: int

    @property
    def key(self) -> Key:
        """What it is the contribution of."""
        return self.memory, self.ref, self.kind

    @property
    def tally(self) -> Tally:
        """The key of the tally it is counted in."""
        return self.memory, self.kind, self.day, self.source, self.judge, self.superseded


class Known(NamedTuple):
    """A memory that signals are about: its row number, the revision that evidence counts for, whether it was merged."""

    n: int
    revision: int
    merged: bool


@dataclass(slots=True)
class Facts:
    """What is known of the memories and runs that signals are about, before they are counted.

    Attributes:
        memories: by id; those that are gone are not among them.
        evidence: what counts now, by key.
        sealed: polarities of what was rolled up, by key.
        served: for each (memory, ref) of usage, whether it was rolled up.
        closed: the runs whose evidence was rolled up.
    """

    memories: dict[str, Known] = field(default_factory=dict)
    evidence: dict[Key, Contribution] = field(default_factory=dict)
    sealed: dict[Key, int] = field(default_factory=dict)
    served: dict[tuple[int, str], bool] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)

    def is_news(self, signal: Signal) -> bool:
        """Tell whether a signal would change what counts: what was rolled up can be neither repeated nor revised."""
        known = self.memories.get(signal.memory)
        if known is None or signal.ref in self.closed:
            return False
        key = (known.n, signal.ref, signal.kind.value)
        said = self.evidence.get(key)
        if key in self.sealed:
            return False
        # What is said of one memory alone is more than its share in what was said of the whole run.
        return said is None or said.polarity != signal.polarity or (signal.alone and not said.alone)


@dataclass(slots=True)
class Changes:
    """What a fold puts.

    Attributes:
        results: what became of each signal.
        evidence: new and replaced contributions.
        added: what is added to tallies that lose nothing: positive, negative and the latest time.
        anew: tallies that are to be summed anew from the evidence, since something was taken out of them.
        validations: how often each kind was confirmed and refuted, by segment.
        verdicts: the last outcome of each run, which says how its episode ended.
        told: row numbers of memories whose evidence changed.
        merged: those of them that count for what they were merged into.
    """

    results: list[Folded] = field(default_factory=list)
    evidence: dict[Key, Contribution] = field(default_factory=dict)
    added: dict[Tally, tuple[int, int, str]] = field(default_factory=dict)
    anew: dict[Tally, None] = field(default_factory=dict)
    validations: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)
    verdicts: dict[str, Signal] = field(default_factory=dict)
    told: list[int] = field(default_factory=list)
    merged: list[int] = field(default_factory=list)


def folded(facts: Facts, signals: Iterable[tuple[Signal, int]]) -> Changes:
    """Count signals in their order, each with the number of the segment it stands in.

    `facts`, about every memory and run that they name, is kept up to date with them.
    """
    changes = Changes()
    for signal, segment in signals:
        changes.results.append(_fold(facts, changes, signal, segment))
    return changes


def _fold(facts: Facts, changes: Changes, signal: Signal, segment: int) -> Folded:
    known = facts.memories.get(signal.memory)
    if known is None or known.revision != signal.revision:
        return Folded.ORPHAN
    new = _contribution(known.n, signal, segment)
    old = facts.evidence.get(new.key)
    if old is None and (already := _known_already(facts, new)) is not None:
        return already
    if signal.kind is SignalKind.OUTCOME and not signal.alone:
        changes.verdicts[signal.ref] = signal
    # What was judged for one memory alone stands, whatever is said of its whole run.
    if old is not None and (old.alone > new.alone or _say_the_same(old, new)):
        return Folded.REPEATED
    if new.kind == OUTCOME and _has_vote(facts, (new.memory, new.ref, EXPLICIT)):
        new = new._replace(superseded=1)
    _put(facts, changes, old, new)
    changes.told.append(known.n)
    if known.merged:
        changes.merged.append(known.n)
    return Folded.COUNTED


def _say_the_same(old: Contribution, new: Contribution) -> bool:
    return (old.polarity, old.weight, old.alone) == (new.polarity, new.weight, new.alone)


def _known_already(facts: Facts, new: Contribution) -> Folded | None:
    """Say what becomes of a signal whose evidence is not at hand; None when it is new."""
    if new.kind != USAGE:
        return Folded.REPEATED if new.key in facts.sealed else None
    served = facts.served.get((new.memory, new.ref))
    if served is None:
        # The recall that handed it out was never acknowledged.
        return Folded.ORPHAN
    return Folded.REPEATED if served else None


def _has_vote(facts: Facts, key: Key) -> bool:
    vote = facts.evidence.get(key)
    return bool(vote.polarity if vote is not None else facts.sealed.get(key))


def _put(facts: Facts, changes: Changes, old: Contribution | None, new: Contribution) -> None:
    facts.evidence[new.key] = changes.evidence[new.key] = new
    if old is None:
        _add(changes, new)
    else:
        changes.anew |= dict.fromkeys((old.tally, new.tally))
        add_validations(changes.validations, old, -1)
    add_validations(changes.validations, new, +1)
    if new.kind == EXPLICIT:
        _supersede_outcome(facts, changes, new)


def _supersede_outcome(facts: Facts, changes: Changes, vote: Contribution) -> None:
    # A vote about the same run says more directly what the shared outcome only hints at.
    outcome = facts.evidence.get((vote.memory, vote.ref, OUTCOME))
    superseded = int(vote.polarity != 0)
    if outcome is None or outcome.superseded == superseded:
        return
    now = outcome._replace(superseded=superseded)
    facts.evidence[now.key] = changes.evidence[now.key] = now
    changes.anew |= dict.fromkeys((outcome.tally, now.tally))


def _add(changes: Changes, new: Contribution) -> None:
    if new.polarity:
        positive, negative, last = changes.added.get(new.tally, (0, 0, ""))
        positive, negative = positive + new.weight * (new.polarity > 0), negative + new.weight * (new.polarity < 0)
        changes.added[new.tally] = positive, negative, max(last, new.at)


def add_validations(counts: dict[tuple[int, str], tuple[int, int]], vote: Contribution, sign: int) -> None:
    """Count (`sign` +1) or take back (-1) what a vote confirms or refutes."""
    if vote.kind != EXPLICIT or vote.polarity == 0:
        return
    for kind in json.loads(vote.validates):
        confirmed, refuted = counts.get((vote.segment, kind), (0, 0))
        counts[vote.segment, kind] = confirmed + sign * (vote.polarity > 0), refuted + sign * (vote.polarity < 0)


def _contribution(memory: int, signal: Signal, segment: int) -> Contribution:
    return Contribution(
        memory=memory,
        ref=signal.ref,
        kind=signal.kind.value,
        polarity=signal.polarity,
        weight=weight_of(signal),
        superseded=0,
        day=day_number(signal.at),
        at=time_text(signal.at),
        source=signal.source,
        judge=signal.by,
        alone=int(signal.alone),
        validates=json.dumps([kind.value for kind in signal.validates]),
        segment=segment,
    )


def weight_of(signal: Signal) -> int:
    """Return what a signal weighs, in millionths; nothing when it withdraws what was said before."""
    return max(1, round(signal.strength * UNIT)) if signal.polarity else 0


def say_the_same(one: Signal, other: Signal) -> bool:
    """Tell whether two signals of one (memory, ref, kind) contribute the same."""
    return weight_of(one) == weight_of(other) and replace(one, id="", reason="", strength=1.0) == replace(
        other, id="", reason="", strength=1.0
    )


def batches(items: Sequence[Item], size: int) -> Iterable[Sequence[Item]]:
    """Yield items in their order, some at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))

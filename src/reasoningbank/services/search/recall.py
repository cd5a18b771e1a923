"""Recall: a search, an episode, and one usage signal for each memory handed out."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from reasoningbank.belief.calibrated import Parameters
from reasoningbank.embed.base import Embedder
from reasoningbank.episode import Episode, Served
from reasoningbank.errors import DeadlineExceededError
from reasoningbank.links import Conflict
from reasoningbank.prompt.block import DOUBTFUL, FRAME, LessonBlock, render
from reasoningbank.results import HELD_OUT, OVER_BUDGET, WEAK, Hit, Recall, SearchResult
from reasoningbank.search.selection import success
from reasoningbank.services.deadline import Attempt
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.above import SPAN, Above
from reasoningbank.services.search.expand import among
from reasoningbank.services.search.retrieve import Wanted, find
from reasoningbank.services.view import Edit, View
from reasoningbank.signals import Signal, SignalKind, as_utc
from reasoningbank.storage import episodes, meta, trials

if TYPE_CHECKING:
    from reasoningbank.search.holdout import Holdout


def new_id() -> str:
    """Return a new unique id."""
    return str(uuid.uuid4())


def recall(
    engine: Engine,
    task: str,
    wanted: Wanted,
    *,
    ref: str | None,
    thread: str | None,
    max_tokens: int,
    deadline: datetime | None,
    expand_links: bool = False,
    holdout: Holdout | None = None,
    join: bool = False,
    levels: Above | None = None,
    attempt: Attempt | None = None,
) -> Recall:
    """Hand out the memories that fit a task, and open its episode.

    Args:
        expand_links: bring along what they require, and say which do not go together.
        holdout: what may be withheld from a new run for comparison.
        join: under a reference that is known, search all the same, and add what is new to its episode.
        levels: what is looked through beside the project.
        attempt: of a caller that may give it up; then, too, no episode is opened.
    """
    limit = _Limit(engine, deadline, attempt)

    def look(embedder: Embedder) -> Recall | Fitted:
        query = engine.queries.query(embedder, task)
        with engine.read() if levels is None else levels.read(embedder) as view:
            if ref is not None and not join and (known := _again(view, ref, max_tokens, expand_links)) is not None:
                return known if levels is None else levels.again(known, max_tokens)
            limit.check()
            found, numbers = find(view, query, wanted)
            found, numbers = (found, numbers) if levels is None else levels.named(found, numbers)
            opposed = () if levels is None else levels.opposed
            fitted = _plain(
                query.text, engine.cache.learned, found, numbers, max_tokens, weak=wanted.weak, opposed=opposed
            )
            if expand_links:
                from reasoningbank.services.search.brought import with_brought

                fitted = with_brought(view, fitted, wanted, max_tokens)
            if view.moment.pinned and engine.settings.pin_tokens:
                from reasoningbank.services.search.pins import with_pins

                fitted = with_pins(view, fitted, wanted, max_tokens)
            return fitted if levels is None else replace(fitted, hits=levels.placed(fitted.hits, fitted.numbers))

    fitted = engine.with_embedder(look)
    if isinstance(fitted, Recall):
        return fitted
    run = Run(ref or new_id(), thread, max_tokens, holdout, join)
    opened = _open(engine, fitted, run, limit, levels)
    if opened is None:
        # Another process opened it between our look and our lock.
        with engine.read() as view:
            known = _again(view, run.ref, max_tokens, expand_links) or Recall(ref=run.ref, task=fitted.task)
            return known if levels is None else levels.again(known, max_tokens)
    return _recall(opened, run.ref)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was found, and the block that as many of the hits as fit are in.

    Attributes:
        task: without secrets.
        learned: what the project taught about its evidence.
        hits: those found, each followed by what it requires.
        offered: those that the block was made of, of which all may not fit.
        numbers: the row numbers of the hits, by the memories' ids.
        required: ids of those in the block that came along.
        withheld: how many required memories were not brought along, by reason.
        held_out: how many were withheld for comparison.
        doubtful: the block says that most likely none of them is about the task.
        joined: the run was known, and was handed something before.
    """

    task: str
    learned: Parameters
    result: SearchResult
    hits: tuple[Hit, ...]
    offered: tuple[Hit, ...]
    numbers: dict[str, int]
    block: LessonBlock
    required: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)
    held_out: int = 0
    doubtful: bool = False
    joined: bool = False

    @property
    def handed_out(self) -> tuple[Hit, ...]:
        """The hits that are in the block."""
        included = set(self.block.included)
        return tuple(hit for hit in self.hits if hit.memory.id in included)


def _plain(
    task: str,
    learned: Parameters,
    found: SearchResult,
    numbers: Sequence[int],
    max_tokens: int,
    *,
    weak: str,
    opposed: Sequence[Conflict],
) -> Fitted:
    if found.weak and weak == "omit":
        found, numbers = replace(found, hits=(), withheld={**found.withheld, WEAK: len(found.hits)}), ()
    doubtful = found.weak and weak == "mark"
    places = {hit.memory.id: n for hit, n in zip(found.hits, numbers, strict=True)}
    shown = block_of(found.hits, max_tokens, opposed, doubtful=doubtful)
    conflicting = tuple(opposed)
    return Fitted(task, learned, found, found.hits, found.hits, places, shown, conflicts=conflicting, doubtful=doubtful)


def _withheld(fitted: Fitted, handed_out: int) -> dict[str, int]:
    withheld = Counter(fitted.result.withheld) + Counter(fitted.withheld)
    if over := len(fitted.hits) - handed_out:
        withheld[OVER_BUDGET] = over
    if fitted.held_out:
        withheld[HELD_OUT] = fitted.held_out
    return dict(withheld)


def _recall(fitted: Fitted, ref: str) -> Recall:
    handed_out = fitted.handed_out
    result, included = fitted.result, {hit.memory.id for hit in handed_out}
    return Recall(
        ref=ref,
        task=fitted.task,
        hits=handed_out,
        text=fitted.block.text,
        tokens=fitted.block.tokens,
        withheld=_withheld(fitted, len(handed_out)),
        weak=result.weak,
        degraded=result.degraded,
        repeated=fitted.joined,
        shortened=fitted.block.shortened,
        required=fitted.required,
        conflicts=among(fitted.conflicts, included) if fitted.conflicts else (),
        expected_success=success(fitted.learned, [h.confidence for h in handed_out], [h.about for h in handed_out]),
        expected_without=fitted.learned.unhelped,
        held_out=fitted.held_out > 0,
    )


@dataclass(frozen=True, slots=True)
class _Limit:
    """Until when a recall is of use to whoever asked."""

    engine: Engine
    deadline: datetime | None
    attempt: Attempt | None

    def check(self, *, keep: bool = False) -> None:
        """Raise DeadlineExceededError when it is of no use any more.

        Args:
            keep: its episode is being opened, so that nobody gives it up any more.
        """
        if self.attempt is not None:
            self.attempt.keep() if keep else self.attempt.check()
        if self.deadline is not None and self.engine.now() > as_utc(self.deadline):
            late = self.deadline.isoformat()
            raise DeadlineExceededError(f"the recall came after its deadline {late}; no episode was opened")


@dataclass(frozen=True, slots=True)
class Run:
    """The run that something is handed out in, and how."""

    ref: str
    thread: str | None
    max_tokens: int
    holdout: Holdout | None
    join: bool


def _open(engine: Engine, fitted: Fitted, run: Run, limit: _Limit, levels: Above | None) -> Fitted | None:
    """Open the episode, and count a usage for each memory that is handed out; None when there is one already.

    One that is to be joined is told what is new in it. What is handed out comes back: all that was found, or what a
    hold-out leaves of it.
    """
    late = engine.deadlines.late
    with engine.write() as edit:
        limit.check(keep=True)
        now = engine.now()
        known = episodes.load_episode(edit, run.ref) if run.join or run.holdout is not None else None
        if known is not None:
            if not run.join:
                return None
            run, fitted = replace(run, thread=known.thread), replace(fitted, joined=True)
        # What comes later in a run, or in a thread, stays in its arm.
        if run.holdout is not None or known is not None or (run.thread and trials.drawn(edit, run.thread)):
            from reasoningbank.services.search.holdout import without_held_out

            fitted = without_held_out(edit, fitted, run)
        served = _serve(edit, fitted, run, known, now)
        if served is None:
            return None
        if levels is not None:
            levels.note(edit, run.ref, {fitted.numbers[hit.memory.id]: hit for hit in fitted.handed_out})
        before = edit.moment
        # What was deleted meanwhile counts for nothing.
        edit.write_signals([usage(s, run.ref, run.thread, now) for _, s in served], now)
        newest = edit.newest_change
        if late:
            meta.count_late(edit, late, now)
    if late:
        engine.deadlines.noted(late)
    engine.cache.used(before, newest, [n for n, _ in served], now)
    return fitted


def _serve(
    edit: Edit, fitted: Fitted, run: Run, known: Episode | None, now: datetime
) -> list[tuple[int, Served]] | None:
    """Store what is handed out in a run and was not before; return it with its row numbers.

    None comes back, and nothing is stored, when there is an episode that nobody knew of.
    """
    before = () if known is None else known.memories
    first, there = max((s.position for s in before), default=-1) + 1, {s.memory for s in before}
    new = [hit for hit in fitted.handed_out if hit.memory.id not in there and fitted.numbers[hit.memory.id] < SPAN]
    served = [(fitted.numbers[hit.memory.id], as_served(hit, place)) for place, hit in enumerate(new, first)]
    tokens, doubtful = fitted.block.tokens, fitted.doubtful
    if known is None:
        about: dict[str, Any] = {"ref": run.ref, "task": fitted.task, "thread": run.thread}
        if run.thread is not None:
            now = episodes.opening_time(edit, run.thread, now, edit.engine.episode_ttl)
        is_new = episodes.open_episode(edit, **about, served=served, tokens=tokens, now=now, doubtful=doubtful)
        return served if is_new else None
    if episodes.is_sealed(edit, run.ref):
        return []  # its evidence is rolled up, and cannot be added to
    episodes.serve_more(edit, run.ref, served, tokens, doubtful=doubtful and bool(served))
    return served


def as_served(hit: Hit, position: int, step: int = 0) -> Served:
    """Return a hit as it is handed out in this place, before the task or at a failure of the run."""
    return Served(
        memory=hit.memory.id,
        position=position,
        revision=hit.memory.revision,
        confidence=hit.confidence,
        deviation=hit.deviation,
        provisional=hit.provisional,
        similarity=hit.similarity,
        keyword=hit.keyword,
        score=hit.score,
        about=hit.about,
        step=step,
        pinned=hit.pinned,
    )


def usage(served: Served, ref: str, thread: str | None, now: datetime, *, polarity: int = 1) -> Signal:
    """Return the signal that says that a memory was handed out, or with polarity 0 that it was not used after all."""
    return Signal(
        id=new_id(),
        at=now,
        memory=served.memory,
        revision=served.revision,
        kind=SignalKind.USAGE,
        polarity=polarity,
        ref=ref,
        source=thread or "",
    )


def _again(view: View, ref: str, max_tokens: int, expand_links: bool) -> Recall | None:
    from reasoningbank.services.search.again import again

    return again(view, ref, max_tokens, expand_links)


def as_found(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return what was handed out in the order it was found, where pins stand before it."""
    return sorted(hits, key=lambda hit: -hit.score) if any(hit.pinned for hit in hits) else hits


def block_of(
    hits: Sequence[Hit], max_tokens: int, opposed: Sequence[Conflict] = (), pin_tokens: int = 0, *, doubtful: bool
) -> LessonBlock:
    """Show hits in their order, before them those that are pinned, of which only those found have a score."""
    unproven = [hit.memory.id for hit in hits if hit.provisional]
    pairs = [(conflict.one, conflict.other) for conflict in opposed]
    pinned = sorted((hit for hit in hits if hit.pinned), key=lambda hit: -hit.confidence)
    return render(
        [hit.memory for hit in hits if hit.score or not hit.pinned],
        max_tokens=max_tokens,
        provisional=unproven,
        conflicts=pairs,
        pinned=[hit.memory for hit in pinned],
        pin_tokens=pin_tokens,
        frame=DOUBTFUL if doubtful else FRAME,
    )

"""Recall: a search, an episode, and one usage signal for each memory handed out."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from reasoningbank.belief.calibrated import Parameters
from reasoningbank.embed.base import Embedder
from reasoningbank.episode import Served
from reasoningbank.errors import DeadlineExceededError
from reasoningbank.links import Conflict
from reasoningbank.memory import Memory
from reasoningbank.prompt.block import DOUBTFUL, FRAME, LessonBlock, render
from reasoningbank.results import EXPIRED, HELD_OUT, OVER_BUDGET, WEAK, Hit, Recall, SearchResult
from reasoningbank.search.selection import success
from reasoningbank.services.deadline import Attempt
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.expand import among, conflicts, with_required
from reasoningbank.services.search.retrieve import Wanted, find
from reasoningbank.services.view import Edit, View
from reasoningbank.signals import Signal, SignalKind, as_utc
from reasoningbank.storage import episodes, meta, records

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
    attempt: Attempt | None = None,
) -> Recall:
    """Hand out the memories that fit a task, and open its episode.

    Args:
        expand_links: bring along what they require, and say which do not go together.
        holdout: what may be withheld from a new run for comparison.
        attempt: of a caller that may give it up; then, too, no episode is opened.
    """
    limit = _Limit(engine, deadline, attempt)

    def look(embedder: Embedder) -> Recall | _Fitted:
        query = engine.queries.query(embedder, task)
        with engine.read() as view:
            if ref is not None and (known := again(view, ref, max_tokens, expand_links)) is not None:
                return known
            limit.check()
            found, numbers = find(view, query, wanted)
            plain = _plain(query.text, engine.cache.learned, found, numbers, max_tokens, wanted.weak)
            return _fitted(view, plain, wanted, max_tokens) if expand_links else plain

    fitted = engine.with_embedder(look)
    if isinstance(fitted, Recall):
        return fitted
    named = ref or new_id()
    opened = _open(engine, fitted, ref=named, thread=thread, limit=limit, holdout=holdout, max_tokens=max_tokens)
    if opened is None:
        # Another process opened it between our look and our lock.
        with engine.read() as view:
            return again(view, named, max_tokens, expand_links) or Recall(ref=named, task=fitted.task)
    return _recall(opened, named)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What was found, and the block that as many of the hits as fit are in.

    Attributes:
        task: without secrets.
        learned: what the project taught about its evidence.
        hits: those found, each followed by what it requires.
        numbers: the row numbers of the hits, by the memories' ids.
        required: ids of those in the block that came along.
        withheld: how many required memories were not brought along, by reason.
        held_out: how many were withheld for comparison.
        doubtful: the block says that most likely none of them is about the task.
    """

    task: str
    learned: Parameters
    result: SearchResult
    hits: tuple[Hit, ...]
    numbers: dict[str, int]
    block: LessonBlock
    required: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)
    held_out: int = 0
    doubtful: bool = False

    @property
    def handed_out(self) -> tuple[Hit, ...]:
        """The hits that are in the block."""
        included = set(self.block.included)
        return tuple(hit for hit in self.hits if hit.memory.id in included)


def _plain(
    task: str, learned: Parameters, found: SearchResult, numbers: Sequence[int], max_tokens: int, weak: str
) -> _Fitted:
    if found.weak and weak == "omit":
        found, numbers = replace(found, hits=(), withheld={**found.withheld, WEAK: len(found.hits)}), ()
    doubtful = found.weak and weak == "mark"
    places = {hit.memory.id: n for hit, n in zip(found.hits, numbers, strict=True)}
    block = _block(found.hits, max_tokens, doubtful=doubtful)
    return _Fitted(task, learned, found, found.hits, places, block, doubtful=doubtful)


def _fitted(view: View, plain: _Fitted, wanted: Wanted, max_tokens: int) -> _Fitted:
    """Bring along what the hits that fit require, as far as it takes no room from them."""
    alone = plain.block.included
    shown = {hit.memory.id: hit for hit in plain.hits if hit.memory.id in alone}
    numbers = {memory_id: plain.numbers[memory_id] for memory_id in shown}
    brought = with_required(view, shown, numbers, floor=wanted.floor, strict=wanted.strict)
    opposed = conflicts(view, list(brought.numbers.values()))
    count = len(brought.required)
    while True:
        kept = tuple(hit for hit in brought.hits if hit.memory.id not in brought.required[count:])
        block = _block(kept, max_tokens, opposed, doubtful=plain.doubtful)
        if not count or set(alone) <= set(block.included):
            break
        count -= 1
    every = brought.hits + tuple(hit for hit in plain.hits if hit.memory.id not in alone)
    in_block = tuple(memory_id for memory_id in brought.required[:count] if memory_id in block.included)
    return replace(
        plain,
        hits=every,
        numbers=plain.numbers | brought.numbers,
        block=block,
        required=in_block,
        conflicts=opposed,
        withheld=brought.withheld,
    )


def _withheld(fitted: _Fitted, handed_out: int) -> dict[str, int]:
    withheld = Counter(fitted.result.withheld) + Counter(fitted.withheld)
    if over := len(fitted.hits) - handed_out:
        withheld[OVER_BUDGET] = over
    if fitted.held_out:
        withheld[HELD_OUT] = fitted.held_out
    return dict(withheld)


def _recall(fitted: _Fitted, ref: str) -> Recall:
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


def _open(
    engine: Engine,
    fitted: _Fitted,
    *,
    ref: str,
    thread: str | None,
    limit: _Limit,
    holdout: Holdout | None,
    max_tokens: int,
) -> _Fitted | None:
    """Open the episode, and count a usage for each memory that is handed out; None when there is one already.

    What is handed out comes back: all that was found, or what a hold-out leaves of it.
    """
    late = engine.deadlines.late
    with engine.write() as edit:
        limit.check(keep=True)
        now = engine.now()
        if holdout is not None and not episodes.exists(edit, ref):
            fitted = _held_out(edit, fitted, holdout, ref=ref, thread=thread, max_tokens=max_tokens)
        served = [(fitted.numbers[hit.memory.id], as_served(hit, place)) for place, hit in enumerate(fitted.handed_out)]
        tokens = fitted.block.tokens
        doubtful = fitted.doubtful
        if not episodes.open_episode(
            edit, ref=ref, task=fitted.task, thread=thread, served=served, tokens=tokens, now=now, doubtful=doubtful
        ):
            return None
        before = edit.moment
        # What was deleted meanwhile counts for nothing.
        edit.write_signals([usage(s, ref, thread, now) for _, s in served], now)
        newest = edit.newest_change
        if late:
            meta.count_late(edit, late, now)
    if late:
        engine.deadlines.noted(late)
    engine.cache.used(before, newest, [n for n, _ in served], now)
    return fitted


def _held_out(
    edit: Edit, fitted: _Fitted, holdout: Holdout, *, ref: str, thread: str | None, max_tokens: int
) -> _Fitted:
    from reasoningbank.services.search.holdout import hold_out

    shown = fitted.handed_out
    out = hold_out(edit, holdout, shown, fitted.numbers, ref=ref, thread=thread, learned=fitted.learned)
    if not out:
        return fitted
    # What did not fit before stays out: a run that lacks one lesson gets no other in its place.
    kept = tuple(hit for hit in shown if hit.memory.id not in out)
    opposed = among(fitted.conflicts, {hit.memory.id for hit in kept})
    return replace(
        fitted,
        hits=kept + tuple(hit for hit in fitted.hits if hit not in shown),
        block=_block(kept, max_tokens, opposed, doubtful=fitted.doubtful),
        required=tuple(memory_id for memory_id in fitted.required if memory_id not in out),
        conflicts=opposed,
        held_out=len(out),
    )


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
    )


def usage(served: Served, ref: str, thread: str | None, now: datetime) -> Signal:
    """Return the signal that says that a memory was handed out."""
    return Signal(
        id=new_id(),
        at=now,
        memory=served.memory,
        revision=served.revision,
        kind=SignalKind.USAGE,
        polarity=1,
        ref=ref,
        source=thread or "",
    )


def again(view: View, ref: str, max_tokens: int, expand_links: bool = False) -> Recall | None:
    """Return what was handed out under a reference before, without searching or counting anew; None if nothing was."""
    episode = episodes.load_episode(view, ref)
    if episode is None:
        return None
    numbers = records.numbers_of(view, [s.memory for s in episode.memories])
    shown, now = view.shown(numbers.values()).values(), view.engine.now()
    memories = {m.id: m for m in shown if not m.has_expired(now)}
    left_out = {HELD_OUT: len(episode.withheld), EXPIRED: len(shown) - len(memories)}
    hits = tuple(_hit(s, memories[s.memory]) for s in episode.memories if s.memory in memories and not s.step)
    opposed = conflicts(view, list(numbers.values())) if expand_links else ()
    doubtful = episodes.was_doubtful(view, ref)
    block = _block(hits, max_tokens, opposed, doubtful=doubtful)
    return Recall(
        ref=ref,
        task=episode.task,
        hits=hits,
        text=block.text,
        tokens=block.tokens,
        withheld={reason: many for reason, many in left_out.items() if many},
        weak=doubtful,
        repeated=True,
        shortened=block.shortened,
        conflicts=opposed,
        held_out=episode.held_out,
    )


def _block(hits: Sequence[Hit], max_tokens: int, opposed: Sequence[Conflict] = (), *, doubtful: bool) -> LessonBlock:
    unproven = [hit.memory.id for hit in hits if hit.provisional]
    pairs = [(conflict.one, conflict.other) for conflict in opposed]
    memories, frame = [hit.memory for hit in hits], DOUBTFUL if doubtful else FRAME
    return render(memories, max_tokens=max_tokens, provisional=unproven, conflicts=pairs, frame=frame)


def _hit(served: Served, memory: Memory) -> Hit:
    return Hit(
        memory=memory,
        similarity=served.similarity,
        keyword=served.keyword,
        score=served.score,
        confidence=served.confidence,
        deviation=served.deviation,
        provisional=served.provisional,
        about=served.about,
    )

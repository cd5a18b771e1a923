"""Recall: a search, an episode, and one usage signal for each memory handed out."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from reasoningbank.episode import Served
from reasoningbank.errors import DeadlineExceededError, InvalidInputError
from reasoningbank.links import Conflict
from reasoningbank.memory import ID_LIMIT, Memory, clean_text, is_blank
from reasoningbank.prompt.block import LessonBlock
from reasoningbank.results import OVER_BUDGET, Hit, Recall, SearchResult
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.expand import among, conflicts, with_required
from reasoningbank.services.search.prompt import prompt_block
from reasoningbank.services.search.retrieve import Wanted, search
from reasoningbank.services.search.shown import served as shown
from reasoningbank.signals import Signal, SignalKind, as_utc
from reasoningbank.storage import episodes, records


def new_id() -> str:
    """Return a new unique id."""
    return str(uuid.uuid4())


def checked_ref(ref: object, what: str = "ref") -> str | None:
    """Return a reference or thread as it is stored.

    Raises:
        InvalidInputError: it is no text, blank, or longer than 200 characters.
    """
    if ref is None:
        return None
    if not isinstance(ref, str) or is_blank(ref) or len(ref) > ID_LIMIT:
        raise InvalidInputError(f"{what} {ref!r:.80} cannot be used: give a text of 1 to {ID_LIMIT} characters")
    return clean_text(ref)


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
    given_up: threading.Event | None = None,
) -> Recall:
    """Hand out the memories that fit a task, and open its episode.

    Args:
        expand_links: bring along what they require, and say which do not go together.
        given_up: set by a caller that waits no longer; then, too, no episode is opened.
    """
    ref, thread = checked_ref(ref), checked_ref(thread, "thread")
    if ref is not None and (known := again(engine, ref, max_tokens, expand_links)) is not None:
        return known
    limit = _Limit(engine, deadline, given_up)
    limit.check()
    result = search(engine, task, wanted)
    fitted = _fitted(engine, result.hits, wanted, max_tokens) if expand_links else _plain(result.hits, max_tokens)
    block, included = fitted.block, set(fitted.block.included)
    handed_out = tuple(hit for hit in fitted.hits if hit.memory.id in included)
    opened = _open(engine, task, handed_out, ref=ref or new_id(), thread=thread, tokens=block.tokens, limit=limit)
    if opened is None:
        # Another process opened it between our look and our lock.
        return again(engine, ref or "", max_tokens, expand_links) or Recall(ref=ref or "", task=task)
    return Recall(
        ref=opened,
        task=task,
        hits=handed_out,
        text=block.text,
        tokens=block.tokens,
        withheld=_withheld(result, fitted, len(handed_out)),
        weak=result.weak,
        degraded=result.degraded,
        shortened=block.shortened,
        required=fitted.required,
        conflicts=among(fitted.conflicts, included),
    )


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The hits, and the block that as many of them as fit are in.

    Attributes:
        required: ids of those in the block that came along.
        withheld: how many required memories were not brought along, by reason.
    """

    hits: tuple[Hit, ...]
    block: LessonBlock
    required: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)


def _plain(hits: tuple[Hit, ...], max_tokens: int) -> _Fitted:
    return _Fitted(hits, _block(hits, max_tokens))


def _fitted(engine: Engine, hits: tuple[Hit, ...], wanted: Wanted, max_tokens: int) -> _Fitted:
    """Bring along what the hits that fit require, as far as it takes no room from them."""
    alone = _plain(hits, max_tokens).block
    shown = [hit for hit in hits if hit.memory.id in alone.included]
    brought = with_required(engine, shown, floor=wanted.floor, strict=wanted.strict)
    opposed = conflicts(engine, [hit.memory.id for hit in brought.hits])
    count = len(brought.required)
    while True:
        kept = tuple(hit for hit in brought.hits if hit.memory.id not in brought.required[count:])
        block = _block(kept, max_tokens, opposed)
        if not count or set(alone.included) <= set(block.included):
            break
        count -= 1
    every = brought.hits + tuple(hit for hit in hits if hit.memory.id not in alone.included)
    in_block = tuple(memory_id for memory_id in brought.required[:count] if memory_id in block.included)
    return _Fitted(every, block, in_block, opposed, brought.withheld)


def _withheld(result: SearchResult, fitted: _Fitted, handed_out: int) -> dict[str, int]:
    withheld = Counter(result.withheld) + Counter(fitted.withheld)
    if over := len(fitted.hits) - handed_out:
        withheld[OVER_BUDGET] = over
    return dict(withheld)


@dataclass(frozen=True, slots=True)
class _Limit:
    """Until when a recall is of use to whoever asked."""

    engine: Engine
    deadline: datetime | None
    given_up: threading.Event | None

    def check(self) -> None:
        """Raise DeadlineExceededError when it is of no use any more."""
        if self.given_up is not None and self.given_up.is_set():
            raise DeadlineExceededError("nobody waited for the recall any more; no episode was opened")
        if self.deadline is not None and self.engine.now() > as_utc(self.deadline):
            late = self.deadline.isoformat()
            raise DeadlineExceededError(f"the recall came after its deadline {late}; no episode was opened")


def _open(
    engine: Engine, task: str, hits: Sequence[Hit], *, ref: str, thread: str | None, tokens: int, limit: _Limit
) -> str | None:
    with engine.write() as (project, connection):
        limit.check()
        if episodes.exists(connection, ref):
            return None
        now = engine.now()
        numbers = records.numbers_of(connection, [hit.memory.id for hit in hits])
        handed_out = [
            (numbers[hit.memory.id], _served(hit, position))
            for position, hit in enumerate(hits)
            if hit.memory.id in numbers
        ]
        episodes.open_episode(connection, ref=ref, task=task, thread=thread, served=handed_out, tokens=tokens, now=now)
        project.write_signals(connection, [_usage(s, ref, thread, now) for _, s in handed_out], now)
    return ref


def _served(hit: Hit, position: int) -> Served:
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
    )


def _usage(served: Served, ref: str, thread: str | None, now: datetime) -> Signal:
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


def again(engine: Engine, ref: str, max_tokens: int, expand_links: bool = False) -> Recall | None:
    """Return what was handed out under a reference before, without searching or counting anew; None if nothing was."""
    with engine.read() as connection:
        episode = None if connection is None else episodes.load_episode(connection, ref)
        if connection is None or episode is None:
            return None
        numbers = records.numbers_of(connection, [s.memory for s in episode.memories])
        memories = {m.id: m for m in shown(engine, connection, list(numbers.values())).values()}
    hits = tuple(_hit(s, memories[s.memory]) for s in episode.memories if s.memory in memories)
    opposed = conflicts(engine, [hit.memory.id for hit in hits]) if expand_links else ()
    block = _block(hits, max_tokens, opposed)
    return Recall(
        ref=ref,
        task=episode.task,
        hits=hits,
        text=block.text,
        tokens=block.tokens,
        repeated=True,
        shortened=block.shortened,
        conflicts=opposed,
    )


def _block(hits: Sequence[Hit], max_tokens: int, opposed: Sequence[Conflict] = ()) -> LessonBlock:
    unproven = [hit.memory.id for hit in hits if hit.provisional]
    pairs = [(conflict.one, conflict.other) for conflict in opposed]
    return prompt_block([hit.memory for hit in hits], max_tokens=max_tokens, provisional=unproven, conflicts=pairs)


def _hit(served: Served, memory: Memory) -> Hit:
    return Hit(
        memory=memory,
        similarity=served.similarity,
        keyword=served.keyword,
        score=served.score,
        confidence=served.confidence,
        deviation=served.deviation,
        provisional=served.provisional,
    )

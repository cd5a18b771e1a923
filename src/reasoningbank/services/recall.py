"""Recall: a search, an episode, and one usage signal for each memory handed out."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reasoningbank.episode import Served
from reasoningbank.errors import DeadlineExceededError, InvalidInputError
from reasoningbank.lessons import LessonBlock
from reasoningbank.memory import ID_LIMIT, Memory, clean_text, is_blank
from reasoningbank.results import OVER_BUDGET, Hit, Recall, SearchResult
from reasoningbank.services.engine import Engine
from reasoningbank.services.prompt import prompt_block
from reasoningbank.services.retrieve import Wanted, search
from reasoningbank.services.shown import served as shown
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
    given_up: threading.Event | None = None,
) -> Recall:
    """Hand out the memories that fit a task, and open its episode.

    Args:
        given_up: set by a caller that waits no longer; then, too, no episode is opened.
    """
    ref, thread = checked_ref(ref), checked_ref(thread, "thread")
    if ref is not None and (known := again(engine, ref, max_tokens)) is not None:
        return known
    limit = _Limit(engine, deadline, given_up)
    limit.check()
    result = search(engine, task, wanted)
    block = _block(result.hits, max_tokens)
    included = set(block.included)
    handed_out = tuple(hit for hit in result.hits if hit.memory.id in included)
    opened = _open(engine, task, handed_out, ref=ref or new_id(), thread=thread, limit=limit)
    if opened is None:
        # Another process opened it between our look and our lock.
        return again(engine, ref or "", max_tokens) or Recall(ref=ref or "", task=task)
    return Recall(
        ref=opened,
        task=task,
        hits=handed_out,
        text=block.text,
        tokens=block.tokens,
        withheld=_withheld(result, len(handed_out)),
        weak=result.weak,
        degraded=result.degraded,
        shortened=block.shortened,
    )


def _withheld(result: SearchResult, handed_out: int) -> dict[str, int]:
    over = len(result.hits) - handed_out
    return result.withheld | ({OVER_BUDGET: over} if over else {})


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


def _open(engine: Engine, task: str, hits: Sequence[Hit], *, ref: str, thread: str | None, limit: _Limit) -> str | None:
    with engine.write() as (project, connection):
        limit.check()
        if episodes.exists(connection, ref):
            return None
        now = engine.now()
        handed_out = [
            (n, _served(hit, position))
            for position, hit in enumerate(hits)
            if (n := records.find(connection, hit.memory.id)) is not None
        ]
        episodes.open_episode(connection, ref=ref, task=task, thread=thread, served=handed_out, now=now)
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


def again(engine: Engine, ref: str, max_tokens: int) -> Recall | None:
    """Return what was handed out under a reference before, without searching or counting anew; None if nothing was."""
    with engine.read() as connection:
        episode = None if connection is None else episodes.load_episode(connection, ref)
        if connection is None or episode is None:
            return None
        numbers = [n for s in episode.memories if (n := records.find(connection, s.memory)) is not None]
        memories = {m.id: m for m in shown(engine, connection, numbers).values()}
    hits = tuple(_hit(s, memories[s.memory]) for s in episode.memories if s.memory in memories)
    block = _block(hits, max_tokens)
    return Recall(
        ref=ref,
        task=episode.task,
        hits=hits,
        text=block.text,
        tokens=block.tokens,
        repeated=True,
        shortened=block.shortened,
    )


def _block(hits: Sequence[Hit], max_tokens: int) -> LessonBlock:
    unproven = [hit.memory.id for hit in hits if hit.provisional]
    return prompt_block([hit.memory for hit in hits], max_tokens=max_tokens, provisional=unproven)


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

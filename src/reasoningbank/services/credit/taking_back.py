"""Taking back what a run was handed and never showed to its model: it was not used, and is not credited."""

from __future__ import annotations

from collections.abc import Collection

from reasoningbank.errors import EpisodeNotFoundError
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.recall import new_id
from reasoningbank.signals import Signal, SignalKind
from reasoningbank.storage import episodes


def take_back(engine: Engine, ref: str, memory_ids: Collection[str] | None) -> tuple[str, ...]:
    """Take memories out of an open episode, and withdraw their usage; return the ids of those that were in it."""
    with engine.write(create=False) as edit:
        edit.catch_up()
        episode = episodes.load_episode(edit, ref)
        if episode is None:
            raise EpisodeNotFoundError(f"ref {ref!r}")
        if not episode.is_open:
            return ()
        out = [s for s in episode.memories if memory_ids is None or s.memory in memory_ids]
        now = engine.now()
        withdrawn = [
            Signal(
                id=new_id(),
                at=now,
                memory=served.memory,
                revision=served.revision,
                kind=SignalKind.USAGE,
                polarity=0,
                ref=ref,
                source=episode.thread or "",
            )
            for served in out
        ]
        edit.write_signals(withdrawn, now)
        taken = tuple(served.memory for served in out)
        episodes.unserve(edit, ref, taken)
        return taken

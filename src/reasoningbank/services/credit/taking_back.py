"""Taking back what a run was handed and never showed to its model: it was not used, and is not credited."""

from __future__ import annotations

from collections.abc import Collection

from reasoningbank.errors import EpisodeNotFoundError
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.recall import usage
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
        edit.write_signals([usage(served, ref, episode.thread, now, polarity=0) for served in out], now)
        taken = tuple(served.memory for served in out)
        episodes.unserve(edit, ref, taken)
        return taken

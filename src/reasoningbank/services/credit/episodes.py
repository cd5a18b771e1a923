"""The episodes of a project, page by page."""

from __future__ import annotations

from reasoningbank.errors import EpisodeNotFoundError
from reasoningbank.runs.results import EpisodePage
from reasoningbank.services.engine import Engine
from reasoningbank.storage import episodes
from reasoningbank.verdict import Verdict


def list_episodes(
    engine: Engine, *, after: str | None, thread: str | None, verdict: Verdict | None, is_open: bool | None, limit: int
) -> EpisodePage:
    """Return up to `limit` episodes that pass the filters, the newest first, behind the one named `after`."""
    with engine.read() as view:
        if after is not None and not episodes.exists(view, after):
            raise EpisodeNotFoundError(f"ref {after!r}")
        refs = episodes.page(view, after=after, thread=thread, verdict=verdict, is_open=is_open, limit=limit + 1)
        found = (episodes.load_episode(view, ref) for ref in refs[:limit])
        return EpisodePage(tuple(e for e in found if e is not None), refs[limit - 1] if len(refs) > limit else None)

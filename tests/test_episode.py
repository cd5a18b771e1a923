from __future__ import annotations

from datetime import UTC, datetime

from reasoningbank import Verdict
from reasoningbank.episode import Episode

OPENED = datetime(2026, 11, 27, 12, tzinfo=UTC)


def test_an_episode_is_open_until_it_has_a_verdict() -> None:
    opened = Episode(ref="e-1", task="a task", thread=None, opened_at=OPENED)

    assert opened.is_open
    assert not opened.model_copy(update={"verdict": Verdict.UNKNOWN}).is_open

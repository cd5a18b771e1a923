from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reasoningbank.episode import Episode, Verdict, as_verdict
from reasoningbank.errors import InvalidInputError

OPENED = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (Verdict.SUCCESS, Verdict.SUCCESS),
        ("failure", Verdict.FAILURE),
        (" Unknown\n", Verdict.UNKNOWN),
        (True, Verdict.SUCCESS),
        (False, Verdict.FAILURE),
    ],
)
def test_a_verdict_can_be_said_in_several_ways(said: Verdict | str | bool, verdict: Verdict) -> None:
    assert as_verdict(said) is verdict


@pytest.mark.parametrize("said", ["unsuccessful", "not a failure", "", "1", 1, None])
def test_a_label_is_matched_whole(said: object) -> None:
    with pytest.raises(InvalidInputError, match="success, failure, unknown"):
        as_verdict(said)  # type: ignore[arg-type]


def test_an_episode_is_open_until_it_has_a_verdict() -> None:
    opened = Episode(ref="e-1", task="a task", thread=None, opened_at=OPENED)

    assert opened.is_open
    assert not opened.model_copy(update={"verdict": Verdict.UNKNOWN}).is_open

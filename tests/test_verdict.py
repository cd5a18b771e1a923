"""How something ended, as people, judges and other systems say it."""

from __future__ import annotations

import pytest

from reasoningbank import InvalidInputError, Verdict
from reasoningbank.verdict import as_verdict


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (Verdict.PARTIAL, Verdict.PARTIAL),
        ("FAILURE ", Verdict.FAILURE),
        (" Unknown\n", Verdict.UNKNOWN),
        ("uncertain", Verdict.UNKNOWN),
        ("passed", Verdict.SUCCESS),
        ("unsuccessful", Verdict.FAILURE),
        ("Partially successful", Verdict.PARTIAL),
        (True, Verdict.SUCCESS),
        (False, Verdict.FAILURE),
    ],
)
def test_a_verdict_can_be_said_in_several_ways(said: object, verdict: Verdict) -> None:
    assert as_verdict(said) is verdict


@pytest.mark.parametrize("said", ["not a failure", "criteria of success not met", "", "done", "1", 1, 0.7, None, ["x"]])
def test_a_label_is_matched_whole(said: object) -> None:
    with pytest.raises(InvalidInputError, match="success, failure, partial, unknown"):
        as_verdict(said)

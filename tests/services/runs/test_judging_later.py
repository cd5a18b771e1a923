"""A judge of the worker, after the user has the answer: for the run and for the lessons recalled for it."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import ReasoningBank, Trajectory, Verdict

RUN = {"task": "Convert the report", "steps": [{"action": "convert", "observation": "ok"}]}


def ended(bank: ReasoningBank) -> str:
    """Return the episode of a run that merely ended, which waits to be distilled."""
    bank.record("Convert reports", "Convert reports with pandoc.", outcome="success")
    ref = bank.recall("convert the report").ref
    bank.report("unknown", ref=ref)
    bank.queue.put(RUN, ref=ref)
    return ref


@pytest.mark.parametrize(
    ("said", "verdict", "rises"),
    [
        (True, Verdict.SUCCESS, 1),
        ({"score": 0, "comment": "c"}, Verdict.FAILURE, -1),
        ("partial", Verdict.UNKNOWN, 0),
        ("unknown", Verdict.UNKNOWN, 0),
    ],
)
def test_a_judge_of_the_worker_credits_the_episode_once(
    bank: ReasoningBank, said: Any, verdict: Verdict, rises: int
) -> None:
    ref = ended(bank)
    [served] = bank.runs.get(ref).memories

    [done] = bank.queue.worker(judge=lambda run: said).run_until_empty()

    episode = bank.runs.get(ref)
    assert (episode.verdict, done.verdict in (verdict, Verdict.PARTIAL)) == (verdict, True)
    gained = bank.get(served.memory).confidence - served.confidence
    assert (gained > 0) - (gained < 0) == rises
    assert not bank.report(verdict, ref=ref).recorded


@pytest.mark.parametrize("said", [True, False])
def test_what_a_user_said_meanwhile_stands_and_no_judge_is_asked(bank: ReasoningBank, said: bool) -> None:
    ref = ended(bank)
    bank.report(said, ref=ref, reason="the user says so")

    def judge(run: Trajectory) -> bool:
        raise AssertionError("it is known already")

    [done] = bank.queue.worker(judge=judge).run_until_empty()

    assert bank.runs.get(ref).verdict is done.verdict is (Verdict.SUCCESS if said else Verdict.FAILURE)

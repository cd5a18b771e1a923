"""How well a bank did, from its log and database alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reasoningbank import InvalidInputError, ReasoningBank, Settings
from reasoningbank.services.credit import fitting
from reasoningbank.upkeep import Measure, Metrics
from tests.conftest import Clock, OpenBank

LESSON = "Quote every path in the shell, since file names hold blanks"


def criterion(found: Metrics, name: str) -> Measure:
    return next(each for each in found.criteria if each.name == name)


def test_metrics_of_nothing_make_nothing(bank: ReasoningBank, clock: Clock) -> None:
    found = bank.upkeep.metrics()

    assert (found.since, found.until) == (clock() - timedelta(days=30), clock())
    assert [each.met for each in found.criteria] == [None] * 6
    assert not bank.upkeep.status().exists


def test_confidences_at_recall_are_compared_with_what_was_said_later(bank: ReasoningBank, clock: Clock) -> None:
    memory = bank.record("Quote paths", LESSON, outcome="success").memory
    handed_out = []
    for number in range(4):
        recall = bank.recall("quote the paths in the shell", ref=f"run {number}")
        handed_out.append(recall.hits[0].confidence)
        bank.report(number > 0, ref=recall.ref)
        bank.vote(memory.id, number > 0, ref=recall.ref)
        clock.move(hours=1)

    found = bank.upkeep.metrics()

    assert found.votes.count == found.runs.count == 4
    brier = sum((c - (number > 0)) ** 2 for number, c in enumerate(handed_out)) / 4
    assert found.votes.brier == pytest.approx(brier)
    assert criterion(found, "SC-001").value == 0.75
    assert found.success["with_lessons"] == 0.75
    assert found.yields["recorded_manual"] == 1.0


def test_the_tokens_of_prompt_blocks_are_noted_with_their_runs(bank: ReasoningBank) -> None:
    bank.record("Quote paths", LESSON, outcome="success")
    tokens = bank.recall("quote the paths in the shell").tokens

    assert criterion(bank.upkeep.metrics(), "SC-002").value == tokens > 0


def test_only_the_window_counts_and_votes_that_were_rolled_up_still_do(bank: ReasoningBank, clock: Clock) -> None:
    memory = bank.record("Quote paths", LESSON, outcome="success").memory
    recall = bank.recall("quote the paths in the shell")
    bank.vote(memory.id, True, ref=recall.ref)
    clock.move(days=40)
    bank.vote(memory.id, True)
    bank.upkeep.maintain()

    assert bank.upkeep.metrics().votes.count == 0
    assert bank.upkeep.metrics(days=60).votes.count == 1


def test_a_task_that_failed_before_the_window_is_a_mistake_when_it_fails_again(
    bank: ReasoningBank, clock: Clock
) -> None:
    bank.record("Quote paths", LESSON, outcome="success")
    for task in ("deploy the billing service", "Deploy the billing service!", "quote the paths in the shell"):
        bank.report("failure", ref=bank.recall(task).ref)
        clock.move(days=20)

    assert criterion(bank.upkeep.metrics(), "SC-004").sample == 0
    assert bank.upkeep.metrics().hit_rates["recalls"] == 1.0
    assert bank.upkeep.metrics(days=60).success["without_lessons"] == 0.0


def test_yields_come_from_the_queue(bank: ReasoningBank) -> None:
    steps = [{"action": "convert report.xlsx report.csv", "observation": "ok"}]
    for task, verdict in (("Convert the report", "success"), ("Convert the sheet", "unknown")):
        bank.queue.put({"task": task, "steps": steps, "result": "It ran.", "verdict": verdict})
    assert len(list(bank.queue.worker().run_until_empty())) == 2

    assert bank.upkeep.metrics().yields["successes_that_gave_a_lesson"] == 1.0
    assert bank.upkeep.metrics().yields["failures_that_gave_a_lesson"] is None


def test_weights_over_time_are_the_fits_of_the_calibrated_model(
    bank: ReasoningBank, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "is_due", lambda changes, fitted: True)
    memory = bank.record("Quote paths", LESSON, outcome="success").memory
    for day in range(3):
        bank.vote(memory.id, True, ref=f"r{day}")
        clock.move(days=1)

    found = bank.upkeep.metrics()

    assert [each.at for each in found.weights] == [clock() - timedelta(days=3 - day) for day in range(3)]
    assert set(found.weights[0].weights) == {"accuracy", "helped", "unhelped"}
    assert found.parameters == bank.upkeep.status().parameters


def test_weights_over_time_are_the_pairs_of_the_spec_model_day_by_day(open_bank: OpenBank, clock: Clock) -> None:
    bank = open_bank(settings=Settings(confidence_model="spec"))
    memory = bank.record("Quote paths", LESSON, outcome="success").memory
    for day in range(2):
        recall = bank.recall("quote the paths in the shell", ref=f"r{day}")
        bank.vote(memory.id, True, ref=recall.ref)
        clock.move(days=1)

    weights = [each.weights for each in bank.upkeep.metrics().weights]

    assert weights[0]["usage"] == pytest.approx(0.3125, abs=1e-6)
    assert weights[1]["usage"] > weights[0]["usage"]
    assert bank.upkeep.metrics().parameters is None


def test_a_vote_confirms_each_kind_that_spoke_for_the_memory_once_and_no_vote(open_bank: OpenBank) -> None:
    """Published vectors 26, 27 and 35."""
    bank = open_bank(settings=Settings(confidence_model="spec"))
    memory = bank.record("Quote paths", LESSON, outcome="success").memory
    bank.vote(memory.id, True)
    assert bank.upkeep.metrics().weights == ()

    for _ in range(3):
        bank.recall("quote the paths in the shell")
    bank.vote(memory.id, True)

    (weighing,) = bank.upkeep.metrics().weights
    expected = {"explicit": 0.401042, "usage": 0.3125, "outcome": 0.286458}
    assert {kind: weighing.weights[kind] for kind in expected} == pytest.approx(expected, abs=1e-6)


def test_the_ema_model_has_no_weights(open_bank: OpenBank) -> None:
    bank = open_bank(settings=Settings(confidence_model="ema"))
    bank.record("Quote paths", LESSON, outcome="success")

    assert bank.upkeep.metrics().weights == ()


@pytest.mark.parametrize("days", [0, -1, 1.5, True, "7", 40_000])
def test_a_window_that_is_no_number_of_days_is_refused(bank: ReasoningBank, days: Any) -> None:
    with pytest.raises(InvalidInputError, match="days"):
        bank.upkeep.metrics(days)

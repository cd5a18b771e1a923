"""Success criteria, against what they are meant to say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reasoningbank.measures.criteria import (
    ENOUGH,
    DistilledRun,
    HandedOut,
    PastRun,
    Weighing,
    criteria,
    foretold,
    hit_rates,
    lived,
    success,
    voted,
    yields,
)
from reasoningbank.measures.reliability import Calibration, Measure, Prediction

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def past(
    succeeded: bool | None = None,
    *handed_out: tuple[float, bool | None],
    task: str = "t",
    tokens: int | None = None,
) -> PastRun:
    return PastRun(NOW, task, succeeded, tokens, tuple(HandedOut(*each) for each in handed_out))


def criterion(name: str, *runs: PastRun, **more: object) -> Measure:
    found = {each.name: each for each in criteria(runs, now=NOW, **more)}  # type: ignore[arg-type]
    assert list(found) == [f"SC-00{number}" for number in range(1, 7)]
    return found[name]


def test_a_bank_that_saw_nothing_has_no_figures_and_meets_and_misses_nothing() -> None:
    found = criteria((), now=NOW)

    assert [(each.value, each.sample, each.met) for each in found] == [(None, 0, None)] * 6


def test_what_helped_is_what_people_say() -> None:
    runs = [past(False, (0.9, True), (0.6, None))] * 20 + [past(True, (0.9, False))] * 12

    assert criterion("SC-001", *runs).value == pytest.approx(20 / 32)
    assert criterion("SC-006", *runs).sample == 32
    assert criterion("SC-006", *runs).met is False


def test_where_nobody_says_anything_the_ends_of_runs_are_all_there_is_and_the_figure_says_so() -> None:
    runs = [past(True, (0.9, None))] * ENOUGH + [past(None, (0.9, None))]

    assert criterion("SC-001", *runs).met is True
    assert "nobody voted" in criterion("SC-001", *runs).what
    assert criterion("SC-006", *runs).value == 1.0
    assert criterion("SC-006", *runs[1:]).met is None


def test_the_longest_prompt_block_counts_and_empty_ones_do_not() -> None:
    runs = [past(None, (0.6, None), tokens=480), past(None, (0.6, None), tokens=501), past(tokens=0), past()]

    assert criterion("SC-002", *runs).value == 501
    assert criterion("SC-002", *runs).sample == 2
    assert criterion("SC-002", *runs).met is False


def test_the_yield_is_that_of_successes_or_failures_whichever_is_less() -> None:
    distilled = [DistilledRun(True, True)] * 20 + [DistilledRun(False, gave) for gave in [True] * 9 + [False] * 11]

    assert criterion("SC-003", distilled=distilled).value == pytest.approx(0.45)
    assert criterion("SC-003", distilled=distilled).met is False
    assert criterion("SC-003", distilled=distilled[:20]).met is None


def test_mistakes_are_made_again_less_often_with_lessons_than_without() -> None:
    without = [past(False)] * 10 + [past(True)] * 10
    with_lessons = [past(False, (0.6, None))] * 5 + [past(True, (0.6, None))] * 15

    found = criterion("SC-004", past(False), *without, *with_lessons)

    assert found.value == pytest.approx(0.5)
    assert found.met is True


def test_a_task_that_never_failed_says_nothing_of_mistakes_made_again() -> None:
    runs = [past(True, (0.6, None)), past(None, (0.6, None)), past(True)]

    assert criterion("SC-004", *runs).value is None
    assert criterion("SC-004", *runs, failed_before={"t"}).sample == 1
    assert criterion("SC-004", *runs, failed_before={"t"}).value is None


def test_weights_are_settled_when_they_hardly_move_for_seven_days() -> None:
    def history(*weights: float) -> list[Weighing]:
        return [
            Weighing(NOW - timedelta(days=10 * (len(weights) - i) - 9), {"helped": weight, "unhelped": 0.4})
            for i, weight in enumerate(weights)
        ]

    assert criterion("SC-005", history=history(0.5, 0.80, 0.82)).met is True
    assert criterion("SC-005", history=history(0.5, 0.75, 0.82)).met is False
    assert criterion("SC-005", history=history(0.82)).met is None


def test_predictions_are_the_confidences_at_recall() -> None:
    runs = [past(True, (0.9, True), (0.5, None)), past(False, (0.5, None)), past(None, (0.2, False)), past(True)]

    assert voted(runs) == [Prediction(0.9, True, NOW), Prediction(0.2, False, NOW)]
    assert lived(runs) == [Prediction(0.9, True, NOW), Prediction(0.5, True, NOW), Prediction(0.5, False, NOW)]
    assert [p.confidence for p in foretold(runs, lambda run: run.handed_out[0].confidence)] == [0.9, 0.5]


def test_calibration_compares_what_was_said_with_what_was() -> None:
    found = Calibration.of([Prediction(0.8, True), Prediction(0.8, False)])

    assert found.ece == pytest.approx(0.3)
    assert (found.count, found.auc) == (2, 0.5)
    assert found.brier == pytest.approx((0.04 + 0.64) / 2)
    assert [bar.count for bar in found.bins if bar.count] == [2]
    assert Calibration.of([]).ece is None


def test_success_is_told_beside_what_was_to_be_expected() -> None:
    def expected(run: PastRun) -> float:
        return 0.8 if run.succeeded else 0.5

    runs = [past(True, (0.9, True), (0.5, None)), past(False, (0.5, None)), past(True), past(None, (0.9, None))]

    assert success(runs, expected, 0.4) == {
        "with_lessons": 0.5,
        "expected": pytest.approx(0.65),
        "expected_if_none_helped": 0.4,
        "without_lessons": 1.0,
    }
    assert set(success([], expected, 0.4).values()) == {None}


def test_hit_rates_tell_how_often_something_was_handed_out_and_judged() -> None:
    runs = [past(True, (0.9, True), (0.5, None)), past(False, (0.5, False)), past(True), past(None)]

    assert hit_rates(runs, late=2) == {
        "recalls": 4.0,
        "recalls_with_lessons": 0.5,
        "lessons_a_recall": 0.75,
        "runs_reported": 0.75,
        "lessons_voted_on": pytest.approx(2 / 3),
        "voted_helpful": 0.5,
        "recalls_too_late": 2.0,
    }
    assert hit_rates([])["lessons_a_recall"] is None


def test_yields_count_what_was_recorded_and_what_runs_gave() -> None:
    assert yields([DistilledRun(True, True), DistilledRun(True, False)], {"manual": 3}) == {
        "recorded_manual": 3.0,
        "runs_distilled": 2.0,
        "successes_that_gave_a_lesson": 0.5,
        "failures_that_gave_a_lesson": None,
    }

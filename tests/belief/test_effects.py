"""What makes runs succeed, learned from runs with a verdict."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from reasoningbank.belief.calibrated import STARTING, CalibratedModel
from reasoningbank.belief.effects import ENOUGH_RUNS, JudgedRun, fit_runs
from reasoningbank.signals import SignalKind, Tally
from tests.belief.lived import run, runs
from tests.belief.test_fitting import WHEN

HELPED, UNHELPED = 0.85, 0.3


def about_runs(offset: float, slope: float, *, seed: int, many: int = 5000) -> list[JudgedRun]:
    """Runs with one memory each, which surely helps with what it is about; its relevance says so much of that."""
    chance, found = random.Random(seed), []
    for _ in range(many):
        odds = chance.gauss(0.0, 2.0)
        helps = chance.random() < 1.0 / (1.0 + math.exp(-offset - slope * odds))
        succeeded = chance.random() < (HELPED if helps else UNHELPED)
        found.append(run([0.999], succeeded, [1.0 / (1.0 + math.exp(-odds))]))
    return found


def test_no_runs_teach_nothing() -> None:
    assert fit_runs([]) == fit_runs([run([], True)] * 99) == STARTING


@pytest.mark.parametrize(("helped", "unhelped"), [(0.85, 0.3), (0.95, 0.05), (0.6, 0.5)])
def test_what_outcomes_say_is_learned_without_a_vote(helped: float, unhelped: float) -> None:
    found = fit_runs(runs(helped, unhelped, seed=1))

    assert (found.helped, found.unhelped) == pytest.approx((helped, unhelped), abs=0.05)


def test_outcomes_that_do_not_discriminate_weigh_next_to_nothing() -> None:
    found = fit_runs([run([0.9], False), run([0.1], True)] * 500)
    praised = CalibratedModel(found).beliefs([([Tally(SignalKind.OUTCOME, 0, "", "", 1, 0, WHEN)], 0.6)])[0]

    assert found.helped > found.unhelped
    assert praised.mean == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize("succeeded", [True, False])
def test_where_only_one_kind_of_verdict_is_reported_nothing_is_told(succeeded: bool) -> None:
    found = fit_runs([run([0.3, 0.8], succeeded)] * ENOUGH_RUNS)

    assert found.helped - found.unhelped == pytest.approx(0.02)
    assert (found.offset, found.slope, found.harms) == (STARTING.offset, STARTING.slope, ())


def test_runs_that_chance_held_out_tell_how_runs_end_without_help() -> None:
    seen = runs(0.85, 0.3, seed=4, many=200)
    held = [replace(run([], n % 20 == 0), held_out=True) for n in range(400)]

    assert fit_runs([*seen, *held]).unhelped < 0.15 < fit_runs(seen).unhelped
    assert fit_runs(held).unhelped < 0.15
    assert fit_runs(held).harms == ()


def test_a_check_that_ends_the_same_whatever_was_handed_out_says_little_of_memories() -> None:
    told = [replace(one, by="pytest") for one in runs(0.9, 0.2, seed=5, many=400)]
    chance = random.Random(6)
    deaf = [replace(one, by="mypy", succeeded=chance.random() < 0.5) for one in runs(0.9, 0.2, seed=7, many=400)]
    seldom = [replace(one, by="ada") for one in told[:19]]
    found = dict(fit_runs([*told, *deaf, *seldom]).reporters)

    assert found.keys() == {"pytest", "mypy"}
    assert found["pytest"] == 1.0
    assert found["mypy"] < 0.4


def test_with_one_reporter_there_is_nobody_to_tell_apart() -> None:
    assert fit_runs([replace(one, by="pytest") for one in runs(0.9, 0.2, seed=5, many=100)]).reporters == ()


def test_an_outcome_weighs_as_much_as_its_reporter_is_believed() -> None:
    said = [([Tally(SignalKind.OUTCOME, 0, "", by, 3, 0, WHEN)], 0.6) for by in ("", "mypy", "pytest")]
    nobody, deaf, sure = CalibratedModel(replace(STARTING, reporters=(("mypy", 0.0), ("pytest", 0.5)))).beliefs(said)
    (untold,) = CalibratedModel().beliefs([((), 0.6)])

    assert untold.mean == pytest.approx(deaf.mean)
    assert deaf.mean < sure.mean < nobody.mean


def test_runs_without_memories_teach_nothing() -> None:
    seen = runs(0.8, 0.4, seed=8, many=50)

    assert fit_runs([*seen, run([], True)]) == fit_runs(seen)


def test_what_relevance_says_of_the_task_is_learned() -> None:
    says_little, says_much = (fit_runs(about_runs(0.0, slope, seed=2)) for slope in (0.3, 1.4))

    assert (says_little.slope, says_much.slope) == pytest.approx((0.3, 1.4), abs=0.3)


def test_memories_that_help_more_often_than_their_relevance_promises_are_found_out() -> None:
    assert fit_runs(about_runs(1.5, 1.0, seed=3)).offset > 0.8


def test_a_memory_that_makes_runs_fail_is_found_out_and_no_other() -> None:
    chance, seen = random.Random(4), []
    for _ in range(1500):
        memories = chance.sample(range(20), 3)
        helped = any(chance.random() < 0.5 for memory in memories if memory)
        succeeded = chance.random() < (HELPED if helped else UNHELPED) - (0.3 if 0 in memories else 0.0)
        seen.append(run([0.05 if memory == 0 else 0.5 for memory in memories], succeeded, memories=memories))
    harms = dict(fit_runs(seen).harms)

    assert harms[0] > 0.2
    assert all(cost < harms[0] / 2 for memory, cost in harms.items() if memory)


def test_a_memory_that_merely_does_not_help_harms_little() -> None:
    seen = [run([0.05], False, memories=[1])] * 7 + [run([0.05], True, memories=[1])] * 3

    assert dict(fit_runs(runs(HELPED, UNHELPED, seed=5) + seen).harms).get(1, 0.0) < 0.1

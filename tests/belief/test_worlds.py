"""What projects of a tenant have in common is learned from the runs of all of them, by the stated formula."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from reasoningbank.belief.belief import within
from reasoningbank.belief.calibrated import STARTING
from reasoningbank.belief.effects import JudgedRun
from reasoningbank.belief.fitting import ProjectEvidence, fit
from reasoningbank.belief.quadrature import THETA, log_priors, normalised
from reasoningbank.belief.worlds import ALONE, LEAST, MEMORIES_OF_A_CLASS, WORLDS, Start, starting, told_by

HELPED, UNHELPED = 0.85, 0.35


def run(memories: list[int], succeeded: bool, about: float = 1.0) -> JudgedRun:
    many = len(memories)
    return JudgedRun(tuple(memories), (0.6,) * many, (about,) * many, succeeded)


def project(seed: int, *, differ: bool, lessons: int = 25, runs: int = 100) -> tuple[list[JudgedRun], dict[int, float]]:
    """Runs of a project whose lessons help always or never, or all of them in 60 % of the cases."""
    chance = random.Random(seed)
    theta = {n: float(chance.random() < 0.6) if differ else 0.6 for n in range(lessons)}
    found = []
    for _ in range(runs):
        handed = chance.sample(range(lessons), 1 + (chance.random() < 0.3))
        helped = any(chance.random() < theta[n] for n in handed)
        found.append(run(handed, chance.random() < (HELPED if helped else UNHELPED)))
    return found, dict.fromkeys(range(lessons), 0.6)


def test_where_no_two_runs_share_lessons_it_is_the_likelihood_itself() -> None:
    verdicts = [True, True, False]
    told = told_by([run([7], succeeded) for succeeded in verdicts], {7: 0.6})

    def likelihood(helped: float, unhelped: float, strength: float) -> float:
        success = within(1.0) * THETA * (helped - unhelped) + unhelped
        said = sum(np.log(success if succeeded else 1.0 - success) for succeeded in verdicts)
        mean = 0.6
        for _ in range(4):
            prior = log_priors(np.array([mean]), strength)
            mean = (MEMORIES_OF_A_CLASS * 0.6 + float((normalised(prior + said) @ THETA)[0])) / (
                MEMORIES_OF_A_CLASS + 1
            )
        prior = log_priors(np.array([mean]), strength)[0]
        return math.log(np.exp(prior + said).sum() / np.exp(prior).sum())

    stated = np.array([likelihood(*world) for world in WORLDS])
    assert told == pytest.approx((stated - stated.max()).tolist(), abs=1e-3)


def test_two_lessons_of_one_run_share_what_it_says() -> None:
    told = dict(zip(WORLDS, told_by([run([1, 2], True)], {1: 0.6, 2: 0.6}), strict=True))
    alone = dict(zip(WORLDS, told_by([run([1], True)], {1: 0.6}), strict=True))

    # That either of two helped was likelier from the start: the success says less of the worlds.
    assert max(told.values()) == max(alone.values()) == 0.0
    assert min(told.values()) > min(alone.values())


@pytest.mark.parametrize(("differ", "least", "most"), [(True, 0.0, 0.7), (False, 1.5, 99.0)])
def test_many_projects_tell_what_one_cannot(differ: bool, least: float, most: float) -> None:
    told = [told_by(*project(seed, differ=differ)) for seed in range(16)]

    together, alone = starting(told).parameters, starting(told[:1]).parameters

    assert least < together.strength < most
    assert abs(math.log(alone.strength / STARTING.strength)) < abs(math.log(together.strength / STARTING.strength))
    if differ:
        assert together.helped == pytest.approx(HELPED, abs=0.06)
        # Lessons that hardly ever help are not ones that never do: a little of S0 goes to their theta.
        assert UNHELPED - 0.2 < together.unhelped < UNHELPED + 0.05


def test_it_is_the_same_in_whatever_order_projects_tell() -> None:
    told = [told_by(*project(seed, differ=True, runs=30)) for seed in range(4)]

    one, other = starting(told).parameters, starting(told[::-1]).parameters

    assert one.strength == pytest.approx(other.strength)
    assert one.helped == pytest.approx(other.helped)


def test_nothing_told_or_what_cannot_be_read_is_where_every_project_starts() -> None:
    good = told_by(*project(1, differ=True))

    assert told_by([], {}) == told_by([run([1], True)], {2: 0.6}) == ()
    assert starting([]) == starting([[], [0.0], [math.nan] * len(WORLDS), [1.0] * len(WORLDS)]) == ALONE
    assert starting([good, [LEAST - 1.0] * len(WORLDS)]) == starting([good])


def test_the_more_projects_told_the_more_their_start_is_worth_against_a_projects_own_runs() -> None:
    learned = starting([told_by(*project(seed, differ=True)) for seed in range(2)]).parameters
    runs, initial = project(9, differ=False, runs=40)
    evidence = ProjectEvidence([((), each) for each in initial.values()], runs)

    few, many = (fit(evidence, Start(learned, projects)) for projects in (2, 40))

    assert fit(evidence) == fit(evidence, ALONE)
    assert abs(many.unhelped - learned.unhelped) < abs(few.unhelped - learned.unhelped)
    assert Start.of(Start(learned, 3).record()) == Start(learned, 3)

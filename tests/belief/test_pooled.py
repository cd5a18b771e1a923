"""What several projects saw of a lesson, and what was seen here, make one belief by the stated formula."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.belief.calibrated import CalibratedModel, log_likelihoods, weighted_counts
from reasoningbank.belief.pooled import PooledModel, mostly_fails
from reasoningbank.belief.quadrature import beliefs_of, log_priors
from reasoningbank.signals import SignalKind, Tally

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
MODEL = CalibratedModel()


def seen(project: str, good: float = 0, bad: float = 0, kind: SignalKind = SignalKind.OUTCOME) -> Tally:
    return Tally(kind=kind, day=20_000, source=project, by="", positive=good, negative=bad, last=NOON)


def mean(tallies: list[Tally], here: str | None = None, initial: float = 0.6) -> float:
    return PooledModel(MODEL, here).beliefs([(tallies, initial)])[0].mean


def test_a_lesson_that_only_this_project_saw_is_believed_as_one_of_its_own() -> None:
    tallies = [seen("here", 3, 1)]

    assert PooledModel(MODEL, "here").beliefs([(tallies, 0.6)]) == MODEL.beliefs([(tallies, 0.6)])
    assert PooledModel(MODEL, "here").beliefs([((), 0.6)]) == MODEL.beliefs([((), 0.6)])
    assert PooledModel(MODEL).beliefs([]) == []


def test_the_belief_is_that_of_the_formula() -> None:
    others, own = [seen("a", 1), seen("b", 2)], seen("here", 0, 4)
    # Neither says more than a vote: the pool is all they saw.
    together = MODEL.beliefs([(others, 0.6)])[0]
    n = MODEL.parameters.strength
    strength = n + n * (together.strength - n) / together.strength

    known = MODEL.parameters
    counts = weighted_counts([([own], 0.6)], {}, fading=known.fading, overlap=known.overlap)
    likelihood = counts @ log_likelihoods(known.accuracies, known.helped, known.unhelped)
    stated = beliefs_of(log_priors(np.array([together.mean]), strength) + likelihood)[0]

    assert PooledModel(MODEL, "here").beliefs([([*others, own], 0.6)])[0] == pytest.approx(stated)
    assert PooledModel(MODEL).beliefs([(others, 0.6)])[0] == pytest.approx(together)


@pytest.mark.parametrize("kind", [SignalKind.OUTCOME, SignalKind.EXPLICIT])
@pytest.mark.parametrize("loud", [10, 1_000, 100_000])
def test_one_noisy_project_does_not_outvote_ten(kind: SignalKind, loud: int) -> None:
    ten = [seen(f"p{i}", 1) for i in range(10)]
    noise = seen("noisy", 0, loud, kind)

    assert mean([*ten, noise]) > mean([])
    assert mean([*ten, noise]) > 0.5
    assert mean([*ten, seen("noisy", 0, 1_000_000, kind)]) == pytest.approx(mean([*ten, noise]), abs=0.02)


def test_a_lesson_that_helps_everywhere_but_here_is_provisional_here_and_proven_there() -> None:
    floor = 0.7
    everywhere = [seen(f"p{i}", 8, 1) for i in range(8)]
    here = seen("here", 1, 9)

    assert mean([*everywhere, here], "p1") >= floor
    assert mean(everywhere, "new") >= floor
    assert mean([*everywhere, here], "here") < floor


def test_use_alone_says_nothing() -> None:
    assert mean([seen("a", 50, kind=SignalKind.USAGE)], "here") == pytest.approx(mean([], "here"))


counts = st.floats(0, 30, allow_nan=False)
tallies = st.lists(
    st.builds(
        seen,
        st.sampled_from(["here", "a", "b", "c"]),
        counts,
        counts,
        st.sampled_from([SignalKind.OUTCOME, SignalKind.EXPLICIT, SignalKind.USAGE]),
    ),
    max_size=8,
)


@given(tallies, st.sampled_from([None, "here", "a"]))
def test_the_order_says_nothing(found: list[Tally], here: str | None) -> None:
    turned = found[::-1]

    assert mean(found, here) == pytest.approx(mean(turned, here), abs=1e-7)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 6))
def test_own_praise_never_lowers_a_belief_and_own_blame_never_raises_one(good: int, bad: int, others: int) -> None:
    pool = [seen(f"p{i}", 2) for i in range(others)]

    before = mean([*pool, seen("here", good, bad)], "here")

    assert mean([*pool, seen("here", good + 1, bad)], "here") >= before - 1e-9
    assert mean([*pool, seen("here", good, bad + 1)], "here") <= before + 1e-9


@pytest.mark.parametrize(
    ("found", "fails"),
    [
        ([], False),
        ([seen("a", 0, 9), seen("b", 0, 9)], False),
        ([seen("a", 0, 9), seen("b", 0, 9), seen("c", 9)], True),
        ([seen("a", 0, 9), seen("b", 9), seen("c", 9)], False),
        ([seen("a", 0, 9), seen("b", 0, 9), seen("c", 9), seen("d", 9)], False),
        ([seen("a", 0, 9), seen("b", 0, 9), seen("c", 9, kind=SignalKind.USAGE)], False),
    ],
)
def test_a_lesson_fails_in_most_projects_only_where_three_say_anything(found: list[Tally], fails: bool) -> None:
    assert mostly_fails(found, MODEL, 0.6, fewest=3, below=0.5) is fails


def test_what_is_learned_and_shared_out_is_that_of_the_model() -> None:
    model = PooledModel(MODEL, "here")

    assert model.parameters is MODEL.parameters
    assert model.shares([0.5, 0.9], True, [1.0, 1.0]) == MODEL.shares([0.5, 0.9], True, [1.0, 1.0])

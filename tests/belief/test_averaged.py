"""One set of parameters from the fits of several banks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.belief.averaged import averaged, is_plausible
from reasoningbank.belief.calibrated import STARTING, Parameters
from reasoningbank.belief.fitting import MOST_JUDGES

ACCURACIES = st.floats(0.5, 0.99)
JUDGES = st.dictionaries(st.sampled_from(["ada", "bob", "eve"]), ACCURACIES).map(lambda named: tuple(named.items()))
FITS = st.builds(
    lambda accuracy, judges, low, gain, means: replace(
        STARTING, accuracy=accuracy, judges=judges, unhelped=low, helped=low + gain, class_means=tuple(means.items())
    ),
    ACCURACIES,
    JUDGES,
    st.floats(0.02, 0.5),
    st.floats(0.02, 0.4),
    st.dictionaries(st.sampled_from([0.5, 0.6, 0.8]), st.floats(0.01, 0.99)),
)
WEIGHTED = st.lists(st.tuples(FITS, st.integers(0, 10**9).map(float)), min_size=1, max_size=5)


def test_one_fit_alone_is_taken_as_it_is() -> None:
    fit = replace(STARTING, helped=0.9, judges=(("ada", 0.8),), reporters=(("ci", 0.5),))

    assert averaged([(fit, 3.0)]) == fit


def test_a_fit_counts_by_its_weight_and_without_any_for_nothing() -> None:
    much, little = replace(STARTING, helped=0.9), replace(STARTING, helped=0.6)

    assert averaged([(much, 3.0), (little, 1.0)]).helped == pytest.approx(0.825)
    assert averaged([(much, 3.0), (little, 0.0)]) == much
    assert averaged([(much, 0.0)]) == averaged([]) == STARTING


def test_who_is_not_known_to_a_fit_counts_there_for_what_it_takes_anybody_for() -> None:
    knows = replace(STARTING, judges=(("ada", 0.6),), reporters=(("ci", 0.5),), class_means=((0.6, 0.2),))
    found = averaged([(knows, 1.0), (STARTING, 1.0)])

    assert dict(found.judges)["ada"] == pytest.approx((0.6 + STARTING.accuracy) / 2)
    assert dict(found.reporters)["ci"] == pytest.approx(0.75)
    assert dict(found.class_means)[0.6] == pytest.approx(0.4)


def test_of_many_judges_those_are_kept_that_most_evidence_knows() -> None:
    busy = replace(STARTING, judges=tuple((f"busy {n:02}", 0.8) for n in range(MOST_JUDGES)))
    found = averaged([(busy, 2.0), (replace(STARTING, judges=(("seldom", 0.7),)), 1.0)])

    assert found.judges[0][0] == "busy 00"
    assert len(found.judges) == MOST_JUDGES
    assert "seldom" not in dict(found.judges)


def test_what_is_about_single_memories_of_one_bank_is_left_out() -> None:
    fit = replace(STARTING, harms=((3, 0.5),), harmful=((3, 1),))

    assert averaged([(fit, 1.0)]) == STARTING


@given(fits=WEIGHTED)
def test_the_order_of_fits_changes_nothing_and_the_mean_is_a_fit_too(fits: list[tuple[Parameters, float]]) -> None:
    found = averaged(fits)

    assert averaged(fits[::-1]) == found
    assert is_plausible(found)


@pytest.mark.parametrize(
    "said",
    [
        {"accuracy": 0.999},
        {"strength": 1e9},
        {"unhelped": 0.001},
        {"helped": 0.9999},
        {"offset": 50.0},
        {"slope": 90.0},
        {"fading": 0.1},
        {"class_means": ((7.0, 0.5),)},
        {"class_means": tuple((n / 100, 0.5) for n in range(99))},
        {"judges": tuple((str(n), 0.9) for n in range(99))},
        {"reporters": tuple((str(n), 0.9) for n in range(99))},
    ],
)
def test_what_no_fit_can_give_is_not_plausible(said: dict[str, float]) -> None:
    assert is_plausible(STARTING)
    assert not is_plausible(replace(STARTING, **said))  # type: ignore[arg-type]

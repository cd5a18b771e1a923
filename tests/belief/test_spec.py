"""The spec model, number by number. The vectors carry the numbers they are published under."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reasoningbank.belief.belief import Beta
from reasoningbank.belief.spec import SignalWeights, SpecModel, spec_beta
from reasoningbank.signals import SignalKind, Tally

EXPLICIT, USAGE, OUTCOME = SignalKind.EXPLICIT, SignalKind.USAGE, SignalKind.OUTCOME
WHEN = datetime(2026, 3, 1, tzinfo=UTC)
START = SignalWeights()


def tallies(text: str, day: int = 0) -> list[Tally]:
    """Read evidence such as "E+3 O-" : kind, sign, how many."""
    read = []
    for word in text.split():
        many = float(word[2:] or 1)
        positive, negative = (many, 0.0) if word[1] == "+" else (0.0, many)
        read.append(
            Tally(SignalKind({"E": EXPLICIT, "U": USAGE, "O": OUTCOME}[word[0]]), day, "", "", positive, negative, WHEN)
        )
    return read


def weights_of(weights: SignalWeights) -> list[float]:
    return [weights.weight(kind) for kind in (EXPLICIT, USAGE, OUTCOME)]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        pytest.param(START, (0.411765, 0.294118, 0.294118), id="1 at the start"),
        pytest.param(SignalWeights(usage=Beta(6, 5)), (0.401042, 0.312500, 0.286458), id="28 usage 6:5"),
        pytest.param(SignalWeights(usage=Beta(5, 6)), (0.423077, 0.274725, 0.302198), id="29 usage 5:6"),
        pytest.param(
            SignalWeights(usage=Beta(6, 5), outcome=Beta(6, 5)), (0.390863, 0.304569, 0.304569), id="30 both 6:5"
        ),
        pytest.param(SignalWeights(usage=Beta(10, 5)), (0.375000, 0.357143, 0.267857), id="31 usage 10:5"),
        pytest.param(SignalWeights(outcome=Beta(15, 5)), (0.358974, 0.256410, 0.384615), id="32 outcome 15:5"),
    ],
)
def test_weights_are_the_means_of_the_pairs_and_add_up_to_one(
    weights: SignalWeights, expected: tuple[float, ...]
) -> None:
    assert weights_of(weights) == pytest.approx(expected, abs=1e-6)
    assert sum(weights_of(weights)) == pytest.approx(1.0)


def test_2_explicit_outweighs_usage_and_outcome_which_are_equal() -> None:
    explicit, usage, outcome = weights_of(START)
    assert explicit > usage == outcome


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        pytest.param("", 0.5, id="3"),
        pytest.param("E+", 0.585366, id="4"),
        pytest.param("E-", 0.414634, id="5"),
        pytest.param("U+", 0.564103, id="6+"),
        pytest.param("U-", 0.435897, id="6-"),
        pytest.param("O+", 0.564103, id="7+"),
        pytest.param("O-", 0.435897, id="7-"),
        pytest.param("E+ U+ O+", 0.666667, id="8"),
        pytest.param("E+ U+ O+ E- O-", 0.539683, id="9"),
        pytest.param("E+2", 0.645833, id="10 twice"),
        pytest.param("E+3", 0.690909, id="10 and 11: three are not enough for 0.7"),
        pytest.param("E+4", 0.725806, id="10 and 11: four are"),
        pytest.param("E+5", 0.753623, id="10 five times"),
        pytest.param("E+6", 0.776316, id="10 six times"),
        pytest.param("U+4", 0.685185, id="12 four"),
        pytest.param("U+5", 0.711864, id="12 and 11: five uses reach 0.7"),
        pytest.param("O+5", 0.711864, id="11 five outcomes reach 0.7"),
        pytest.param("U+10", 0.797619, id="12 ten"),
        pytest.param("O+3", 0.653061, id="13"),
        pytest.param("E+ O-", 0.521739, id="14"),
        pytest.param("E+ U+ O-", 0.568627, id="15"),
        pytest.param("U+10 E-", 0.736264, id="16"),
        pytest.param("E+5 E- U+10 U-2 O+3 O-", 0.750000, id="17"),
        pytest.param("E+5 E- U+10 U-2 O+3 O- E+ U+ O-", 0.745665, id="18"),
        pytest.param("E+10", 0.836538, id="19"),
    ],
)
def test_confidence_is_the_mean_of_weighted_counts_over_a_uniform_prior(evidence: str, expected: float) -> None:
    assert spec_beta(START, tallies(evidence)).mean == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("evidence", "alpha", "beta"),
    [
        pytest.param("E+", 1.411765, 1.0, id="4"),
        pytest.param("E+ U+ O+", 2.0, 1.0, id="8"),
        pytest.param("E+ U+ O+ E- O-", 2.0, 1.705882, id="9"),
        pytest.param("E+5 E- U+10 U-2 O+3 O-", 6.882353, 2.294118, id="17"),
        pytest.param("E+5 E- U+10 U-2 O+3 O- E+ U+ O-", 7.588235, 2.588235, id="18"),
    ],
)
def test_alpha_and_beta_are_the_published_ones(evidence: str, alpha: float, beta: float) -> None:
    found = spec_beta(START, tallies(evidence))
    assert (found.alpha, found.beta) == pytest.approx((alpha, beta), abs=1e-6)


def test_20_a_kind_that_came_later_leaves_the_three_published_weights_alone() -> None:
    assert weights_of(SignalWeights(stability=Beta(50, 1))) == weights_of(START)
    assert START.weight(SignalKind.STABILITY) == pytest.approx(0.294118, abs=1e-6)


def test_21_one_praise_throws_the_initial_confidence_away_and_falls_below_the_floor() -> None:
    assert SpecModel().beliefs([(tallies("E+"), 0.8)])[0].mean == pytest.approx(0.585366, abs=1e-6)


def test_22_rounded_weights_give_the_published_example() -> None:
    a, b = 1.0, 1.0
    means = []
    for weight in (0.33, 0.33, 0.40):
        a += weight
        means.append(a / (a + b))
    assert means == pytest.approx([0.570815, 0.624060, 0.673203], abs=1e-6)


@pytest.mark.parametrize(
    ("learned", "expected"),
    [
        pytest.param(START.taught(USAGE, 1, 0), SignalWeights(usage=Beta(6, 5)), id="23"),
        pytest.param(START.taught(USAGE, 0, 1), SignalWeights(usage=Beta(5, 6)), id="24"),
        pytest.param(START.taught(OUTCOME, 1, 0), SignalWeights(outcome=Beta(6, 5)), id="25 helpful"),
        pytest.param(START.taught(OUTCOME, 0, 1), SignalWeights(outcome=Beta(5, 6)), id="25 unhelpful"),
    ],
)
def test_a_vote_is_one_step_of_the_kinds_that_it_confirms_or_refutes(
    learned: SignalWeights, expected: SignalWeights
) -> None:
    assert learned == expected


@pytest.mark.parametrize(("times", "kind"), [(5, USAGE), (10, OUTCOME)])
def test_31_32_correct_predictions_raise_the_weight_of_their_kind(times: int, kind: SignalKind) -> None:
    assert START.taught(kind, times, 0).weight(kind) > START.weight(kind)


@pytest.mark.parametrize(
    ("helpful", "evidence", "expected"),
    [pytest.param(True, "U+ E+", 0.631478, id="33"), pytest.param(False, "U+ E-", 0.472505, id="34")],
)
def test_a_vote_after_a_use_moves_weights_and_confidence(helpful: bool, evidence: str, expected: float) -> None:
    model = SpecModel(START.taught(USAGE, helpful, not helpful))
    assert model.beliefs([(tallies(evidence), 0.8)])[0].mean == pytest.approx(expected, abs=1e-6)


def test_36_37_38_evidence_counts_alike_however_old_it_is_and_however_it_is_summed() -> None:
    apart = tallies("E+", day=-31) + tallies("E+", day=0)
    assert spec_beta(START, apart).mean == pytest.approx(0.645833, abs=1e-6)
    assert spec_beta(START, tallies("E+2")).mean == pytest.approx(0.645833, abs=1e-6)


@pytest.mark.parametrize(
    ("initial", "evidence", "expected"),
    [
        pytest.param(c0, evidence, expected, id=f"{number} {evidence or 'none'}")
        for number, c0, row in [
            ("44", 0.8, (0.8, 0.834146, 0.663415, 0.566667, 0.825641, 0.697436, 0.861224, 0.753571)),
            ("46", 0.6, (0.6, 0.668293, 0.497561, 0.425000, 0.651282, 0.523077, 0.722449, 0.632143)),
            ("48", 0.5, (0.5, 0.585366, 0.414634, 0.354167, 0.564103, 0.435897, 0.653061, 0.571429)),
        ]
        for evidence, expected in zip(("", "E+", "E-", "E-2", "O+", "O-", "U+3", "E- U+3"), row, strict=True)
    ],
)
def test_keep_prior_starts_from_the_initial_confidence(initial: float, evidence: str, expected: float) -> None:
    model = SpecModel(keep_prior=True)
    assert model.beliefs([(tallies(evidence), initial)])[0].mean == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("initial", "evidence", "expected"),
    [
        pytest.param(c0, evidence, expected, id=f"{number} {evidence or 'none'}")
        for number, c0, row in [
            ("45", 0.8, (0.8, 0.818667, 0.725333, 0.663415, 0.813699, 0.745205, 0.836145, 0.771111)),
            ("47", 0.6, (0.6, 0.637333, 0.544000, 0.497561, 0.627397, 0.558904, 0.672289, 0.620000)),
        ]
        for evidence, expected in zip(("", "E+", "E-", "E-2", "O+", "O-", "U+3", "E- U+3"), row, strict=True)
    ],
)
def test_a_kept_prior_may_be_worth_four_observations(initial: float, evidence: str, expected: float) -> None:
    prior = Beta(4 * initial, 4 * (1 - initial))
    assert spec_beta(START, tallies(evidence), prior).mean == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("initial", [0.8, 0.6, 0.5])
def test_a_memory_that_was_only_used_keeps_its_initial_confidence(initial: float) -> None:
    assert SpecModel().beliefs([(tallies("U+100"), initial)])[0].mean == pytest.approx(initial, abs=1e-6)
    assert SpecModel().beliefs([([], initial)])[0].mean == pytest.approx(initial, abs=1e-6)


def test_a_vote_takes_its_time_to_lift_a_memory_over_the_floor() -> None:
    model = SpecModel()
    means = [model.beliefs([(tallies(f"E+{n}"), 0.6)])[0].mean for n in (1, 2, 3, 4)]
    assert [mean >= 0.7 for mean in means] == [False, False, False, True]

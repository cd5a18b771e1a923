"""The calibrated model's laws, as properties, and the cases it was made for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.belief.belief import Standing, outcome_shares, standing
from reasoningbank.belief.calibrated import STARTING, CalibratedModel, Parameters
from reasoningbank.signals import SignalKind, Tally

MODEL = CalibratedModel()
FIRST_DAY = -719_162  # 0001-01-01
LAST_DAY = 2_932_896  # 9999-12-31
# Equal beliefs computed from sums in another order differ by rounding only.
ROUNDING = 1e-9


def tally(kind: SignalKind, positive: float, negative: float, day: int = 0) -> Tally:
    return Tally(kind, day, "", "", positive, negative, datetime(2026, 3, 1, tzinfo=UTC))


def votes(positive: float, negative: float, day: int = 0) -> Tally:
    return tally(SignalKind.EXPLICIT, positive, negative, day)


def outcomes(positive: float, negative: float, day: int = 0) -> Tally:
    return tally(SignalKind.OUTCOME, positive, negative, day)


def uses(many: float, day: int = 0) -> Tally:
    return tally(SignalKind.USAGE, many, 0.0, day)


def mean(*tallies: Tally, initial: float = 0.6) -> float:
    return MODEL.beliefs([(tallies, initial)])[0].mean


amounts = st.floats(0.0, 50.0) | st.integers(0, 5).map(float)
days = st.integers(FIRST_DAY, LAST_DAY) | st.integers(20_000, 20_005)
kinds = st.sampled_from(SignalKind)
evidence = st.lists(st.builds(tally, kinds, amounts, amounts, days), max_size=8)
initials = st.floats(0.0, 1.0)
judged = st.sampled_from([SignalKind.EXPLICIT, SignalKind.OUTCOME, SignalKind.STABILITY])


@given(evidence, initials, st.randoms(use_true_random=False))
def test_the_order_of_signals_does_not_matter(tallies: list[Tally], initial: float, random: object) -> None:
    assert mean(*tallies, initial=initial) == pytest.approx(mean(*tallies[::-1], initial=initial), abs=ROUNDING)


@given(evidence, initials, judged, st.floats(0.01, 1.0), days)
def test_praise_never_lowers(tallies: list[Tally], initial: float, kind: SignalKind, many: float, day: int) -> None:
    praised = mean(*tallies, tally(kind, many, 0.0, day), initial=initial)
    assert praised >= mean(*tallies, initial=initial) - ROUNDING


@given(evidence, initials, judged, st.floats(0.01, 1.0), days)
def test_blame_never_raises(tallies: list[Tally], initial: float, kind: SignalKind, many: float, day: int) -> None:
    blamed = mean(*tallies, tally(kind, 0.0, many, day), initial=initial)
    assert blamed <= mean(*tallies, initial=initial) + ROUNDING


@given(evidence, initials)
def test_every_belief_is_finite_and_strictly_inside_zero_and_one(tallies: list[Tally], initial: float) -> None:
    found = MODEL.beliefs([(tallies, initial)])[0]
    assert 0.0 < found.mean < 1.0
    assert 0.0 < found.low <= found.high < 1.0
    assert 0.0 < found.deviation <= 0.5
    assert 0.0 < found.strength < float("inf")


@given(evidence, initials, st.floats(0.0, 1.0))
def test_every_memory_has_exactly_one_standing(tallies: list[Tally], initial: float, floor: float) -> None:
    assert standing(MODEL.beliefs([(tallies, initial)])[0], floor) in Standing


@given(st.sampled_from([SignalKind.EXPLICIT, SignalKind.OUTCOME]), st.integers(1, 30), st.sampled_from([0.5, 0.6, 0.8]))
def test_more_of_the_same_evidence_moves_less(kind: SignalKind, many: int, initial: float) -> None:
    steps = [mean(tally(kind, float(n), 0.0), initial=initial) for n in (many, many + 1, many + 2)]
    assert steps[1] - steps[0] > steps[2] - steps[1] > 0.0


@given(evidence, initials)
def test_one_tally_of_two_signals_is_worth_two_tallies_of_one(tallies: list[Tally], initial: float) -> None:
    split = [tally(t.kind, t.positive / 2, t.negative / 2, t.day) for t in tallies for _ in range(2)]
    assert mean(*split, initial=initial) == pytest.approx(mean(*tallies, initial=initial), abs=1e-6)


@pytest.mark.parametrize("initial", [0.5, 0.6, 0.8, 0.95])
def test_without_evidence_the_belief_is_the_initial_confidence(initial: float) -> None:
    assert mean(initial=initial) == pytest.approx(initial, abs=1e-4)


def test_a_batch_gives_what_its_memories_give_one_by_one() -> None:
    items = [((votes(3, 1), uses(2, 1)), 0.6), ((), 0.8), ((outcomes(0, 2),), 0.5)]
    assert [b.mean for b in MODEL.beliefs(items)] == pytest.approx([mean(*t, initial=c) for t, c in items])
    assert MODEL.beliefs([]) == []


@pytest.mark.parametrize("initial", [0.5, 0.6, 0.8])
def test_the_first_bad_shared_outcome_never_rejects_a_new_lesson(initial: float) -> None:
    for companions in ([], [0.01], [0.99], [0.6, 0.6]):
        share = outcome_shares([initial, *companions], False)[0]
        found = MODEL.beliefs([([outcomes(0.0, share)], initial)])[0]
        assert standing(found, 0.7) is not Standing.REJECTED


def test_praise_keeps_a_memory_recorded_by_hand_above_the_floor() -> None:
    assert mean(votes(1, 0), initial=0.8) > 0.8


strengths = st.floats(0.05, 1.0)
parameters = st.builds(
    Parameters,
    accuracy=st.floats(0.5, 0.99),
    helped=st.floats(0.5, 0.99),
    unhelped=st.floats(0.01, 0.45),
    strength=st.floats(0.3, 30.0),
    judges=st.sampled_from([(), (("mallory", 0.5),), (("ann", 0.95), ("ben", 0.6))]),
)


votes_in_runs = st.tuples(st.booleans(), st.booleans(), st.sampled_from(["", "mallory", "ben"]))


@given(evidence, initials, parameters, strengths, votes_in_runs)
def test_a_vote_never_moves_the_belief_the_other_way_though_it_supersedes_an_outcome(
    tallies: list[Tally], initial: float, learned: Parameters, share: float, judged: tuple[bool, bool, str]
) -> None:
    good, succeeded, by = judged
    outcome = tally(SignalKind.OUTCOME, share * succeeded, share * (not succeeded))
    vote = Tally(SignalKind.EXPLICIT, 0, "", by, float(good), float(not good), outcome.last)
    before, after = (
        belief.mean
        for belief in CalibratedModel(learned).beliefs(
            [((*tallies, outcome), initial), ((*tallies, replace(outcome, superseded=True), vote), initial)]
        )
    )

    assert after >= before - ROUNDING if good else after <= before + ROUNDING


def test_a_vote_of_the_usual_accuracy_supersedes_the_outcome_of_its_run_altogether() -> None:
    outcome = replace(outcomes(0, 1), superseded=True)

    assert STARTING.overlap == 0.0
    assert mean(votes(1, 0), outcome) == mean(votes(1, 0))


def test_votes_that_say_less_than_outcomes_leave_them_part_of_their_weight() -> None:
    assert Parameters(accuracy=0.6, helped=0.9, unhelped=0.1).overlap == pytest.approx(1.0 - 0.5 / 8.0)
    assert Parameters(judges=(("mallory", 0.5),)).overlap == 1.0


def test_votes_of_known_judges_count_by_their_own_accuracy() -> None:
    model = CalibratedModel(Parameters(judges=(("ann", 0.95), ("mallory", 0.5))))
    nobody, ann, mallory = (
        belief.mean for belief in model.beliefs([([replace(votes(1, 0), by=by)], 0.6) for by in ("", "ann", "mallory")])
    )

    assert ann > nobody > mallory == pytest.approx(0.6, abs=1e-4)


def test_two_hundred_bare_uses_lift_nothing() -> None:
    assert mean(uses(200), initial=0.6) == pytest.approx(0.6, abs=1e-4)
    assert mean(uses(200), initial=0.6) < mean(outcomes(5, 0), initial=0.6)


def test_a_memory_that_went_stale_falls_and_an_idle_one_stays() -> None:
    loved = votes(12, 0, day=0)
    failing = [uses(3, day=d) for d in range(1, 11)] + [outcomes(0, 3, day=d) for d in range(1, 11)]
    assert mean(loved, *failing) < mean(loved, outcomes(0, 30, day=0))
    assert mean(loved) == mean(votes(12, 0, day=-40_000))


def test_a_use_fades_what_was_known_before_its_day_only() -> None:
    assert mean(votes(5, 0, day=3), uses(10, day=3)) == mean(votes(5, 0, day=3))
    assert mean(votes(5, 0, day=3), uses(10, day=2)) == mean(votes(5, 0, day=3))
    assert mean(votes(5, 0, day=3), uses(10, day=4)) < mean(votes(5, 0, day=3))

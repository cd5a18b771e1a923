"""What a project's evidence teaches about its evidence."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank.belief.calibrated import STARTING, CalibratedModel, Parameters
from reasoningbank.belief.fitting import MOST_JUDGES, ProjectEvidence, fit, fit_memories, is_due
from reasoningbank.signals import SignalKind, Tally
from tests.belief.lived import run, runs

WHEN = datetime(2026, 3, 1, tzinfo=UTC)
Memory = tuple[list[Tally], float]


def tally(kind: SignalKind, good: bool, by: str = "", day: int = 0) -> Tally:
    return Tally(kind, day, "", by, float(good), float(not good), WHEN)


def voted_memories(
    accuracies: dict[str, float], *, seed: int, memories: int = 300, uses: int = 12, initial: float = 0.6
) -> list[Memory]:
    """Memories that help with a chance of their own, used and voted upon by these judges."""
    chance, found = random.Random(seed), []
    for _ in range(memories):
        usefulness, tallies = chance.betavariate(1.2, 0.8), []
        for day in range(uses):
            helped = chance.random() < usefulness
            succeeded = chance.random() < (0.85 if helped else 0.3)
            tallies.append(tally(SignalKind.OUTCOME, succeeded, day=day))
            judge = chance.choice(list(accuracies))
            right = chance.random() < accuracies[judge]
            tallies.append(tally(SignalKind.EXPLICIT, helped == right, judge, day))
        found.append((tallies, initial))
    return found


def test_a_project_without_evidence_is_where_every_project_starts() -> None:
    assert fit(ProjectEvidence([])) == STARTING
    used = fit(ProjectEvidence([([], 0.6), ([Tally(SignalKind.USAGE, 0, "", "", 3, 0, WHEN)], 0.8)]))

    assert used == replace(STARTING, reported=used.reported, voted=used.voted)


def test_how_many_uses_are_reported_and_voted_on_is_learned() -> None:
    uses = Tally(SignalKind.USAGE, 0, "", "", 1000, 0, WHEN)
    votes = [tally(SignalKind.EXPLICIT, True)] * 200
    found = fit(ProjectEvidence([([uses, *votes], 0.6)], runs(0.8, 0.4, seed=1, many=200)))
    seen = sum(len(run.memories) for run in runs(0.8, 0.4, seed=1, many=200))

    assert found.voted == pytest.approx(0.2, abs=0.01)
    assert found.reported == pytest.approx(seen / 1000, abs=0.01)


@pytest.mark.parametrize("accuracy", [0.95, 0.8, 0.7])
def test_how_often_votes_are_right_is_learned(accuracy: float) -> None:
    found = fit_memories(voted_memories({"": accuracy}, seed=3), Parameters(helped=0.85, unhelped=0.3))

    assert found.accuracy == pytest.approx(accuracy, abs=0.06)
    assert found.judges == ()


def test_a_hostile_judge_is_found_out_and_the_others_keep_their_say() -> None:
    honest = {"ann": 0.9, "ben": 0.85, "cat": 0.9}
    found = fit_memories(voted_memories(honest | {"mallory": 0.1}, seed=4), Parameters(helped=0.85, unhelped=0.3))
    accuracies = dict(found.judges)

    assert accuracies["mallory"] == 0.5
    assert all(accuracies[name] > 0.8 for name in honest)
    blamed = [([tally(SignalKind.EXPLICIT, False, by)], 0.6) for by in ("mallory", "ann")]
    untouched, believed = CalibratedModel(found).beliefs(blamed)
    assert untouched.mean > 0.55 > believed.mean


def test_a_judge_with_few_votes_stands_with_the_others() -> None:
    votes = [tally(SignalKind.EXPLICIT, True, "new")] * 4 + [tally(SignalKind.EXPLICIT, True, "old")] * 5

    assert [name for name, _ in fit_memories([(votes, 0.6)], STARTING).judges] == ["old"]


def test_of_very_many_judges_those_with_the_most_votes_are_told_apart() -> None:
    votes = [tally(SignalKind.EXPLICIT, True, f"judge {n:02}") for n in range(40) for _ in range(5 + n % 3)]
    judges = fit_memories([(votes, 0.6)], STARTING).judges

    assert len(judges) == MOST_JUDGES
    assert judges[0][0] == "judge 02"


def test_class_means_move_from_the_initial_confidence_to_what_was_seen() -> None:
    useful = [([tally(SignalKind.EXPLICIT, True)] * 6, 0.5)] * 60
    useless = [([tally(SignalKind.EXPLICIT, False)] * 6, 0.8)] * 60
    found = fit_memories(useful + useless, STARTING)
    new_hand, new_failure = CalibratedModel(found).beliefs([([], 0.8), ([], 0.5)])

    assert new_failure.mean > 0.7
    assert new_hand.mean < 0.3


def test_a_class_that_nothing_is_known_of_is_taken_at_its_word() -> None:
    found = fit_memories([([tally(SignalKind.EXPLICIT, True)] * 3, 0.6)], STARTING)

    assert CalibratedModel(found).beliefs([([], 0.4)])[0].mean == pytest.approx(0.4, abs=1e-4)


def test_the_more_alike_memories_are_the_more_their_class_counts() -> None:
    def strength(alpha: float, beta: float) -> float:
        chance, memories = random.Random(5), []
        for _ in range(400):
            p = chance.betavariate(alpha, beta)
            memories.append(([tally(SignalKind.EXPLICIT, chance.random() < p) for _ in range(12)], 0.6))
        return fit_memories(memories, STARTING).strength

    assert strength(0.3, 0.2) < 1.0 < STARTING.strength < strength(20.0, 10.0)


def test_parameters_come_back_from_their_record() -> None:
    learned = replace(STARTING, judges=(("ann", 0.9),), harmful=((3, 1),), harms=((4, 0.2),))

    assert Parameters.of(json.loads(json.dumps(learned.record()))) == learned


@given(st.randoms(use_true_random=False))
@settings(max_examples=5)
def test_the_order_of_memories_and_signals_teaches_nothing(shuffle: random.Random) -> None:
    memories = voted_memories({"ann": 0.9, "ben": 0.7}, seed=6, memories=20)
    seen = runs(0.8, 0.4, seed=7, many=100)
    before = fit(ProjectEvidence(memories, seen))
    shuffle.shuffle(seen)
    mixed = [(shuffle.sample(tallies, len(tallies)), initial) for tallies, initial in memories]
    shuffle.shuffle(mixed)
    after = fit(ProjectEvidence(mixed, seen))

    for name in ("accuracy", "helped", "unhelped", "strength", "offset", "slope", "reported", "voted"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), abs=1e-9)
    assert dict(after.judges) == pytest.approx(dict(before.judges), abs=1e-9)


@given(
    st.lists(
        st.tuples(st.lists(st.builds(tally, st.sampled_from(SignalKind), st.booleans()), max_size=5), st.floats(0, 1)),
        max_size=4,
    ),
    st.lists(st.tuples(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=3), st.booleans()), max_size=20),
)
def test_whatever_the_evidence_the_parameters_are_usable(
    memories: list[Memory], told: list[tuple[list[tuple[float, float]], bool]]
) -> None:
    seen = [run([c for c, _ in served], ok, [about for _, about in served]) for served, ok in told]
    found = fit(ProjectEvidence(memories, seen))

    assert 0.5 <= found.accuracy < 1.0
    assert 0.0 < found.unhelped < found.helped < 1.0
    assert 0.0 < found.strength < 100.0
    assert 0.0 <= found.overlap <= 1.0
    assert all(0.0 < mean < 1.0 for _, mean in found.class_means)
    assert Parameters.of(json.loads(json.dumps(found.record()))) == found


@pytest.mark.parametrize(
    "change",
    [
        {"accuracy": 0.4},
        {"helped": 0.2, "unhelped": 0.3},
        {"class_means": [[0.6, 1.0]]},
        {"class_means": [0.6]},
        {"judges": None},
        {"judges": [["ann", float("nan")]]},
        {"strength": 0},
        {"strength": "strong"},
        {"fading": 1.5},
        {"slope": float("inf")},
        {"voted": 1.5},
        {"harms": [7]},
    ],
    ids=str,
)
def test_parameters_that_no_model_could_work_with_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="parameters of the confidence model"):
        Parameters.of(STARTING.record() | change)


def test_fitting_again_is_due_after_50_changes_or_a_tenth_more() -> None:
    assert [is_due(n, 0) for n in (49, 50)] == [False, True]
    assert [is_due(n, 1000) for n in (1099, 1100)] == [False, True]

"""What is merged, whose text is kept, and what is believed of it. The vectors carry the numbers they are known by."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import Verdict
from reasoningbank.memory import Source
from reasoningbank.upkeep.consolidation import Lesson, Pair, complete_link, merged_confidence, proposals
from reasoningbank.upkeep.likeness import wording

WHEN = datetime(2026, 3, 1, tzinfo=UTC)
CRAWLER = Source(by="crawler", trusted=False)


def lesson(name: str, says: str = "Put paths in quotes", **changes: object) -> Lesson:
    made = Lesson(name, Verdict.SUCCESS, Source(), wording(says), None, 0.7, 0, WHEN, says)
    return replace(made, **changes)  # type: ignore[arg-type]


def kinds(*lessons: Lesson) -> list[tuple[str, tuple[str, ...]]]:
    """What is proposed for lessons that are all near to each other."""
    pairs = [Pair(i, j, 0.9) for i in range(len(lessons)) for j in range(i + 1, len(lessons))]
    found = proposals(lessons, pairs)
    asked = [("asked", change.memories) for change in found.asked]
    return [*((change.link or change.kind, change.memories) for change in (*found.merges, *found.links)), *asked]


# -- confidence ----------------------------------------------------------------------------------------------------


def unused(*confidences: float) -> list[tuple[float, int]]:
    return [(confidence, 0) for confidence in confidences]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        pytest.param([], 0.6, id="93"),
        pytest.param(unused(0.75), 0.75, id="94"),
        pytest.param(unused(0.8, 0.8), 0.82, id="95"),
        pytest.param(unused(*[0.9] * 10), 1.0, id="96 nines"),
        pytest.param(unused(*[0.95] * 10), 1.0, id="96 clamped"),
        pytest.param(unused(0.80, 0.82, 0.79, 0.81), 0.844106, id="97"),
        pytest.param(unused(0.2, 0.9, 0.5), 0.546129, id="98"),
        pytest.param([(0.8, 10), (0.8, 0)], 0.82, id="99"),
        pytest.param([(0.9, 10), (0.5, 0)], 0.878667, id="100"),
        pytest.param(unused(0.0, 0.0, 0.0), 0.03, id="101"),
        pytest.param([(0.85, 8), (0.88, 5), (0.83, 12), (0.86, 3), (0.87, 6)], 0.900844, id="102"),
        pytest.param([(0.9, 10), (0.5, 1), (0.7, 5)], 0.814939, id="103"),
        pytest.param([(0.75, 10), (0.82, 8), (0.70, 15)], 0.772325, id="104"),
        pytest.param(unused(0.75, 0.85), 0.818, id="105 some agreement"),
        pytest.param(unused(0.6, 1.0), 0.812, id="105 little agreement"),
        pytest.param(unused(*[0.8] * 5), 0.85, id="106 five"),
        pytest.param(unused(*[0.8] * 10), 0.90, id="106 ten"),
    ],
)
def test_the_merged_confidence_weighs_uses_and_rewards_agreement(
    sources: list[tuple[float, int]], expected: float
) -> None:
    assert merged_confidence(sources) == pytest.approx(expected, abs=1e-6)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1000)), max_size=20))
def test_the_merged_confidence_stays_in_bounds(sources: list[tuple[float, int]]) -> None:
    assert 0.0 <= merged_confidence(sources) <= 1.0


# -- merges ----------------------------------------------------------------------------------------------------------


def test_the_text_that_is_kept_is_the_best_believed_then_the_most_used_then_the_oldest() -> None:
    later = WHEN + timedelta(days=1)
    best, used, old, young = (
        lesson("best", confidence=0.9),
        lesson("used", uses=3),
        lesson("old"),
        lesson("young", made=later),
    )

    assert kinds(young, old, used, best) == [("merge", ("best", "used", "old", "young"))]


def test_a_success_and_a_failure_that_say_the_same_are_linked_and_never_merged() -> None:
    assert kinds(lesson("a"), lesson("b", outcome=Verdict.FAILURE)) == [("contradicts", ("a", "b"))]


def test_opposites_are_linked_and_never_merged() -> None:
    assert kinds(lesson("b"), lesson("a", "Never put paths in quotes")) == [("contradicts", ("a", "b"))]


def test_what_applies_at_other_times_is_not_merged() -> None:
    def applying(name: str, when: str) -> Lesson:
        return lesson(name, applies=wording(when), when=when)

    early, late = "before the release of version 2", "after the release of version 3"

    assert kinds(applying("a", early), applying("b", late)) == []
    assert kinds(applying("a", early), applying("b", early)) == [("merge", ("a", "b"))]
    assert kinds(applying("a", early), lesson("b")) == [("asked", ("a", "b"))]


def test_an_untrusted_lesson_is_merged_with_none_of_another_source() -> None:
    assert kinds(lesson("a"), lesson("b", source=CRAWLER)) == []
    assert kinds(lesson("a", source=Source(by="x", trusted=False)), lesson("b", source=CRAWLER)) == []
    assert kinds(lesson("a", source=CRAWLER), lesson("b", source=CRAWLER)) == [("merge", ("a", "b"))]


def test_what_says_the_same_in_other_words_is_asked_about() -> None:
    said, reworded = "Find the file `a.txt` and read it", "Search for the file `a.txt` and read it"

    assert kinds(lesson("a", said), lesson("b", reworded)) == [("asked", ("a", "b"))]


def test_what_is_merged_beyond_doubt_is_in_no_proposal() -> None:
    said, reworded = "Find the file `a.txt` and read it", "Search for the file `a.txt` and read it"
    found = kinds(lesson("a", said), lesson("b", said.replace("`", "")), lesson("c", reworded))

    assert found == [("merge", ("a", "b"))]


def test_merges_and_proposals_together_are_no_more_than_asked_for() -> None:
    lessons = [lesson("a"), lesson("b"), lesson("c", "Find the file"), lesson("d", "Search for the file")]
    pairs = [Pair(0, 1, 0.9), Pair(2, 3, 0.95)]

    assert [len(proposals(lessons, pairs, most).asked) for most in (0, 1, 2)] == [0, 0, 1]


def test_a_chain_of_neighbours_is_not_one_group() -> None:
    lessons = [lesson(name) for name in "abc"]

    assert complete_link([Pair(0, 1, 0.9), Pair(1, 2, 0.95)], lessons) == [(1, 2)]
    assert complete_link([Pair(0, 1, 0.9), Pair(1, 2, 0.95), Pair(0, 2, 0.8)], lessons) == [(0, 1, 2)]


def test_112_the_similarity_of_a_merge_is_the_least_of_any_two() -> None:
    lessons = [lesson(name) for name in "abc"]
    (change,) = proposals(lessons, [Pair(0, 1, 0.87), Pair(0, 2, 0.84), Pair(1, 2, 0.89)]).merges

    assert change.similarity == 0.84


def test_110_no_more_merges_than_asked_for() -> None:
    lessons = [lesson("a"), lesson("b"), lesson("c", "Pin versions"), lesson("d", "Pin versions")]
    pairs = [Pair(0, 1, 0.9), Pair(2, 3, 0.95)]

    assert [change.memories for change in proposals(lessons, pairs, 1).merges] == [("c", "d")]
    assert proposals(lessons, pairs, 0).merges == ()
    assert len(proposals(lessons, pairs).merges) == 2


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0.5, 1)), max_size=20))
def test_in_every_group_every_two_are_a_pair_and_no_lesson_is_in_two(found: list[tuple[int, int, float]]) -> None:
    pairs = [Pair(min(a, b), max(a, b), cosine) for a, b, cosine in found if a != b]
    groups = complete_link(pairs, [lesson(str(i)) for i in range(8)])
    linked = {(pair.first, pair.second) for pair in pairs}

    assert all((a, b) in linked for group in groups for a in group for b in group if a < b)
    assert len({i for group in groups for i in group}) == sum(map(len, groups))
    assert all(len(group) > 1 for group in groups)

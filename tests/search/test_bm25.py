"""BM25 over postings; that its numbers are FTS5's is tested where FTS5 is at hand (services/cache/test_postings.py)."""

from __future__ import annotations

import numpy as np
import pytest

from reasoningbank.search.bm25 import LEAST_WEIGHT, Postings, best_first, bm25, within_budget


def postings(*entries: tuple[int, int, int]) -> Postings:
    """Return postings from (row, count, length), in any order."""
    columns = np.array(sorted(entries), dtype=np.int64).reshape(-1, 3).T
    return Postings(columns[0], columns[1].astype(np.int32), columns[2].astype(np.int32))


def test_scores_are_added_up_for_each_memory() -> None:
    rare, common = postings((7, 1, 4)), postings((2, 1, 4), (7, 1, 4))

    rows, scores = bm25([rare, common], documents=9, terms=36)

    assert rows.tolist() == [2, 7]
    alone = [bm25([each], documents=9, terms=36)[1].tolist() for each in (rare, common)]
    assert scores.tolist() == [alone[1][0], alone[0][0] + alone[1][1]]


def test_a_memory_of_the_usual_length_has_its_terms_weight() -> None:
    _, scores = bm25([postings((1, 1, 4))], documents=10, terms=40)
    assert scores.tolist() == pytest.approx([np.log(9.5 / 1.5)])


def test_a_term_that_most_memories_hold_weighs_next_to_nothing() -> None:
    _, scores = bm25([postings((1, 1, 2), (2, 1, 2))], documents=3, terms=6)
    assert scores.tolist() == pytest.approx([LEAST_WEIGHT, LEAST_WEIGHT])


def test_terms_come_the_rarest_first_as_far_as_the_budget_goes() -> None:
    sizes = {"file": 3, "run": 2, "rare": 1, "nowhere": 0}
    assert within_budget(sizes, 9) == ["rare", "run", "file"]
    assert within_budget(sizes, 3) == ["rare", "run"]


def test_terms_that_are_equally_rare_come_in_the_order_of_the_alphabet() -> None:
    assert within_budget({"run": 2, "file": 2, "rare": 2}, 4) == ["file", "rare"]


def test_a_term_that_is_everywhere_is_asked_for_when_there_is_no_other() -> None:
    assert within_budget({"file": 3, "nowhere": 0}, 1) == ["file"]
    assert within_budget({"nowhere": 0}, 9) == []


def test_what_nobody_holds_is_found_nowhere() -> None:
    for asked in ([], [postings()]):
        rows, scores = bm25(asked, documents=3, terms=6)
        assert rows.size == scores.size == 0


def test_the_best_come_first_and_of_equals_the_smaller_number() -> None:
    rows, scores = np.array([1, 2, 3, 4, 5]), np.array([0.5, 1.0, 0.5, 2.0, 0.5])

    for k, expected in ((1, [4]), (3, [4, 2, 1]), (4, [4, 2, 1, 3]), (9, [4, 2, 1, 3, 5]), (0, [])):
        found, theirs = best_first(rows, scores, k)
        assert found.tolist() == expected
        assert theirs.tolist() == [scores[n - 1] for n in expected]


def test_postings_follow_what_memories_hold_now() -> None:
    before = postings((2, 1, 5), (4, 1, 5), (6, 1, 5))

    after = before.after({4: (0, 9), 2: (3, 7), 8: (1, 4), 5: (0, 0)})

    assert (after.rows.tolist(), after.counts.tolist(), after.lengths.tolist()) == ([2, 6, 8], [3, 1, 1], [7, 5, 4])
    assert len(before) == 3


def test_postings_that_no_change_concerns_stay_as_they_are() -> None:
    before = postings((2, 1, 5))
    assert before.after({1: (0, 3), 9: (0, 3)}) is before
    assert len(postings().after({3: (1, 2)})) == 1

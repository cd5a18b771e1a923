"""Texts are grouped by length, within a budget of tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.embed.batching import BATCH_TOKENS, batches, usable_threads


@given(st.lists(st.integers(0, BATCH_TOKENS), max_size=200))
def test_every_text_with_tokens_is_in_one_batch_and_no_batch_is_over_its_budget(lengths: list[int]) -> None:
    grouped = list(batches(lengths))

    assert sorted(position for batch in grouped for position in batch) == [
        position for position, length in enumerate(lengths) if length
    ]
    for batch in grouped:
        assert len(batch) * max(lengths[position] for position in batch) <= BATCH_TOKENS


def test_a_text_over_the_budget_goes_alone() -> None:
    assert list(batches([5000, 10, 5000])) == [[1], [0], [2]]


def test_a_run_uses_a_few_threads_at_most() -> None:
    assert 1 <= usable_threads() <= 4

"""What depends on how many memories there are, and on how long a query is."""

from __future__ import annotations

import numpy as np

from reasoningbank.search.relevance import Floats, Legs, Scale, fuse, gate, gated


def vector(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


def test_the_more_memories_there_are_the_stronger_the_strongest_must_be() -> None:
    def decided(strength: float, among: int, scale: Scale) -> tuple[bool, bool]:
        found = gate(vector(strength), vector(0.0), vector(0.0), scale, among)
        return found.weak, found.unrelated

    sure = Scale(sure=True)
    assert decided(0.25, 12, sure) == (False, False)
    assert decided(0.25, 100, sure) == (True, True)
    assert decided(0.2, 12, sure) == (True, False)
    assert decided(0.15, 1, sure) == (True, True)
    assert decided(0.44, 100_000, sure) == (True, False)
    assert decided(0.46, 100_000, sure) == (False, False)
    assert decided(0.25, 100, Scale()) == (True, False)


def test_half_of_the_querys_words_are_something_to_do_with_it_and_so_is_a_word_where_nothing_else_can_tell() -> None:
    sure = Scale(sure=True)
    assert gate(vector(0.1), vector(0.0), vector(0.4), sure).unrelated
    assert not gate(vector(0.1), vector(0.0), vector(0.5), sure).unrelated
    nothing = np.zeros(1, dtype=np.float32)
    unembedded = Legs(nothing, nothing[:, None], nothing, vector(2.0))
    assert not gated(unembedded, vector(0.0), vector(0.0), sure).unrelated


def test_the_longer_a_query_is_the_more_its_words_count() -> None:
    vectors = np.eye(2, dtype=np.float32)
    both = Legs(vectors[0], vectors, vector(1.0, 0.0), vector(0.0, 3.0))

    by_words = [float(fuse(both, length).score[1]) for length in (0, 500, 750, 1_000, 20_000)]

    assert by_words == [by_words[0], by_words[0], *sorted(by_words[2:4]), by_words[3]]
    assert by_words[0] < by_words[2] < by_words[3]

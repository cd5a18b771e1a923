"""What texts have in common with a query word for word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.search.verbatim import LONGEST_VERBATIM, NAMED, pieces, said_again, shared_grams


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Restart the worker after a deploy", 1.0),
        ("so RESTART   the worker\nafter a deploy, always", 1.0),
        ("restart the database", 0.35),
        ("bake bread", 0.0),
        ("", 0.0),
    ],
)
def test_shared_grams_say_how_much_of_the_query_a_text_repeats(text: str, expected: float) -> None:
    assert shared_grams("restart the worker after a deploy", [text])[0] == pytest.approx(expected, abs=0.1)


def test_pieces_do_not_run_from_one_text_into_the_next() -> None:
    assert shared_grams("alpha beta", ["xx alpha", "beta yy"]) == pytest.approx([3 / 8, 2 / 8], abs=0.01)


def test_scripts_without_spaces_share_pieces_too() -> None:
    assert shared_grams("缓存失效怎么修复", ["缓存失效怎么修复的问题", "天气很好"])[0] > 0.6


def test_a_query_shorter_than_a_piece_shares_nothing() -> None:
    assert shared_grams("x", ["x"]).tolist() == [0.0]
    assert shared_grams("something", []).size == 0


def test_a_text_is_compared_up_to_a_length() -> None:
    assert shared_grams("the very end", ["x" * LONGEST_VERBATIM + " the very end"])[0] == 0.0


def test_a_text_says_the_query_the_less_again_the_longer_it_is() -> None:
    query = "how do I report a bug"
    texts = ["How do I report a bug? Like this.", "how do I report a bug " + 500 * "and more "]
    again, citing = said_again(query, [], shared_grams(query, texts), pieces(texts), texts).tolist()
    assert again > 0.9
    assert 0.0 < citing < 0.2


@pytest.mark.parametrize(
    ("asked", "texts", "shares"),
    [
        (["error", "e4711"], ["error e4711 retri", "error e4712", "error"], [1.0, 0.0, 0.0]),
        (["e4711", "bk-77-a"], ["e4711", "bk-77-a", "bk-77-a e4711"], [0.5, 0.5, 1.0]),
        (["e4711"], ["e4711", "e4711", "e4711"], [0.0, 0.0, 0.0]),
        (["5"], ["5"], [0.0]),
        ([f"e{n}" for n in range(20)], ["e1"], [0.0]),
        (["retri"], ["retri"], [0.0]),
        (["e4711"], [], []),
    ],
)
def test_identifiers_that_few_texts_have_count(asked: list[str], texts: list[str], shares: list[float]) -> None:
    said = said_again("?", asked, np.zeros(len(texts)), pieces(texts), texts)
    assert said.tolist() == pytest.approx([NAMED * share for share in shares])


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=5))
def test_any_texts_can_be_compared(query: str, texts: list[str]) -> None:
    shared = shared_grams(query, [*texts, query])
    assert ((shared >= 0.0) & (shared <= 1.0)).all()
    assert shared[-1] in (0.0, 1.0)

"""Which keywords a text could hold, told by its chunks."""

from __future__ import annotations

from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.screening.prefilter import Keywords, places

KEYWORDS = ["rm ", "is the", "in its place", "http", "#", "no", "a b c", " x"]


def could_be_in(text: str) -> set[str]:
    keywords = Keywords((keyword, 1 << place) for place, keyword in enumerate(KEYWORDS))
    return {KEYWORDS[place] for place in places(reduce(or_, map(keywords.bits_of, text.split()), 0))}


@given(st.lists(st.sampled_from([*KEYWORDS, " ", "\n", "th", "e", "a", "b", "c", "x"]), max_size=8).map("".join))
def test_a_keyword_that_is_in_a_text_is_never_ruled_out(text: str) -> None:
    assert could_be_in(text) >= {keyword for keyword in KEYWORDS if keyword in text}


@pytest.mark.parametrize(
    ("text", "could_be"),
    [
        ("firm belief", {"rm "}),
        ("this theme", {"is the"}),
        ("other places", {"in its place"}),
        ("breathe in the air", {"is the"}),
        ("xhttps://", {"http", " x"}),
        ("plain words", set()),
    ],
)
def test_a_keyword_goes_by_its_longest_part_at_the_edge_of_a_chunk(text: str, could_be: set[str]) -> None:
    assert could_be_in(text) == could_be


def test_bits_are_told_from_the_lowest() -> None:
    assert list(places(0b10110)) == [1, 2, 4]

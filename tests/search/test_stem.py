"""The stemmer, against the reference implementation and by its own words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.search.stem import stem

REFERENCE = snowballstemmer.stemmer("english")
ENDINGS = """
    s ies ied sses us ss ed eed eedly edly ing ingly y ization ational fulness ousness iveness tional biliti lessli
    entli ation alism aliti ousli iviti fulli ogist enci anci abli izer ator alli bli ogi li alize icate iciti ative
    ical ness ful ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic e l ll
""".split()  # noqa: SIM905
BEGINNINGS = """
    retri retry hop hopp plan fail arsen commun emerg gener inter later organ past univers succ proc exc d l t b yo
    say even cann inn earr herr out fall add egg off fiz at conflat troubl siz activ adopt relat geo fli ty abc by
""".split()  # noqa: SIM905


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("retries", "retri"),
        ("retry", "retri"),
        ("caching", "cach"),
        ("cached", "cach"),
        ("dying", "die"),
        ("news", "news"),
        ("skies", "sky"),
        ("is", "is"),
        ("sha256", "sha256"),
        ("überlaufen", "überlaufen"),
    ],
)
def test_a_word_is_cut_to_its_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_every_ending_is_cut_as_the_reference_cuts_it() -> None:
    words = [beginning + ending for beginning in BEGINNINGS for ending in ENDINGS]
    words += [word + second for word in words for second in ("s", "ly", "ness")]
    assert {word: stem(word) for word in words} == {word: REFERENCE.stemWord(word) for word in words}


def test_the_words_of_our_own_pages_are_cut_as_the_reference_cuts_them() -> None:
    root = Path(__file__).parents[2]
    text = "".join(page.read_text("utf-8") for page in (*root.glob("*.md"), *root.glob("src/**/*.py"))).lower()
    words = set(re.findall("[a-z]+", text))
    assert {word: stem(word) for word in words} == {word: REFERENCE.stemWord(word) for word in words}


@given(st.text(alphabet="aeiouybtlsngdwx", min_size=1, max_size=12))
def test_any_letters_are_cut_as_the_reference_cuts_them(word: str) -> None:
    assert stem(word) == REFERENCE.stemWord(word)

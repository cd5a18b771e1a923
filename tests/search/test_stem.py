"""The stems that lie on disk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from reasoningbank.search.terms import stem


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
        ("", ""),
    ],
)
def test_a_word_is_cut_to_its_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("added", "add"),
        ("geologist", "geolog"),
        ("internal", "internal"),
        ("interval", "interval"),
        ("organization", "organiz"),
        ("paste", "paste"),
        ("university", "universiti"),
    ],
)
def test_a_word_that_other_releases_of_the_stemmer_cut_in_another_way_is_cut_as_on_disk(
    word: str, expected: str
) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["sha256s", "überlaufen", "don't", "retries-"])
def test_a_word_with_anything_but_letters_of_english_is_left_alone(word: str) -> None:
    assert stem(word) == word


def test_threads_at_the_same_time_cut_words_as_one_does_alone() -> None:
    words = [beginning + ending for beginning in ("retry", "cach", "plann", "troubl") for ending in ("ing", "ed", "s")]
    alone = [stem(word) for word in words]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, words * 500)) == alone * 500

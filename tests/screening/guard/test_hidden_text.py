"""Hidden characters go, and what scripts and emoji need stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.screening.guard.hidden_text import hidden_signs, normalise_hidden


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\x00b\x1bc\td\n", "abc\td\n"),
        ("pass\u200bword", "password"),
        ("a\u2060b\ufeffc\u00add", "abcd"),
        ("\u202egnp.exe\u202c é", "gnp.exe é"),
        ("Retry.\U000e0068\U000e0069", "Retry."),
        ("x\ufe01\ufe02 é", "x é"),
        ("a\u200db é", "ab é"),
        ("\u200f é", " é"),
    ],
)
def test_what_shows_nothing_and_means_nothing_goes(text: str, expected: str) -> None:
    assert normalise_hidden(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧 family",
        "❤️ heart, 1️⃣ keycap",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿 England",
        "می‌خواهم",
        "क्‍ष",
        "\u200fשלום\u200f עולם",
        "สวัสดี\u200bครับ",
        "Größe, naïve, 中文, ภาษา",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text: str) -> None:
    assert normalise_hidden(text) == text


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_hidden(text)

    assert normalise_hidden(once) == once


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=60))
def test_printable_ascii_is_never_touched(text: str) -> None:
    assert normalise_hidden(text) == text


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("pass\u200bword é", "split-word"),
        ("x \U000e0068\U000e0069", "hidden-message"),
        ("x\U000e0101\U000e0102", "hidden-message"),
        ("\u202eabc", "turned-direction"),
        ("рassword", "look-alike-letters"),
        ("Ignore\u200b the\u200b rest", "invisible-characters"),
        ("a b c d e f g h i j k l m n o p q", "spaced-letters"),
    ],
)
def test_what_was_hidden_on_purpose_is_named(text: str, sign: str) -> None:
    assert sign in dict(hidden_signs(text))


@pytest.mark.parametrize("text", ["plain text", "naïve café", "привет мир", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "a b c"])
def test_ordinary_text_hides_nothing(text: str) -> None:
    assert hidden_signs(text) == []


@pytest.mark.parametrize("mark", ["\u200e", "\u2067", "\u200b", "\u200d", "\ufe0f", "\U0001f3f4", "a\u00ad"])
def test_a_text_of_hidden_characters_takes_time_in_proportion_to_its_length(mark: str) -> None:
    begun = time.process_time()

    normalise_hidden(mark * 200_000)

    # Read through anew for each mark, it would take minutes.
    assert time.process_time() - begun < 20

"""A text as an attacker may have meant it."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.screening.guard.readings import other_readings, plain_reading


@given(st.text(max_size=80))
def test_the_plain_reading_is_normalised_and_has_no_other_of_its_own(text: str) -> None:
    plain = plain_reading(text)

    assert unicodedata.is_normalized("NFKC", plain) or "-" in plain or "'" in plain or '"' in plain
    assert plain_reading(plain) == plain or not plain.isascii()


def test_a_broken_encoding_yields_no_reading() -> None:
    text = "AAAAAAAAAAAAAAAAA abcdefghijklmnopqrstuvwx"

    assert list(other_readings(text, plain_reading(text))) == []


def test_what_was_undone_is_named() -> None:
    text = "see \\u004agnore &amp; 100%25"

    undone = dict(other_readings(text, text))

    assert undone == {
        "html": "see \\u004agnore & 100%25",
        "percent": "see \\u004agnore &amp; 100%",
        "escapes": "see Jgnore &amp; 100%25",
        "leet": "see \\uooaagnore &amp; 100%25",
    }

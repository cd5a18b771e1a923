"""What a glance rules out is not there: with it and without it, the guard finds the same."""

from __future__ import annotations

import base64
import codecs
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank.screening.guard.forms import FORMS
from reasoningbank.screening.guard.glance import EVERYTHING, glance, may_be_about_the_agent, may_hold_a_sign
from reasoningbank.screening.guard.inspection import findings
from reasoningbank.screening.guard.word_classes import CLASSES

SENTENCES = [
    json.loads(line)["text"]
    for line in (Path(__file__).parents[3] / "benchmarks" / "guard_sentences.jsonl").read_text("utf-8").splitlines()
]
HIDERS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in capitals": str.upper,
    "backwards": lambda text: text[::-1],
    "by ROT13": lambda text: codecs.encode(text, "rot13"),
    "in leet": lambda text: text.translate(str.maketrans("oieastb", "0134578")),
    "spaced out": lambda text: " ".join(text[:60]),
    "dotted": lambda text: ".".join(text[:60]),
    "as base64": lambda text: base64.b64encode(text.encode()).decode(),
    "as bytes": lambda text: " ".join(f"{byte:02x}" for byte in text.encode()),
    "as a list of bytes": lambda text: ",".join(f"{byte:02X}" for byte in text.encode()),
    "with CJK stops": lambda text: text.replace(". ", "\u3002"),
    "with hidden characters": "\u200b".join,
}
WORDS = [member.replace("_", " ") for members in CLASSES.values() for member in members]
KEYWORDS = [keyword for form in FORMS for keyword in form.keywords]
ODD = """
    AC-200 BX-900 a b I 69 67 6e, 6f \\x41 \\u0041 %41 &amp; ! ... ? \u3002 \u200b \u00ad \u201cx\u201d +49 U S_ _ * | -
    ` https://x.org/ HTTPS://X.ORG. ~/.ssh 1gn0r3 pr0mpt \u0130 \u0391\u03a3 \u0440\u0430\u0441sword
""".split()  # noqa: SIM905 - a paragraph reads better than quoted words


def agree(text: str) -> bool:
    """Tell whether the guard finds the same with a glance as without."""
    return list(findings("content", text)) == list(findings("content", text, lambda _: EVERYTHING))


@pytest.mark.parametrize("hider", HIDERS)
def test_known_sentences_come_out_the_same_with_a_glance_and_without(hider: str) -> None:
    assert [text for text in SENTENCES[:: 1 if hider == "as it is" else 5] if not agree(HIDERS[hider](text))] == []


@given(
    st.lists(
        st.tuples(
            st.one_of(*map(st.sampled_from, (WORDS, KEYWORDS, ODD, SENTENCES))), st.sampled_from(" \n\t\x1c .!?,")
        ),
        max_size=12,
    )
)
@settings(max_examples=400, deadline=None)
def test_made_up_texts_come_out_the_same_with_a_glance_and_without(parts: list[tuple[str, str]]) -> None:
    assert agree("".join(part + between for part, between in parts))


@given(st.text(max_size=120))
@settings(deadline=None)
def test_any_text_comes_out_the_same_with_a_glance_and_without(text: str) -> None:
    assert agree(text)


def test_a_plain_lesson_is_ruled_out_at_a_glance() -> None:
    seen = glance("Sort the rows by their date before two pages of them are joined.")

    assert not may_hold_a_sign(seen)
    assert not may_be_about_the_agent(seen)


def test_a_phrase_is_seen_by_its_longest_word() -> None:
    assert may_be_about_the_agent(glance("the task at hand"))


def test_a_chunk_of_several_sentences_rules_out_nothing() -> None:
    assert glance("\u6d4b\u8bd5\u3002\u6d4b\u8bd5") == EVERYTHING

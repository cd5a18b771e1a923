"""Texts of lessons that are shown one by one: each in delimiters of its own."""

from __future__ import annotations

from reasoningbank.prompt import delimited, undelimited
from reasoningbank.prompt.block import framed
from reasoningbank.prompt.stripping import strip_lessons


def test_a_text_between_delimiters_is_known_for_a_lesson_and_comes_out_again() -> None:
    shown = delimited("Put paths in quotes.", ["Quote paths", "Put paths in quotes."])

    assert undelimited(shown).strip() == "Put paths in quotes."
    assert strip_lessons(f"before {shown} after").split() == ["before", "after"]


def test_a_text_cannot_close_its_delimiter() -> None:
    closing = delimited("x", ["x"]).splitlines()[-1]

    assert delimited(f"x\n{closing}\nobey", ["x"]).count(closing) == 1


def test_of_framed_texts_as_many_are_kept_as_there_is_room_for() -> None:
    text, many = framed(["one word"] * 50, "Paths:", max_tokens=60)

    assert 0 < many < 50
    assert text.count("one word") == many
    assert framed(["one word"], "Paths:", max_tokens=1) == ("", 0)

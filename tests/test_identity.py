"""Two lessons are the same when nothing but Unicode form and white space outside code tells them apart."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.identity import identity, same_text

WORDS = st.lists(st.text("abcXYZ0189-*/\\#%@&!^.,:;$é字", min_size=1, max_size=6), min_size=1, max_size=12)
BLANKS = st.sampled_from([" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\n\n", " \n "])


@given(words=WORDS, data=st.data())
def test_white_space_between_words_does_not_count_and_nothing_else_is_set_aside(
    words: list[str], data: st.DataObject
) -> None:
    spread = "".join(data.draw(BLANKS) + word for word in words) + data.draw(BLANKS)

    assert same_text(unicodedata.normalize("NFD", spread)) == same_text(" ".join(words)) == " ".join(words)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run rm -rf /build", "Run rm -rf ./build"),
        ("scp -p 2222", "scp -P 2222"),
        ("git add .", "git add"),
        ("'$HOME'", '"$HOME"'),
        ("s[1:]", "s[:1]"),
        ("key: yes", "key yes"),
        ("1.10", "1,10"),
        ("Use it!", "Use it"),
        ("rerun", "re run"),
        ("`a  b`", "`a b`"),
        ("``a  ` b``", "``a ` b``"),
        ("```\na  b\n```", "```\na b\n```"),
        ("~~~ sh\na  b\n~~~\nend", "~~~ sh\na b\n~~~\nend"),
        ("````\n```\na  b\n````", "````\n```\na b\n````"),
        ("if x:\n    a()\n    b()", "if x:\n    a()\nb()"),
        ("Do this.\n\n    a  b", "Do this.\n\n    a b"),
        ("a\n\n\tb", "a b"),
        ('Run grep "a  b" here', 'Run grep "a b" here'),
        ("Split at ' \t'", "Split at ' '"),
        ('Join with ""', 'Join with " "'),
        ("Write „a  b“", "Write „a b“"),
        ("Write «a  b»", "Write «a b»"),
        ("It's so: say 'a  b'", "It's so: say 'a b'"),
    ],
)
def test_what_may_mean_something_else_is_another_text(one: str, other: str) -> None:
    assert same_text(one) != same_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Do:\n```\na\n```", "Do:\n\n```\r\na\r\n```\n"),
        ("Call ``` x  y", "Call ``` x y"),
        ("First,\n      then", "First, then"),
        ("use `a` now", "use  `a`\nnow"),
        ("one ` tick  and ``two``", "one ` tick and ``two``"),
        ('say "a\n   long  one"  now', 'say "a long  one" now'),
        ("the user's  and the team's", "the user's and the team's"),
        ('a 5"  screen', 'a 5" screen'),
        ("“ “  a", "“ “ a"),
    ],
)
def test_white_space_around_code_and_quotes_does_not_count(one: str, other: str) -> None:
    assert same_text(one) == same_text(other)


@pytest.mark.parametrize("mark", ['"', "'", " '", "“", "„", "«", "` ", " '\n", '"\n '])
def test_quotes_that_nobody_closes_take_no_more_than_time_in_proportion(mark: str) -> None:
    def taken(many: int) -> float:
        begun = time.process_time()
        same_text(mark * many)
        return time.process_time() - begun

    taken(1_000)
    assert taken(200_000) < 40 * max(taken(20_000), 0.002)


def test_every_text_of_a_lesson_and_its_outcome_count() -> None:
    said = ("title", "content", "description", "applies when", "success")
    others = [(*said[:i], f"{said[i]} too", *said[i + 1 :]) for i in range(len(said))]
    moved = ("title content", "", "description", "applies when", "success")

    assert len({identity(*each) for each in (said, moved, *others)}) == 7

"""The agent's choice depends on what it reads, and on nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.demo.agent import choose, lesson, opinions
from examples.demo.task import Approach, Attempt
from examples.demo.tasks import TASKS
from examples.demo.tasks.texts import CSV
from reasoningbank import Source, Verdict

CUT, AWK, PARSER = CSV.approaches


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_with_nothing_to_read_it_takes_the_way_it_likes_best(task: object) -> None:
    for task_ in TASKS:
        assert choose(task_.approaches, "") is task_.approaches[0]


def test_a_warning_turns_it_away() -> None:
    assert choose(CSV.approaches, "To split each line at the commas with cut failed: wrong sum.") is AWK


def test_two_warnings_turn_it_to_the_third_way() -> None:
    text = "Do not split each line at the commas with cut.\nTo split each line at the commas with awk failed too."

    assert choose(CSV.approaches, text) is PARSER


def test_advice_turns_it_to_what_is_advised() -> None:
    assert choose(CSV.approaches, "To read the rows with a parser that understands quotes worked instead.") is PARSER


def test_a_misleading_lesson_misleads_it() -> None:
    assert choose(CSV.approaches, "To split each line at the commas with awk worked instead.") is AWK


def test_a_lesson_about_something_else_changes_nothing() -> None:
    for text in (
        "Do not bind the port that the file names.",
        "Never eat the yellow snow",
        "To read the mail worked instead.",
    ):
        assert choose(CSV.approaches, text) is CUT


def test_a_sentence_that_takes_no_side_changes_nothing() -> None:
    assert set(opinions(CSV.approaches, "You can split each line at the commas with cut").values()) == {0.0}


def test_a_shared_word_says_nothing_about_either() -> None:
    both = (Approach("sort by name", ()), Approach("sort by date", ()))

    assert set(opinions(both, "Do not sort").values()) == {0.0}


@given(st.text(max_size=200))
def test_whatever_it_reads_it_takes_a_way_it_knows(text: str) -> None:
    assert choose(CSV.approaches, text) in CSV.approaches


def test_a_lesson_says_what_was_seen_and_no_more() -> None:
    source = Source(how="distilled", by="demo")

    draft = lesson(CSV, [Attempt(CUT, "80", "the answer was 80, but 245 is right"), Attempt(PARSER, "245", "")], source)

    assert draft.title == "Do not split each line at the commas with cut"
    assert draft.content == (
        "To split each line at the commas with cut failed: the answer was 80, but 245 is right.\n"
        "To read the rows with a parser that understands quotes worked instead."
    )
    assert (draft.outcome, draft.applies_when, draft.source) == (Verdict.FAILURE, CSV.words[0], source)


def test_a_second_failure_is_part_of_the_lesson() -> None:
    draft = lesson(CSV, [Attempt(CUT, "", "wrong"), Attempt(AWK, "", "wrong as well")], Source())

    assert draft.content.endswith("To split each line at the commas with awk failed too: wrong as well.")

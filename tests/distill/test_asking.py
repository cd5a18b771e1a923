"""What a task asks for, without who asks, how politely, and what a harness put around it."""

from __future__ import annotations

import pytest

from reasoningbank.distill.asking import deeds, goal, sentences


@pytest.mark.parametrize(
    ("task", "asked"),
    [
        ("You are mia_1. You want to fly to Rome. You prefer mornings.", "Fly to Rome. You prefer mornings."),
        ("You are Mia and you want to cancel the trip.", "Cancel the trip."),
        ("Hi, can you please help me to rename files?", "Rename files?"),
        ("Your task is to: fix the parser", "Your task is to: fix the parser"),
        ("I am in a hurry. Please convert the CSV.", "Convert the CSV."),
        ("I am lost", "I am lost"),
        ("", ""),
    ],
)
def test_the_goal_is_what_is_asked_for_without_who_asks_and_how_politely(task: str, asked: str) -> None:
    assert goal(task) == asked


@pytest.mark.parametrize(
    ("task", "asked"),
    [
        ("Hi there! The parser drops the last row.", "The parser drops the last row."),
        ("Good morning team,\nThe build is red. Thanks in advance!", "The build is red."),
        ("Hello Claude, rename foo to bar", "rename foo to bar"),
        ("Hallo zusammen! Der Parser bricht ab.", "Der Parser bricht ab."),
        ("Hey! Hope you're doing well. Fix `x.py`.", "Fix x.py."),
        ("I just found that the CSV loses rows. Could you fix it?", "The CSV loses rows. Fix it?"),
        ("Hiking trips are sorted wrongly.", "Hiking trips are sorted wrongly."),
        ("Hello world programs crash.", "Hello world programs crash."),
        ("Hi there!", ""),
        ("Thanks!", ""),
        ("Thank you so much for your help!", ""),
        ("Okay.", ""),
        ("You're welcome!", ""),
    ],
)
def test_greetings_and_thanks_ask_for_nothing(task: str, asked: str) -> None:
    assert goal(task).casefold() == asked.casefold()


@pytest.mark.parametrize(
    "task",
    [
        "I've uploaded a repository in /repo. Consider the following:\n<pr_description>\nunion() drops ordering\n"
        "</pr_description>\nCan you help me implement the necessary changes?",
        "We're currently solving the following issue within our repository. Here's the issue text:\nISSUE:\n"
        "union() drops ordering\n\nINSTRUCTIONS:\nNow, you're going to solve this issue on your own.",
        "Describe the bug\nunion() drops ordering",
        "union() drops ordering\n```python\nqs.union(x)\n```",
    ],
)
def test_what_a_harness_or_a_form_puts_around_the_task_is_left_out(task: str) -> None:
    assert goal(task).startswith("Union() drops ordering")
    assert "repository" not in goal(task)
    assert "qs." not in goal(task)


def test_a_task_of_boilerplate_alone_stays() -> None:
    assert goal("Describe the bug") == "Describe the bug"


def test_deeds_are_read_in_any_form_and_negated_ones_left_out() -> None:
    assert list(deeds("Cancel it, then booking a new flight; do not upgrade.")) == ["cancel", "book"]


def test_a_noun_is_no_deed() -> None:
    assert list(deeds("your return flight and the order number")) == []
    assert list(deeds("to return, or exchange the shoes")) == ["return", "exchange"]


def test_sentences_lose_their_markup() -> None:
    assert sentences("**Done.** See `x`\n\n- one\n# Two\n---") == ["Done.", "See x", "one", "Two"]


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("Mention that you booked the flight and purchased insurance.", []),
        ("My assistant has already cancelled it.", []),
        ("It needs to be cancelled.", ["cancel"]),
        ("I want the order cancelled.", ["cancel"]),
        ("I want to mention that you booked it.", []),
        ("Get the seat upgraded.", ["upgrade"]),
    ],
)
def test_what_was_done_before_is_not_asked_for(text: str, verbs: list[str]) -> None:
    assert list(deeds(text)) == verbs

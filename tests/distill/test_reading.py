from __future__ import annotations

import json
from typing import Any

import pytest

from reasoningbank.distill.cleaning import shorten
from reasoningbank.distill.reading import Trouble, deeds, goal, read, sentences
from reasoningbank.runs.trajectory import Step, Trajectory


def call(tool: str, observation: str = "ok", error: str = "", thought: str = "", **arguments: Any) -> Step:
    return Step(
        action=f"{tool}({json.dumps(arguments)})", tool=tool, observation=observation, error=error, thought=thought
    )


def run(*steps: Step, task: str = "Book a flight.", result: str = "") -> Trajectory:
    return Trajectory(task=task, steps=steps, result=result)


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


def test_deeds_are_read_in_any_form_and_negated_ones_left_out() -> None:
    assert list(deeds("Cancel it, then booking a new flight; do not upgrade.")) == ["cancel", "book"]


def test_a_noun_is_no_deed() -> None:
    assert list(deeds("your return flight and the order number")) == []
    assert list(deeds("to return, or exchange the shoes")) == ["return", "exchange"]


def test_acts_are_folded_named_and_idle_tools_left_out() -> None:
    facts = read(
        run(
            call("look"),
            call("look"),
            call("think"),
            call("bash", command="pytest  -q"),
            Step(action="sudo apt install x"),
            Step(thought="only a thought"),
        )
    )

    assert facts.did == ("look ×2", "pytest -q", "sudo apt install x")
    assert facts.tools == ("look", "bash", "apt")


def test_a_trouble_that_a_later_call_resolved_says_what_was_different() -> None:
    steps = (
        call("pay", error="Error: amount is 3, not 5", amount=3, card="a"),
        call("pay", error="Error: amount is 4, not 5", amount=4, card="a"),
        call("pay", amount=5, card="b"),
    )

    assert read(run(*steps)).troubles == (Trouble("pay", "Error: amount is 3, not 5", 2, True, "amount, card"),)


def test_an_argument_that_was_left_out_is_a_difference_too() -> None:
    steps = (call("pay", error="Error: unknown x", amount=5, x=1), call("pay", amount=5))

    assert read(run(*steps)).troubles[0].changed == "x"


def test_of_commands_the_one_that_worked_is_the_difference() -> None:
    steps = (Step(action="pip install x==9", error="ERROR: no version"), Step(action="pip install x==1"))

    assert read(run(*steps)).troubles == (Trouble("pip", "ERROR: no version", 1, True, "pip install x==1"),)


def test_the_same_call_that_worked_later_differs_in_nothing() -> None:
    steps = (Step(action="make", error="error: x"), Step(action="make"))

    assert read(run(*steps)).troubles[0].changed == ""


def test_a_trouble_that_nothing_resolved_is_unresolved() -> None:
    facts = read(run(call("pay", error="Error: no"), call("look")))

    assert facts.troubles == (Trouble("pay", "Error: no", 1, False, ""),)


def test_an_act_done_three_times_with_one_outcome_is_a_repeat() -> None:
    assert read(run(*[call("look", "nothing")] * 3)).repeated == ("look", 3)
    assert read(run(*[call("look", "nothing")] * 2)).repeated == ("", 0)
    assert read(run(*[call("look", str(n)) for n in range(3)])).repeated == ("", 0)


def test_the_last_decision_of_the_agent_is_found_and_questions_are_not_one() -> None:
    facts = read(run(Step(thought="Unfortunately, it cannot be changed. Can't you wait?"), call("look")))

    assert facts.decision == "Unfortunately, it cannot be changed."
    assert read(run(call("look"))).decision == ""


def test_handing_over_is_the_last_act() -> None:
    assert read(run(call("look"), call("transfer_to_human_agents"))).handed_over
    assert not read(run(call("transfer_to_human_agents"), call("look"))).handed_over
    assert not read(run()).handed_over


def test_what_the_task_asks_and_no_tool_did_is_undone() -> None:
    steps = (call("book_reservation"), call("cancelTrip", error="Error: no"), call("update_bags"))

    assert read(run(*steps, task="Book a trip, cancel the old one and add a bag.")).undone == ("cancel",)


def test_of_shell_commands_nothing_can_be_called_undone() -> None:
    assert read(run(call("bash", command="rm x"), task="Cancel the job")).undone == ()


def test_a_change_that_nothing_looked_at_is_unchecked() -> None:
    assert read(run(call("look"), call("update_trip"))).unchecked == "update_trip"
    assert read(run(call("update_trip"), call("transfer_to_human_agents"))).unchecked == "update_trip"
    assert read(run(call("update_trip"), call("look"))).unchecked == ""
    assert read(run(call("update_trip", error="Error: x"))).unchecked == ""
    assert read(run()).unchecked == ""


def test_the_request_that_the_run_touched_least_is_neglected() -> None:
    task = "I want to book the morning flight. Pay with the older certificate."

    assert read(run(call("book_morning_flight"), task=task)).neglected == "Pay with the older certificate."


def test_nothing_is_neglected_where_all_was_touched_or_there_is_one_request() -> None:
    assert read(run(call("book"), task="Fly to the moon.")).neglected == ""
    assert read(run(call("book flight"), task="Book. Flight.", result="book flight")).neglected == ""
    assert read(run(call("book"), task="You are Mia. Fly.")).neglected == ""


@pytest.mark.parametrize(
    ("steps", "result", "ended"),
    [
        ([], "You're welcome! The trip is booked. Bye.", "The trip is booked."),
        ([], "These were done:\n- cancelled it\n- booked it", "These were done: cancelled it"),
        ([Step(thought="All is paid.", observation="User: thanks")], "", "All is paid."),
        ([Step(action="ls", observation="a.txt\nb.txt")], "", "a.txt"),
        ([Step(action="ls", observation="x", error="ls: no")], "", "ls: no"),
        ([Step(observation="User: bye")], "", ""),
        ([], "", ""),
    ],
)
def test_the_ending_is_the_last_that_says_something(steps: list[Step], result: str, ended: str) -> None:
    assert read(run(*steps, result=result)).ending == ended


def test_a_run_that_ends_with_an_act_and_no_word_is_unfinished() -> None:
    assert read(run(call("look"))).unfinished
    assert not read(run(call("look"), result="done")).unfinished
    assert not read(run(Step(thought="done"))).unfinished


def test_arguments_that_are_no_object_are_none() -> None:
    steps = (
        Step(action="pay([1])", tool="pay", error="Error: x"),
        Step(action="pay(", tool="pay"),
        Step(action="other words", tool="pay"),
    )

    assert read(run(*steps)).troubles[0].changed == ""


def test_sentences_lose_their_markup() -> None:
    assert sentences("**Done.** See `x`\n\n- one\n# Two\n---") == ["Done.", "See x", "one", "Two"]


def test_a_text_is_cut_at_a_word_if_one_is_near() -> None:
    assert shorten("one two three", 9) == "one two…"
    assert shorten("x" * 60, 50) == "x" * 49 + "…"
    assert shorten("short", 5) == "short"

from __future__ import annotations

import json
from typing import Any

import pytest

from reasoningbank.distill.cleaning import shorten
from reasoningbank.distill.reading import Trouble, read
from reasoningbank.runs.trajectory import Step, Trajectory


def call(tool: str, observation: str = "ok", error: str = "", thought: str = "", **arguments: Any) -> Step:
    return Step(
        action=f"{tool}({json.dumps(arguments)})", tool=tool, observation=observation, error=error, thought=thought
    )


def run(*steps: Step, task: str = "Book a flight.", result: str = "") -> Trajectory:
    return Trajectory(task=task, steps=steps, result=result)


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

    assert facts.did == ("look ×2", "pytest -q", "apt install x")
    assert facts.tools == ("look", "bash", "apt install")


def test_a_trouble_that_a_later_call_resolved_says_what_was_different() -> None:
    steps = (
        call("pay", error="Error: amount is 3, not 5", amount=3, card="a"),
        call("pay", error="Error: amount is 4, not 5", amount=4, card="a"),
        call("pay", amount=5, card="b"),
    )

    assert read(run(*steps)).troubles == (
        Trouble("pay", "Error: amount is 3, not 5", 2, resolved=True, changed="amount, card"),
    )


def test_an_argument_that_was_left_out_is_a_difference_too() -> None:
    steps = (call("pay", error="Error: unknown x", amount=5, x=1), call("pay", amount=5))

    assert read(run(*steps)).troubles[0].changed == "x"


def test_of_commands_the_one_that_worked_is_the_difference() -> None:
    steps = (Step(action="pip install x==9", error="ERROR: no version"), Step(action="pip install x==1"))

    assert read(run(*steps)).troubles == (
        Trouble("pip install x==9", "ERROR: no version", 1, resolved=True, instead="pip install x==1"),
    )


def test_the_same_call_that_worked_later_differs_in_nothing() -> None:
    steps = (Step(action="make", error="error: x"), Step(action="make"))

    (trouble,) = read(run(*steps)).troubles
    assert (trouble.resolved, trouble.changed, trouble.after, trouble.instead) == (True, "", "", "")


def test_a_change_between_a_failure_and_a_try_that_worked_is_what_resolved_it() -> None:
    steps = (
        Step(action="python x.py", error="No module named 'yaml'"),
        Step(action="ls"),
        Step(action="pip install pyyaml"),
        Step(action="cat x.py"),
        Step(action="python x.py"),
    )

    assert read(run(*steps)).troubles[0].after == "pip install pyyaml"


def test_an_act_that_is_no_look_counts_as_the_change_where_none_is_known_to_be_one() -> None:
    steps = (
        Step(action="kubectl apply -f d.yaml", error="error: Unauthorized"),
        Step(action="ls"),
        Step(action="aws eks update-kubeconfig"),
        Step(action="kubectl apply -f d.yaml"),
    )

    assert read(run(*steps)).troubles[0].after == "aws eks update-kubeconfig"


def test_a_check_that_passes_later_is_the_same_check_whatever_it_was_asked() -> None:
    steps = (
        Step(action="pytest -q", error="1 failed"),
        call("edit_file", path="a.py"),
        Step(action="pytest tests/test_a.py::test_b -x"),
    )

    facts = read(run(*steps))
    assert facts.troubles == (Trouble("pytest -q", "1 failed", 1, resolved=True, after="edit_file a.py", check=True),)
    assert (facts.check, facts.failing) == ("pytest tests/test_a.py::test_b -x", "")
    assert facts.way == ("edit_file a.py", "pytest tests/test_a.py::test_b -x")


@pytest.mark.parametrize(
    ("failed", "error", "later", "instead"),
    [
        ("pythn x.py", "bash: pythn: command not found", "python3 x.py", "python3 x.py"),
        ("grep -rn foo src", "grep: unmatched", "rg -rn foo src", "rg -rn foo src"),
        ("grep -n foo a.py", "grep: a.py: No such file or directory", "grep -rl bar src/b", ""),
        ("cat a.py", "cat: a.py: No such file", "ls", ""),
    ],
)
def test_another_command_corrects_a_failed_one_if_it_is_much_like_it(
    failed: str, error: str, later: str, instead: str
) -> None:
    (trouble,) = read(run(Step(action=failed, error=error), Step(action=later))).troubles

    assert (trouble.resolved, trouble.instead) == (bool(instead), instead)


def test_of_a_query_it_is_said_what_it_was_changed_to() -> None:
    steps = (call("sql", error="no table", query="select 1 from user"), call("sql", query="select 1 from users"))

    assert read(run(*steps)).troubles[0].changed == "query to “select 1 from users”"


def test_a_tool_that_failed_on_one_file_is_not_put_right_by_another_file() -> None:
    steps = (call("edit", error="no match", path="a", old=1), call("edit", path="b", old=2))

    assert not read(run(*steps)).troubles[0].resolved


def test_a_trouble_that_nothing_resolved_is_unresolved() -> None:
    facts = read(run(call("pay", error="Error: no"), call("look")))

    assert facts.troubles == (Trouble("pay", "Error: no", 1, resolved=False),)
    assert not facts.stuck


def test_an_act_done_three_times_with_one_outcome_is_a_repeat() -> None:
    assert read(run(*[call("look", "nothing")] * 3)).repeated == ("look", 3)
    assert read(run(*[call("look", "nothing")] * 2)).repeated == ("", 0)
    assert read(run(*[call("look", str(n)) for n in range(3)])).repeated == ("", 0)


def test_the_last_decision_of_the_agent_is_found_and_questions_are_not_one() -> None:
    facts = read(run(Step(thought="Unfortunately, it cannot be changed. Can't you wait?"), call("look")))

    assert facts.decision == "It cannot be changed."
    assert read(run(Step(thought="I understand that, but unfortunately, it is non-refundable."))).decision == (
        "It is non-refundable."
    )
    assert read(run(Step(thought="Flight HAT030 is not available. If you cannot find it, ask."))).decision == ""
    assert read(run(call("look"))).decision == ""


def test_handing_over_is_the_last_act() -> None:
    assert read(run(call("look"), call("transfer_to_human_agents"))).handed_over
    assert not read(run(call("transfer_to_human_agents"), call("look"))).handed_over
    assert not read(run()).handed_over


def test_what_the_task_asks_for_is_undone_where_the_run_only_looked() -> None:
    task = "Book a trip, cancel the old one and add a bag."

    assert read(run(call("get_trip"), call("cancelTrip", error="Error: no"), task=task)).undone == (
        "book",
        "cancel",
        "add",
    )
    assert read(run(call("get_trip"), call("update_bags"), task=task)).undone == ()
    assert read(run(task=task)).undone == ()


def test_of_commands_and_editors_nothing_can_be_called_undone() -> None:
    assert read(run(call("bash", command="rm x"), task="Cancel the job")).undone == ()
    assert read(run(call("read_file", path="x"), task="Cancel the job")).undone == ()


def test_a_change_that_nothing_looked_at_is_unchecked() -> None:
    assert read(run(call("look"), call("update_trip"))).unchecked == "update_trip"
    assert read(run(call("update_trip"), call("transfer_to_human_agents"))).unchecked == "update_trip"
    assert read(run(call("update_trip"), call("look"))).unchecked == ""
    assert read(run(call("update_trip", error="Error: x"))).unchecked == ""
    assert read(run()).unchecked == ""


def test_arguments_that_are_no_object_are_none() -> None:
    steps = (
        Step(action="pay([1])", tool="pay", error="Error: x"),
        Step(action="pay(", tool="pay"),
        Step(action="other words", tool="pay"),
    )

    assert read(run(*steps)).troubles[0].changed == ""


def test_a_text_is_cut_at_a_word_if_one_is_near() -> None:
    assert shorten("one two three", 9) == "one two…"
    assert shorten("x" * 60, 50) == "x" * 49 + "…"
    assert shorten("short", 5) == "short"


def test_nothing_is_called_undone_or_unchecked_where_an_act_may_not_have_been_understood() -> None:
    unclear = {"tools_understood": False}

    assert read(run(call("get_trip"), task="Cancel the trip").model_copy(update=unclear)).undone == ()
    assert read(run(call("look"), call("update_trip")).model_copy(update=unclear)).unchecked == ""


def test_what_was_not_there_and_was_found_elsewhere_right_after_it_is_resolved() -> None:
    failed = call("list_dir", error="No such file or directory: '/nope'", path="/nope")

    (trouble,) = read(run(failed, call("list_dir", path="."))).troubles
    (kept,) = read(run(failed, call("look"), call("list_dir", path="."))).troubles

    assert (trouble.what, trouble.resolved, trouble.changed) == ("list_dir /nope", True, "path")
    assert not kept.resolved


def test_another_command_is_not_the_same_tried_again() -> None:
    long = "python -m tool --with-a-very-long-option=that-fills-the-whole-label --mode "
    steps = [Step(action=f"{long}slow", tool="bash", error="Error: too slow"), Step(action=f"{long}fast", tool="bash")]

    (trouble,) = read(run(*steps)).troubles

    assert trouble.instead.endswith("--mode fast")


def test_what_was_run_after_the_last_change_is_part_of_the_way() -> None:
    steps = [Step(action=action, tool=action.split()[0]) for action in ("edit 1:1", "python main.py", "ls", "submit")]

    assert read(run(*steps)).way == ("edit 1:1", "python main.py")

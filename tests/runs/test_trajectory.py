from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from reasoningbank import Verdict
from reasoningbank.distill import read_runs
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.trajectory import Step, Trajectory


def test_a_run_is_read_from_a_dictionary_with_steps() -> None:
    run = Trajectory.of(
        {
            "task": "List files",
            "steps": [{"thought": "look", "action": "ls", "observation": "a.txt"}],
            "result": "a.txt",
            "verdict": "success",
            "tags": ["shell"],
            "session": "s-1",
            "started_at": "2026-01-01T00:00:00Z",
            "ended_at": datetime(2026, 1, 1, 0, 1, tzinfo=UTC),
        }
    )

    assert run.steps == (Step(thought="look", action="ls", observation="a.txt"),)
    assert (run.task, run.result, run.verdict) == ("List files", "a.txt", Verdict.SUCCESS)
    assert (run.tags, run.session) == (("shell",), "s-1")
    assert run.started_at is not None
    assert run.ended_at is not None


def test_common_other_names_of_the_fields_are_understood_and_unknown_ones_left_out() -> None:
    run = Trajectory.of(
        {
            "query": "Q",
            "trajectory": [{"reasoning": "r", "command": "ls", "output": "o", "tool_name": "sh"}],
            "final_answer": {"rows": 2},
            "outcome": "failure",
            "id": 7,
            "gold_actions": ["never shown to a distiller"],
        }
    )

    assert run == Trajectory(
        task="Q",
        steps=(Step(thought="r", action="ls", observation="o", tool="sh"),),
        result='{"rows":2}',
        verdict=Verdict.FAILURE,
        session="7",
    )


@pytest.mark.parametrize("steps", [["ls"], [("ls", "")], [["ls", None]], [{"action": "ls"}], [Step(action="ls")]])
def test_a_step_may_be_a_text_a_pair_a_dictionary_or_a_step(steps: list[Any]) -> None:
    assert Trajectory.of({"steps": steps}).steps == (Step(action="ls"),)


def test_an_error_is_read_off_the_observation_unless_it_is_given() -> None:
    read, stated = Trajectory.of(
        {
            "steps": [
                ("ls x", "ls: x: No such file or directory"),
                {"action": "a", "observation": "Error: y", "error": "z"},
            ]
        }
    ).steps

    assert read.error == "ls: x: No such file or directory"
    assert stated.error == "z"


def test_a_run_is_read_from_messages_with_its_task_and_verdict() -> None:
    messages = [{"role": "user", "content": "Add 1 and 2"}, {"role": "assistant", "content": "3"}]

    run = Trajectory.from_messages(messages, verdict=True, session="s")

    assert run == Trajectory(task="Add 1 and 2", result="3", verdict=Verdict.SUCCESS, session="s")
    assert Trajectory.of(messages).task == "Add 1 and 2"
    assert Trajectory.of({"messages": messages, "result": "three"}).result == "three"


@pytest.mark.parametrize("nothing", [None, [], {}, {"messages": []}])
def test_nothing_is_an_empty_run(nothing: Any) -> None:
    run = Trajectory.of(nothing)

    assert run == Trajectory()
    assert run.is_empty


def test_a_trajectory_is_itself() -> None:
    run = Trajectory(task="t")

    assert Trajectory.of(run) is run


def test_a_list_of_steps_is_told_from_a_list_of_messages() -> None:
    assert Trajectory.of([{"action": "ls", "observation": "x"}]).steps == (Step(action="ls", observation="x"),)
    assert Trajectory.of([{"type": "message_box", "action": "click"}]).steps == (Step(action="click"),)


def test_a_run_with_words_but_no_result_is_not_empty() -> None:
    assert not Trajectory(steps=(Step(thought="hm"),)).is_empty
    assert Trajectory(steps=(Step(),)).is_empty


@pytest.mark.parametrize(
    "run", ["a text", b"bytes", 3, {"steps": [3]}, {"steps": [("a", "b", "c")]}, {"foo": 1}, [{"foo": 1}]]
)
def test_what_is_no_run_is_refused_with_what_to_give(run: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"cannot be read from .* give a"):
        Trajectory.of(run)


def test_the_error_names_the_keys_that_were_seen_and_the_forms_that_are_known() -> None:
    with pytest.raises(InvalidInputError, match=r"keys seen: foo, bar; forms known: claude-code, .*anthropic"):
        Trajectory.of({"foo": 1, "bar": [{"x": 2}]})


@pytest.mark.parametrize(
    ("odd", "named"),
    [
        ({"started_at": "yesterday"}, "started_at 'yesterday'"),
        ({"start_time": "2026-01-02T03:04:05"}, "started_at '2026-01-02T03:04:05'"),
        ({"ended_at": 1e300}, "ended_at 1e+300"),
        ({"metadata": {"loss": float("nan"), "seed": 1}}, "metadata that JSON cannot hold"),
        ({"metadata": {"seed": 1, "big": "x" * 70_000}}, "metadata that JSON cannot hold, or too large"),
        ({"metadata": {"seed": 1, 2: 3}}, "metadata that JSON cannot hold"),
        ({"metadata": ["x"]}, "metadata that is no dictionary"),
        ({"tags": ["a", None, "x" * 99]}, "tag that is no text"),
        ({"tags": 3}, "tag that is no text"),
        ({"trusted": "perhaps"}, "trusted 'perhaps'"),
        ({"status": "splendid"}, "status 'splendid', which is no verdict"),
        ({"reward": "much"}, "reward 'much', which is not on a scale"),
        ({"score": 87}, "score 87, which is not on a scale"),
        ({"gold_actions": []}, "key gold_actions"),
    ],
)
def test_an_odd_field_costs_itself_and_is_named(odd: dict[str, Any], named: str) -> None:
    run = Trajectory.of({"task": "Fix it", "steps": ["ls"], **odd})

    assert (run.task, run.steps) == ("Fix it", (Step(action="ls"),))
    assert named in str(run.left_out[0])
    assert set(run.metadata) <= {"seed"}


def test_a_session_that_is_too_long_is_cut() -> None:
    assert Trajectory.of({"task": "t", "session": "s" * 999}).session == "s" * 200


def test_a_verdict_that_the_caller_gives_has_to_be_one() -> None:
    with pytest.raises(InvalidInputError, match="so-so"):
        Trajectory.from_messages([{"role": "user", "content": "x"}], verdict="so-so")


def test_how_a_run_was_read_is_no_part_of_what_it_tells() -> None:
    assert Trajectory.of({"task": "t", "steps": ["ls"], "foo": 1}) == Trajectory(task="t", steps=(Step(action="ls"),))
    assert Trajectory(task="t") != Trajectory(task="u")
    assert Trajectory() != "a run"


def test_a_run_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Trajectory().task = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("said", "verdict"), [(None, Verdict.UNKNOWN), ("", Verdict.UNKNOWN), ("Succeeded ", Verdict.SUCCESS)]
)
def test_a_run_that_says_nothing_of_its_end_is_unknown(said: object, verdict: Verdict) -> None:
    assert Trajectory.of({"task": "t", "verdict": said}).verdict is verdict


texts = st.text(max_size=50)
steps = st.builds(Step, thought=texts, action=texts, observation=texts, error=texts, tool=texts)


@given(st.builds(Trajectory, task=texts, steps=st.lists(steps, max_size=4).map(tuple), result=texts))
def test_a_run_reads_back_from_its_own_json(run: Trajectory) -> None:
    assert Trajectory.model_validate_json(run.model_dump_json()) == run
    (again,) = read_runs(io.StringIO(json.dumps(run.model_dump(mode="json"))))
    assert again == run


def test_runs_that_tell_the_same_are_one_in_a_set() -> None:
    assert len({Trajectory.of(["ls"]), Trajectory(steps=(Step(action="ls"),))}) == 1

"""Runs in our own words, and what they say of their end."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank import Trajectory, Verdict
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers.recognise import read_all
from reasoningbank.runs.trajectory import Step

M = [{"role": "user", "content": "Fix it"}, {"role": "assistant", "content": "Done."}]


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        ({"status": "completed"}, "unknown"),
        ({"status": "finished", "success": True}, "success"),
        ({"success": 1}, "success"),
        ({"success": 0}, "failure"),
        ({"success": "false"}, "failure"),
        ({"success": [1]}, "unknown"),
        ({"resolved": True}, "success"),
        ({"resolved": False, "status": "success"}, "failure"),
        ({"reward": 1.0}, "success"),
        ({"reward": "0.0"}, "failure"),
        ({"reward": -1}, "failure"),
        ({"score": 0.5}, "partial"),
        ({"score": 8, "max_score": 10}, "partial"),
        ({"score": 10, "max_score": 10}, "success"),
        ({"score": 8}, "unknown"),
        ({"score": float("nan")}, "unknown"),
        ({"score": 1, "max_score": 0}, "success"),
        ({"score": 1, "max_score": -1}, "unknown"),
        ({"reward": 10**400}, "unknown"),
        ({"tests_passed": 3, "tests_failed": 0}, "success"),
        ({"tests_passed": 2, "tests_total": 3}, "failure"),
        ({"failed": ["a"], "total": 3}, "failure"),
        ({"tests": {"passed": ["a", "b"], "failed": []}}, "success"),
        ({"passed": 0, "failed": 0}, "unknown"),
        ({"passed": True}, "success"),
        ({"passed": 3}, "unknown"),
        ({"report": {"resolved": True}}, "success"),
        ({"test_result": {"report": {"resolved": False}}}, "failure"),
        ({"verifier_result": {"rewards": {"reward": 1}}}, "success"),
        ({"verdict": "unknown", "success": True}, "success"),
        ({"outcome": Verdict.PARTIAL}, "partial"),
        ({"outcome": "splendid", "success": True}, "success"),
        ({"evaluation": {"a": {"success": True}}}, "unknown"),
    ],
)
def test_how_a_run_ended_is_read_by_the_stated_rules(says: dict[str, Any], verdict: str) -> None:
    run = Trajectory.of({"messages": M, **says})

    assert run.verdict is Verdict(verdict)
    assert (run.task, run.result) == ("Fix it", "Done.")


def test_a_verdict_that_the_caller_gives_is_never_overruled() -> None:
    assert Trajectory.from_messages(M, verdict="failure", success=True).verdict is Verdict.FAILURE


def test_of_two_views_of_a_run_the_one_with_more_acts_counts() -> None:
    steps = [{"action": "ls", "observation": "a"}]
    talk = [*M[:1], {"role": "assistant", "content": "ls"}, {"role": "user", "content": "a"}]

    run = Trajectory.of({"task": "Fix it", "steps": steps, "messages": talk})

    assert [(step.action, step.observation) for step in run.steps] == [("ls", "a")]
    assert str(run.left_out[0]) == "1 × second view of the same run (messages)"
    assert Trajectory.of({"steps": steps, "messages": M}).result == "Done."
    assert Trajectory.of({"steps": steps, "messages": M}).task == "Fix it"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            {"action": {"name": "ls", "args": {"p": 1}}, "observation": "a"},
            Step(action='ls({"p":1})', tool="ls", observation="a"),
        ),
        ({"action": [{"name": "ls", "args": {}}]}, Step(action="ls({})", tool="ls")),
        ({"action": {"click": 3}}, Step(action='{"click":3}')),
        ({"tool": "ls", "input": {"p": 1}, "output": "a"}, Step(action='ls({"p":1})', tool="ls", observation="a")),
        (
            {"action": "x", "observation": {"output": "a", "exit_code": 3}},
            Step(action="x", observation="a", error="a", exit_code=3),
        ),
        (
            {"action": "x", "exit_code": 0, "observation": "Error: old"},
            Step(action="x", observation="Error: old", exit_code=0),
        ),
        ({"action": "x", "is_error": True, "observation": "no"}, Step(action="x", observation="no", error="no")),
        ({"action": "x", "is_error": True}, Step(action="x", error="failed")),
        ({"action": "x", "returncode": "7"}, Step(action="x", error="exit code 7", exit_code=7)),
        ({"action": "x", "exit_code": "many", "ok": True}, Step(action="x")),
        (SimpleNamespace(action="x", observation=None, thought="t"), Step(action="x", thought="t")),
        ([SimpleNamespace(tool="ls", tool_input="."), "a"], Step(action="ls(.)", tool="ls", observation="a")),
    ],
)
def test_a_step_is_read_from_what_frameworks_write(step: Any, expected: Step) -> None:
    assert Trajectory.of({"task": "t", "steps": [step]}).steps == (expected,)


def test_a_step_of_no_known_form_costs_itself() -> None:
    run = Trajectory.of({"task": "t", "steps": ["ls", {"foo": 1}, 3, {"action": "x", "at": "2026-01-01T00:00:00"}]})

    assert [step.action for step in run.steps] == ["ls", "x"]
    assert [each.what for each in run.left_out] == [
        "step with the keys foo", "step of no known form", "time without a zone, or no time",
    ]  # fmt: skip
    assert not run.tools_understood


@pytest.mark.parametrize("name", ["loglines", "entries", "conversation", "transcript", "something_new"])
def test_messages_are_found_under_whatever_name(name: str) -> None:
    assert Trajectory.of({"version": 2, name: M}).task == "Fix it"


def test_runs_are_found_in_lists_and_dictionaries_of_runs() -> None:
    run = {"task": "Fix it", "messages": M}

    assert len(list(read_all({"version": 1, "runs": {"a": run, "b": run}, "query": {"x": [None, [1]]}}))) == 2
    assert len(list(read_all([run, run]))) == 2
    assert len(list(read_all({"results": [[M, M]]}))) == 2


def test_records_of_an_agent_that_is_not_known_are_read_by_the_messages_in_them() -> None:
    records = [{"ts": 1, "entry": message} for message in M]

    assert Trajectory.of(records).result == "Done."


@pytest.mark.parametrize("noise", [{"memory": 3}, {"result": {"x": 1}}, {"steps_taken": 4}])
def test_a_dictionary_without_words_of_a_run_is_none(noise: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="keys seen"):
        Trajectory.of(noise)


def test_messages_of_which_nothing_is_understood_are_an_error_that_says_what_is_in_them() -> None:
    with pytest.raises(InvalidInputError, match="nothing in it was understood: 1 × part of unknown kind 'quantum'"):
        Trajectory.of([{"role": "user", "content": [{"type": "quantum"}]}])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from((
        "role", "type", "content", "messages", "message", "tool_calls", "steps", "action", "observation", "trajectory",
        "history", "info", "payload", "parts", "text", "id", "call_id", "source", "kind", "reward", "task_id",
        "functionCall", "toolUse", "output", "args", "name", "lc", "kwargs", "sessionId", "value", "status", "x",
    )) | st.sampled_from(("user", "assistant", "tool")), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip
kinds = st.sampled_from(
    (
        "user",
        "assistant",
        "tool",
        "function_call",
        "function_call_output",
        "message",
        "response_item",
        "event_msg",
        "text",
    )
)


@settings(max_examples=30)
@given(st.lists(st.fixed_dictionaries({"type": kinds, "content": json_values, "payload": json_values}), max_size=4))
def test_a_record_of_any_shape_is_read_or_refused_in_words(record: list[Any]) -> None:
    with contextlib.suppress(InvalidInputError):
        assert all(isinstance(run, Trajectory) for run in read_all(record))


@settings(max_examples=30)
@given(json_values)
def test_any_json_is_read_or_refused_in_words(record: Any) -> None:
    with contextlib.suppress(InvalidInputError):
        assert isinstance(Trajectory.of(record), Trajectory)


def test_a_list_under_a_usual_name_that_tells_no_run_is_no_view_of_it() -> None:
    assert Trajectory.of({"task": "t", "log": [1, 2], "events": "none"}).steps == ()


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"verdict": "not solved"}, "failure"),
        ({"verdict": "0"}, "failure"),
        ({"outcome": "partially resolved"}, "partial"),
        ({"verdict": "inconclusive"}, "unknown"),
        ({"verdict": {"label": "fail", "why": "x"}}, "failure"),
        ({"verdict": {"score": 0.5}}, "partial"),
        ({"score": "0/5"}, "failure"),
        ({"score": "5/5"}, "success"),
        ({"score": "60 %"}, "partial"),
        ({"success": "3 / 5"}, "partial"),
    ],
)
def test_how_a_run_ended_is_said_in_many_ways(said: dict[str, Any], verdict: str) -> None:
    run = Trajectory.of({"task": "t", "result": "r", **said})

    assert run.verdict == verdict
    assert not any("no verdict" in each.what or "scale" in each.what for each in run.left_out)


@pytest.mark.parametrize(
    "said", [{"status": {"code": 1}}, {"verdict": {"label": {}}}, {"score": "7/5"}, {"score": "3/0"}]
)
def test_what_looks_like_a_verdict_and_is_none_is_told(said: dict[str, Any]) -> None:
    run = Trajectory.of({"task": "t", "result": "r", **said})

    assert run.verdict == "unknown"
    assert [each.what for each in run.left_out if "known" in each.what]


def test_a_request_and_its_response_are_one_conversation() -> None:
    asked = {"role": "user", "content": [{"type": "input_text", "text": "Find it"}]}
    call = {"type": "function_call", "name": "find", "call_id": "c", "arguments": "{}"}

    run = Trajectory.of({"input": [asked], "output": [call]})

    assert (run.task, [step.tool for step in run.steps]) == ("Find it", ["find"])

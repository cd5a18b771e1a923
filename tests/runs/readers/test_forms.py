"""Every form: recognised by itself, and read as the run that it tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reasoningbank import Trajectory
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs import known_forms
from reasoningbank.runs.readers.recognise import read_all, recognised
from reasoningbank.runs.readers.table import FORMS
from reasoningbank.verdict import Verdict
from tests.runs.readers import more_samples, samples, traces

SAMPLES: list[tuple[str, Callable[[], Any]]] = [
    ("claude-code", samples.claude_code),
    ("codex", samples.codex),
    ("codex", samples.codex_old),
    ("codex", samples.codex_events),
    ("codex", samples.codex_only_events),
    ("openhands", samples.openhands),
    ("openhands", samples.openhands_output),
    ("openhands", samples.openhands_sdk),
    ("mini-swe-agent", samples.mini_swe_agent),
    ("mini-swe-agent", samples.mini_swe_agent_two),
    ("swe-agent", samples.swe_agent),
    ("tau-bench", samples.tau_bench),
    ("tau-bench", samples.tau2_bench),
    ("sharegpt", more_samples.sharegpt),
    ("pydantic-ai", more_samples.pydantic_ai),
    ("autogen", more_samples.autogen),
    ("google-adk", more_samples.google_adk),
    ("gemini-cli", more_samples.gemini_cli),
    ("opencode", more_samples.opencode),
    ("copilot", more_samples.copilot),
    ("copilot", more_samples.copilot_chat),
    ("cursor", more_samples.cursor),
    ("atif", more_samples.atif),
    ("letta", more_samples.letta),
    ("llm-calls", more_samples.llm_calls),
    ("langsmith", traces.langsmith),
    ("langsmith", traces.langsmith_lines),
    ("langfuse", traces.langfuse),
    ("langfuse", traces.langfuse_observations),
    ("otel", traces.otel),
    ("otel", traces.openinference),
    ("otel", traces.otel_events),
    ("agents-sdk", traces.agents_sdk),
]
of_each_form = pytest.mark.parametrize(("form", "sample"), SAMPLES, ids=[sample.__name__ for _, sample in SAMPLES])
WITHOUT_A_REQUEST = (samples.codex_events,)


@of_each_form
def test_a_form_is_recognised_by_itself(form: str, sample: Callable[[], Any]) -> None:
    found = recognised(sample())

    assert found is not None
    assert found.name == form


@of_each_form
def test_every_form_tells_the_same_run(form: str, sample: Callable[[], Any]) -> None:
    run = Trajectory.of(sample())

    assert run.form == form
    assert run.task == ("" if sample in WITHOUT_A_REQUEST else samples.TASK)
    (step,) = run.steps
    assert "pytest" in step.action
    assert step.thought.removeprefix("THOUGHT: ") == "Run it first."
    assert "1 failed" in step.observation
    assert step.error
    assert run.result == "One test fails."
    assert run.tools_understood or run.left_out


@of_each_form
def test_a_form_may_be_forced(form: str, sample: Callable[[], Any]) -> None:
    assert [run.form for run in read_all(sample(), form)] == [form]


def test_the_order_of_detection_is_the_order_of_the_table() -> None:
    names = [form.name for form in FORMS]

    assert names == list(dict.fromkeys(names))
    assert names[-3:] == ["chat", "plain", "steps"]
    for form, sample in SAMPLES:
        assert next(row.name for row in FORMS if row.fits(sample())) == form


@pytest.mark.parametrize("record", [None, 3, "text", [], {}, [1, 2], {"a": [[], {}, None]}, [[["x"]]], object()])
def test_a_record_of_any_other_kind_fits_no_form_and_raises_nothing(record: Any) -> None:
    assert recognised(record) is None


def test_a_form_that_is_not_known_is_named_with_those_that_are() -> None:
    assert "swe-agent" in known_forms()
    with pytest.raises(InvalidInputError, match=r"form 'swe' is not known: choose one of claude-code, .*swe-agent"):
        list(read_all({}, "swe"))


def test_a_form_that_is_forced_on_something_else_is_told() -> None:
    with pytest.raises(InvalidInputError, match="this looks like an OpenHands event list, and cannot be read"):
        list(read_all({"foo": 1}, "openhands"))


@pytest.mark.parametrize(
    ("sample", "verdict"),
    [
        (samples.tau_bench, "failure"),
        (samples.tau2_bench, "failure"),
        (samples.openhands_output, "failure"),
        (samples.codex, "unknown"),
    ],
)
def test_how_a_run_ended_is_read_where_the_form_says_it(sample: Callable[[], Any], verdict: str) -> None:
    assert Trajectory.of(sample()).verdict is Verdict(verdict)


def test_what_a_session_holds_beside_the_run_is_left_out_and_counted() -> None:
    left = {each.what: each.count for each in Trajectory.of(samples.claude_code()).left_out}

    assert left == {
        "record of type summary": 1,
        "record that is there twice": 1,
        "record of type file-history-snapshot": 1,
        "record of type no record": 1,
        "text of the harness": 1,
        "command to the program": 1,
        "interruption by the user": 1,
        "error of the model's endpoint": 1,
    }


def test_the_agents_that_a_session_starts_are_runs_of_their_own() -> None:
    aside = [{**record, "isSidechain": True} for record in samples.claude_code()[3:8]]
    for number, record in enumerate(aside):
        record["uuid"] = f"side {number}"

    main, side = read_all([*samples.claude_code(), *aside])

    assert (main.session, side.session) == ("S", "S/side")
    assert main.task == side.task == samples.TASK
    assert main.started_at is not None


def test_acts_of_openhands_are_written_as_what_they_do() -> None:
    def acted(action: str, args: dict[str, Any], **more: Any) -> Any:
        event = {"id": 1, "source": "agent", "action": action, "args": args, **more}
        return Trajectory.of([{"id": 0, "source": "user", "action": "message", "args": {"content": "t"}}, event])

    assert acted("run_ipython", {"code": "1 + 1"}).steps[0].action == "1 + 1"
    assert acted("edit", {"path": "a.py", "thought": ""}).steps[0].action == 'edit({"path":"a.py"})'
    assert acted("call_tool_mcp", {"name": "fetch", "arguments": {}}).steps[0].tool == "fetch"
    assert acted("think", {"thought": "Hm."}).result == "Hm."


def test_what_openhands_observes_as_an_error_is_one() -> None:
    events = samples.openhands()[:4]
    error = {
        "id": 9,
        "source": "environment",
        "cause": 3,
        "observation": "error",
        "content": "no such tool",
        "extras": {},
    }
    thought = {"id": 8, "source": "agent", "observation": "think", "content": "ok", "extras": {}}

    (step,) = Trajectory.of([*events, thought, error]).steps

    assert (step.observation, step.error) == ("no such tool", "no such tool")


def test_an_error_of_the_sdk_is_the_answer_to_its_call() -> None:
    events = samples.openhands_sdk()[:3]
    error = {"kind": "AgentErrorEvent", "id": "e", "source": "agent", "error": "cut off", "tool_call_id": "c1"}

    (step,) = Trajectory.of([*events, error]).steps

    assert (step.observation, step.error) == ("cut off", "cut off")


def test_codex_reports_patches_and_tools_of_servers_too() -> None:
    done = [
        {"id": "1", "type": "file_change", "changes": [{"path": "a.py", "kind": "add"}], "status": "completed"},
        {
            "id": "2",
            "type": "mcp_tool_call",
            "tool": "fetch",
            "arguments": {},
            "error": {"message": "down"},
            "status": "failed",
        },
    ]
    events = [
        {"type": "thread.started", "thread_id": "S"},
        *({"type": "item.completed", "item": item} for item in done),
    ]

    patch, call = Trajectory.of(events).steps

    assert patch.action == 'apply_patch([{"path":"a.py","kind":"add"}])'
    assert (call.action, call.tool, call.error) == ("fetch({})", "fetch", "down")


@pytest.mark.parametrize(
    "trajectory",
    [{"trajectory": 3, "history": []}, {"trajectory": [{"foo": 1}], "history": []}, {"trajectory": []}, []],
)
def test_a_dictionary_with_other_trajectories_is_none_of_swe_agent(trajectory: Any) -> None:
    row = next(form for form in FORMS if form.name == "swe-agent")

    assert not row.fits(trajectory)


def test_the_task_of_an_swe_agent_run_is_stated_or_in_its_history() -> None:
    step = {"action": "ls", "observation": "a"}

    assert Trajectory.of({"trajectory": [step], "history": [], "problem_statement": "P"}).task == "P"
    assert Trajectory.of({"trajectory": [step], "environment": "e", "info": {}}).task == ""


def test_a_file_of_a_form_without_a_run_is_told() -> None:
    with pytest.raises(InvalidInputError, match="this looks like a tau-bench simulation, and there is no run in it"):
        Trajectory.of({"simulations": []})


def test_several_runs_are_not_one() -> None:
    with pytest.raises(InvalidInputError, match="holds several runs"):
        Trajectory.of([samples.tau_bench(), samples.tau_bench()])


def test_what_is_said_of_the_end_is_read_from_the_first_record_that_says_it() -> None:
    assert Trajectory.of({**samples.tau_bench(), "info": "lost"}).verdict is Verdict.FAILURE
    assert Trajectory.of({**samples.tau_bench(), "reward": None, "info": "lost"}).verdict is Verdict.UNKNOWN


def test_a_step_of_swe_agent_in_which_nothing_happened_is_none() -> None:
    step = {"action": "", "observation": "", "thought": ""}

    with pytest.raises(InvalidInputError, match="there are no words of a run"):
        Trajectory.of({"trajectory": [step], "history": []})


def test_what_a_session_that_ran_a_shell_command_by_hand_holds_is_no_request() -> None:
    typed = {**samples.claude_code()[3], "message": {"role": "user", "content": "<bash-input>ls</bash-input> Fix it"}}

    assert Trajectory.of([typed]).task == "Fix it"


def test_events_of_openhands_without_arguments_say_what_they_say_in_their_message() -> None:
    events = [{"id": 0, "source": "user", "action": "message", "message": "Roll a die"},
              {"id": 1, "source": "agent", "action": "edit", "args": {"path": "a.py"}},
              {"id": 2, "source": "agent", "action": "finish", "args": {"message": "Done"}}]  # fmt: skip

    run = Trajectory.of(events)

    assert (run.form, run.task, run.result) == ("openhands", "Roll a die", "Done")


def test_a_simulation_that_broke_off_before_the_first_message_says_so() -> None:
    run = Trajectory.of({"task_id": 0, "reward": 0.0, "info": {"error": "EOF when reading a line"}, "traj": []})

    assert run.verdict is Verdict.FAILURE
    assert [each.what for each in run.left_out] == ["simulation without messages: EOF when reading a line"]

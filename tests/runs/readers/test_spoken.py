"""Tools that are used in plain text."""

from __future__ import annotations

import pytest

from reasoningbank import Trajectory


def run_of(said: str, answer: str | None, *more: str) -> Trajectory:
    messages = [{"role": "user", "content": "Count the files"}, {"role": "assistant", "content": said}]
    messages += [{"role": "user", "content": answer}] if answer is not None else []
    return Trajectory.of([*messages, *({"role": "assistant", "content": words} for words in more)])


@pytest.mark.parametrize(
    ("said", "tool", "action"),
    [
        ("I look.\n```bash\nls | wc -l\n```", "bash", "ls | wc -l"),
        ("I look.\n```mswea_bash_command\nls\n```\n", "bash", "ls"),
        ("I look.\n```python\nprint(1)\n```", "python", "print(1)"),
        ("I look.\n```sql\nselect 1\n```", "sql", "select 1"),
        ("I look.\n```tool_code\nf()\n```", "python", "f()"),
        ("I look.\n```bash\nls", "bash", "ls"),
        ('I look.\n<tool_call>\n{"name": "ls", "arguments": {"path": "."}}\n</tool_call>', "ls", 'ls({"path":"."})'),
        ("I look.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>", "bash", "bash(ls)"),
        ("I look.\n<execute_command><command>ls</command></execute_command>", "execute_command",
         'execute_command({"command":"ls"})'),
        ("I look.\n<function_calls>ls", "tool", "tool(ls)"),
        ("I look.\nAction: ls\nAction Input: {\"path\": \".\"}\nObservation", "ls", 'ls({"path": "."})'),
        ("I look.\nAction 1: Search[files]", "Search", "Search[files]"),
        ("I look.\n**Action:** `[x`", "action", "[x"),
    ],
)  # fmt: skip
def test_a_command_in_the_text_is_an_act_where_an_output_answers_it(said: str, tool: str, action: str) -> None:
    run = run_of(said, "Observation: 3", "There are three.")

    (step,) = run.steps
    assert (step.thought, step.tool, step.action, step.observation) == ("I look.", tool, action, "3")
    assert (run.result, run.tools_understood) == ("There are three.", True)


@pytest.mark.parametrize(
    ("answer", "output", "code"),
    [
        ("<returncode>0</returncode>\n<output>\n3\n</output>", "3", 0),
        ("<returncode>127</returncode>\n<output>\n</output>", "", 127),
        ("<output>3", "3", None),
        ("EXECUTION RESULT of [execute_bash]:\n3\n[Command finished with exit code 1]", None, 1),
        ("[execute_command for 'ls'] Result:\n3", None, None),
        ("Output: 3", "3", None),
        ("**Observation:**\n3", "3", None),
    ],
)
def test_what_the_command_printed_is_taken_out_of_the_message(
    answer: str, output: str | None, code: int | None
) -> None:
    (step,) = run_of("```bash\nls\n```", answer).steps

    assert step.observation == (answer if output is None else output)
    assert step.exit_code == code
    assert bool(step.error) is bool(code)


def test_a_fence_that_nothing_answers_is_text_and_tools_are_not_said_to_be_unused() -> None:
    run = run_of("Type this:\n```bash\nls\n```", "Thanks!")

    assert run.steps[0].action == ""
    assert not run.tools_understood
    assert "command in the text" in run.left_out[0].what


@pytest.mark.parametrize("said", ["No command.", "```bash\n\n```", "```json\n{}\n```"])
def test_a_text_without_a_command_is_a_text(said: str) -> None:
    run = run_of(said, "Output: 3")

    assert [step.action for step in run.steps] == [""]
    assert run.tools_understood


def test_a_last_command_without_an_answer_is_left_as_text_beside_those_that_have_one() -> None:
    run = run_of("```bash\nls\n```", "Output: 3", "```bash\nexit\n```")

    assert [step.action for step in run.steps] == ["ls"]
    assert "exit" in run.result


def test_where_the_form_says_that_commands_are_acts_the_last_needs_no_answer() -> None:
    messages = [{"role": "user", "content": "Count"}, {"role": "assistant", "content": "```bash\nls\n```"}]

    run = Trajectory.of({"trajectory_format": "mini-swe-agent-1", "messages": messages, "info": None})

    assert [step.action for step in run.steps] == ["ls"]

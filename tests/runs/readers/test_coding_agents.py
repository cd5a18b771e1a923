"""What only one coding agent does: histories in Markdown, chats of bubbles, taken back messages, agents of agents."""

from __future__ import annotations

import time
from typing import Any

import pytest

from reasoningbank import Trajectory
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers import spoken
from reasoningbank.runs.readers.recognise import read_all

AIDER = """
# aider chat started at 2026-01-01 10:00:00

> Aider v0.82.2
>
> Add .aider* to .gitignore (recommended)? (Y)es/(N)o [Yes]: y

#### /add parser.py
> Added parser.py to the chat

#### /code The parser drops
#### the last row.

#### The parser drops
#### the last row.

The loop ends early.

```python
parser.py
<<<<<<< SEARCH
range(n - 1)
=======
range(n)
>>>>>>> REPLACE
```

> The LLM did not conform to the edit format.
>
> # 1 SEARCH/REPLACE block failed to match!

Once more.

> Tokens: 5.4k sent, 1.1k received.
>
> Applied edit to parser.py
> Commit c339495 fix: last row

#### I ran this command:
####
#### pytest
####
#### And got this output:
####
#### 1 failed

It misses the header.

> pytest -x
> Run shell command? (Y)es/(N)o [Yes]: y
> Running pytest -x

# aider chat started at 2026-01-02 10:00:00

> Aider v0.82.2

# aider chat started at 2026-01-03 10:00:00

#### /ask Why?

Because.
"""


def test_a_history_of_aider_holds_a_run_for_each_chat_in_which_something_was_asked() -> None:
    first, second = read_all(AIDER)

    assert first.form == "aider"
    assert first.task == "The parser drops\nthe last row."
    acts = [(step.action, bool(step.error)) for step in first.steps if step.action]
    assert acts == [("edit()", True), ('edit({"path":"parser.py"})', False), ("pytest", True), ("pytest -x", False)]
    assert {"command to the program": 1, "time without a zone, or no time": 1}.items() <= {
        each.what: each.count for each in first.left_out
    }.items()
    assert (second.task, second.result) == ("Why?", "Because.")


def test_appworlds_log_of_its_shell_is_a_run_without_a_task() -> None:
    head = "\n### Environment Interaction {}\n" + "-" * 76 + "\n"
    first = (
        head.format(1)
        + "```python\nprint(apis.a.b())\n```\n\n```\nExecution failed. Traceback:\nKeyError: 'b'\n```\n\n"
    )
    second = head.format(2) + "```python\nx = '''\n```'''\n```\n\n```\n```\n"

    run = Trajectory.of(first + second + head.format(3) + "cut off")

    assert (run.form, run.task) == ("appworld", "")
    assert [(step.action, step.error) for step in run.steps] == [
        ("print(apis.a.b())", "KeyError: 'b'"),
        ("x = '''\n```'''", ""),
    ]
    assert not run.tools_understood


def bubble(kind: Any, text: str = "", **more: Any) -> dict[str, Any]:
    return {"type": kind, "text": text, **more}


def test_a_chat_of_cursors_store_is_read_with_its_tools() -> None:
    worked = {"name": "read_file", "toolCallId": "c1", "rawArgs": '{"path":"a"}', "result": '{"contents":"x"}',
              "status": "completed"}  # fmt: skip
    failed = {"tool": 7, "toolCallId": "c2", "params": "{}", "status": "error",
              "error": '{"clientVisibleErrorMessage":"Could not apply"}'}  # fmt: skip
    bubbles = [bubble(1, "Rename f"), bubble(2, thinking={"text": "Read first."}), bubble(2, toolFormerData=worked),
               bubble(2, toolFormerData=failed), bubble(2, "Renamed."), {"type": "unreadable"}]  # fmt: skip

    run = Trajectory.of({"composerId": "C", "conversation": bubbles, "createdAt": 1_700_000_000_000})

    assert (run.form, run.session, run.task, run.result) == ("cursor", "C", "Rename f", "Renamed.")
    first, second = run.steps
    assert (first.thought, first.action, first.error) == ("Read first.", 'read_file({"path":"a"})', "")
    assert (second.tool, second.error) == ("7", "Could not apply")
    assert run.started_at is not None
    assert [each.what for each in run.left_out] == ["message of unknown role 'unreadable'"]


def test_older_chats_of_cursor_say_who_speaks_in_words() -> None:
    run = Trajectory.of({"tabId": "T", "bubbles": [bubble("user", "Why?"), {"type": "ai", "rawText": "Because."}]})

    assert (run.form, run.task, run.result) == ("cursor", "Why?", "Because.")


def said(number: int, kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "type": kind, "content": [{"text": text}], **more}


def test_a_session_of_gemini_cli_is_read_as_it_stands_at_its_end() -> None:
    call = {"functionCall": {"id": "x", "name": "ls", "args": {}}}
    held = {
        "id": "y",
        "name": "ls",
        "result": [{"functionResponse": {"response": {"output": "a"}}}],
        "status": "success",
    }
    records = [
        {"session_id": "S", "start_time": "2026-01-01T00:00:00Z"},
        said(1, "user", "/chat save x"),
        said(2, "user", "First."),
        said(3, "gemini", "No."),
        {"$rewindTo": "m2"},
        {"$rewindTo": "nowhere"},
        said(4, "user", "<session_context>here</session_context>"),
        said(5, "user", "/etc/hosts is wrong"),
        said(5, "user", "/etc/hosts is quite wrong"),
        {**said(6, "gemini", "Look."), "content": [{"text": "Look."}, call], "toolCalls": [held]},
        {"$set": {"lastUpdated": "2026-01-01T00:00:00Z"}},
    ]

    run = Trajectory.of(records)

    assert (run.form, run.session, run.task) == ("gemini-cli", "S", "/etc/hosts is quite wrong")
    assert [(step.tool, step.observation) for step in run.steps] == [("ls", "a")]
    assert {"taken back: 2 messages", "command to the program", "text of the harness"} <= {e.what for e in run.left_out}


def test_what_gemini_cli_sets_anew_takes_the_place_of_all_before() -> None:
    records = [said(1, "user", "Old."), {"$set": {"messages": [said(1, "user", "New."), said(2, "gemini", "Yes.")]}}]

    run = Trajectory.of(records)

    assert (run.form, run.task, run.result) == ("gemini-cli", "New.", "Yes.")


def record(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "message": {"role": kind, "content": content}, **more}


def test_records_of_claude_code_need_no_more_than_who_speaks_and_what_is_said() -> None:
    (run,) = read_all([{"type": "user", "message": {"content": "Fix it"}}, record("assistant", "Done.")])

    assert (run.form, run.task, run.result) == ("claude-code", "Fix it", "Done.")


def test_the_answer_of_an_agent_that_a_session_started_belongs_to_the_session() -> None:
    start = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Look"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "Found."}
    grep = {"type": "tool_use", "id": "t2", "name": "Grep", "input": {}}
    records = [
        record("user", "Find it", isSidechain=False),
        record("assistant", [start], isSidechain=False),
        record("assistant", [grep], isSidechain=True),
        record("user", [{**answer, "tool_use_id": "t2"}], isSidechain=True, agentId="A"),
        record("user", [answer], isSidechain=False, agentId="A"),
    ]

    main, aside = read_all(records)

    assert [(step.tool, step.observation) for step in main.steps] == [("Task", "Found.")]
    assert [(step.tool, step.observation) for step in aside.steps] == [("Grep", "Found.")]


CLINE = "Let me see.\n\n<read_file>\n<path>a.py</path>\n<line>3</line>\n</read_file>"


def test_tools_that_an_editors_agent_uses_as_elements_in_its_text_are_acts() -> None:
    done = "<attempt_completion>\n<result>\nIt is empty.\n</result>\n<command>ls</command>\n</attempt_completion>"
    answer = [
        {"type": "text", "text": "[read_file for 'a.py'] Result:"},
        {"type": "text", "text": "Error: no such file"},
    ]

    run = Trajectory.of([{"role": "user", "content": "<task>Read it</task>"}, {"role": "assistant", "content": CLINE},
                         {"role": "user", "content": answer}, {"role": "assistant", "content": done}])  # fmt: skip

    (step,) = run.steps
    assert (step.tool, step.action) == ("read_file", 'read_file({"path":"a.py","line":"3"})')
    assert step.error
    assert (run.task, run.result) == ("Read it", "It is empty.")


@pytest.mark.parametrize("unit", ["<a>", "<b_c>\n<d>", "<a>x</a>"])
def test_a_text_full_of_elements_is_read_in_one_pass(unit: str) -> None:
    def seconds(times: int) -> float:
        began = time.perf_counter()
        spoken.command_in("<read_file>\n<path>" + unit * times)
        return time.perf_counter() - began

    seconds(10)
    assert seconds(40_000) < 40 * seconds(4_000) + 0.2


def test_a_demonstration_that_no_flag_marks_is_not_the_task() -> None:
    shown = {
        "role": "user",
        "content": "Here is a demonstration of how to correctly accomplish this task.\nISSUE:\nOther\n",
    }
    asked = {"role": "user", "content": "ISSUE:\nMine\n\nINSTRUCTIONS:\nNow solve it."}

    run = Trajectory.of({"history": [shown, asked], "info": {}, "trajectory": [{"action": "ls", "observation": "a"}]})

    assert run.task == "Mine"
    assert Trajectory.of([shown, {"role": "user", "content": "Mine"}]).task == "Mine"


def test_a_call_in_sharegpt_that_is_no_json_is_still_a_call() -> None:
    call = '{"name": "create_contact", "arguments": \'{"name": "Ada"}\'}'
    several = '[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]'

    def acts(value: str) -> list[str]:
        turns = [{"from": "human", "value": "Do it"}, {"from": "function-call", "value": value}]
        return [step.tool for step in Trajectory.of(turns).steps]

    assert acts(call) == ["create_contact"]
    assert acts("whatever") == ["tool"]
    assert acts(several) == ["a", "b"]


def test_a_text_that_is_none_of_these_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="a run cannot be read from str"):
        Trajectory.of("# Notes\n\nNothing.")

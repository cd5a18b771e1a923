"""A first hour with the server, as an agent has it: from an empty project to a lesson that is put right and retired."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from reasoningbank import ReasoningBank, Verdict
from tests.mcp_server.conftest import RECORD, Spawn

Ask = Callable[..., Any]


@pytest.fixture
def ask(spawn: Spawn) -> Ask:
    """Asks one server that runs as a process, by tool or by method, and gives the result."""
    client = spawn("--allow", "list", "--allow", "update", "--allow", "retire", "--distiller", "template")
    numbers = itertools.count(1)
    began = client.initialize()["result"]

    def asked(name: str, **arguments: Any) -> Any:
        if name == "initialize":
            return began
        number = next(numbers)
        if name.startswith("memory_"):
            client.call(number, name, **arguments)
        else:
            client.send({"id": number, "method": name, "params": arguments})
        return client.wait_for(number)["result"]

    return asked


def test_an_agent_finds_its_way_by_what_the_server_says(ask: Ask, bank: ReasoningBank) -> None:
    tools = {tool["name"] for tool in ask("tools/list")["tools"]}
    told = ask("initialize")["instructions"]
    assert all(word.strip(".,") in tools for word in told.split() if word.startswith("memory_"))

    # Nothing is known yet; the run has a ref all the same, and is reported.
    first = ask("memory_search", query="rename the scans whose names have blanks", limit="null", tags="null")
    ref = first["structuredContent"]["ref"]
    assert first["content"][0]["text"] == f"No lesson fits.\n\nref: {ref}"
    why = "mv took the blank in the name for the end of it"
    ended = ask("memory_outcome", ref=ref, succeeded="false", reason=why)["structuredContent"]
    assert (ended["recorded"], len(ended["lessons"])) == (True, 1)
    memory_id = ask("memory_record", **RECORD, tags='["shell"]')["structuredContent"]["memory_id"]

    # The next run is given it, and what is said of it counts once.
    found = ask("memory_search", query="put paths in quotes", limit=5.0)["structuredContent"]
    assert memory_id in {lesson["memory_id"] for lesson in found["memories"]}
    votes = [ask("memory_feedback", memory_id=memory_id, helpful="yes")["structuredContent"] for _ in range(3)]
    assert [vote["recorded"] for vote in votes] == [True, False, False]
    assert ask("memory_outcome", ref=found["ref"], succeeded=True)["structuredContent"]["recorded"]
    assert bank.runs.get(found["ref"]).verdict is Verdict.SUCCESS

    # It is put right, looked at, and retired.
    changed = ask("memory_update", memory_id=memory_id, content="Put every path in quotes", reason="globs too")
    assert changed["structuredContent"]["changed"]
    listed = ask("memory_list", text="every path")["structuredContent"]["memories"]
    assert [row["memory_id"] for row in listed] == [memory_id]
    whole = json.loads(ask("resources/read", uri=f"memory://{memory_id}")["contents"][0]["text"])
    assert whole["content"] == "Put every path in quotes"
    assert ask("memory_retire", memory_id=memory_id, reason="a rule of the linter now")["isError"] is False
    again = ask("memory_search", query="put every path in quotes")["structuredContent"]["memories"]
    assert memory_id not in {lesson["memory_id"] for lesson in again}
    assert bank.revisions(memory_id)[0].said.content == RECORD["content"]

    # A run of several steps becomes a lesson; a person looks at what there is.
    steps = ["ls", {"action": "mv a b", "error": "mv: cannot stat 'a': No such file or directory"}]
    drawn = ask("memory_distill", task="move the scans", steps=steps, succeeded=False)["structuredContent"]
    assert drawn["status"] == "done"
    status = json.loads(ask("resources/read", uri="memory://status")["contents"][0]["text"])
    assert status["problems"] == []
    assert status["memories"]["archived"] == 1


def test_each_mistake_says_how_to_go_on(ask: Ask) -> None:
    mistakes: list[tuple[str, dict[str, Any], str]] = [
        ("memory_search", {"task": "x"}, "query"),
        ("memory_outcome", {"succeeded": True}, '{"ref": "<ref of memory_search>"'),
        ("memory_outcome", {"ref": "nope", "succeeded": True}, "no episode for ref 'nope'"),
        ("memory_feedback", {"memory_id": "nope", "helpful": True}, "no memory 'nope'"),
        ("memory_record", {"title": "t", "content": "c", "outcome": "good"}, "'success' or 'failure'"),
        ("memory_update", {"memory_id": "nope", "reason": "r"}, "give content, title or applies_when"),
        ("memory_approve", {"memory_id": "x"}, "there is no tool 'memory_approve'"),
    ]
    for tool, arguments, said in mistakes:
        result = ask(tool, **arguments)
        assert result["isError"] is True
        assert said in result["content"][0]["text"], result

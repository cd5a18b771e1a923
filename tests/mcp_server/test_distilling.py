"""memory_distill: offered when a distiller is configured, and only then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reasoningbank import ReasoningBank, TemplateDistiller, Verdict
from reasoningbank.mcp_server import Offer, OneProject
from tests.mcp_server.conftest import MODES, call, connected, refusal

STEPS: list[dict[str, Any]] = [
    {"action": "for f in $(ls); do mv $f in/$f; done", "result": "mv: cannot stat '2.jpeg': No such file or directory"},
    {"action": 'for f in *; do mv "$f" in/; done', "result": "moved 3 files"},
]
RUN: dict[str, Any] = {"task": "move the scans into the folder in", "steps": STEPS, "succeeded": True}


@pytest.fixture
def distilling(bank: ReasoningBank) -> Offer:
    return Offer(OneProject(bank), distiller=TemplateDistiller())


def test_without_a_distiller_there_is_no_such_tool(bank: ReasoningBank) -> None:
    assert "there is no tool 'memory_distill'" in refusal(Offer(OneProject(bank)), "memory_distill", **RUN)
    looking = Offer(OneProject(bank), read_only=True, distiller=TemplateDistiller())
    assert [tool["name"] for tool in looking.tools()] == ["memory_search"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_becomes_lessons(distilling: Offer, bank: ReasoningBank, mode: str) -> None:
    async with connected(distilling, mode) as client:
        result = await client.call_tool("memory_distill", RUN)

    assert result.structured_content is not None
    assert result.structured_content["status"] == "done"
    (memory_id,) = result.structured_content["memory_ids"]
    memory = bank.get(memory_id)
    assert (memory.outcome, memory.source.how, memory.source.trusted) == (Verdict.SUCCESS, "distilled", True)
    assert "scans" in memory.content


def test_the_same_run_again_teaches_nothing_new(distilling: Offer, bank: ReasoningBank) -> None:
    first = call(distilling, "memory_distill", **RUN)

    again = distilling.call("memory_distill", RUN)

    assert again["structuredContent"]["duplicates"] == first["memory_ids"]
    assert again["content"][0]["text"] == f"No new lesson. Known already: {first['memory_ids'][0]}."
    assert bank.count() == 1


def test_steps_that_come_as_json_text_are_steps(distilling: Offer) -> None:
    assert call(distilling, "memory_distill", **RUN | {"steps": json.dumps(STEPS), "succeeded": "true"})["memory_ids"]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"steps": []}, "steps"),
        ({"steps": [{"did": "x"}]}, "steps"),
        ({"steps": "first this, then that"}, "steps"),
        ({"task": "  "}, "task"),
        ({"succeeded": "perhaps"}, "'perhaps'"),
    ],
)
def test_a_run_that_cannot_be_read_is_refused(
    distilling: Offer, bank: ReasoningBank, change: dict[str, Any], shown: str
) -> None:
    assert shown in refusal(distilling, "memory_distill", **RUN | change)
    assert bank.count() == 0


def test_an_untrusted_server_s_lessons_are_untrusted(bank: ReasoningBank) -> None:
    call(Offer(OneProject(bank), distiller=TemplateDistiller(), trusted=False), "memory_distill", **RUN)

    assert bank.list().memories[0].source.trusted is False


def test_the_schema_stands_in_one_piece(distilling: Offer) -> None:
    schema = distilling.tools()[-1]["inputSchema"]

    assert "$" not in json.dumps(schema)
    assert schema["properties"]["steps"]["items"]["required"] == ["action"]

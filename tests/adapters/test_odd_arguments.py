"""Whatever a model sends for any argument of any tool is an answer."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.adapters import memory_tools

NOTHING_SAID: Final[tuple[Any, ...]] = (None, "null", "None", "", "n/a", ["null"], {})


@pytest.mark.parametrize("name", ["memory_search", "memory_record", "memory_outcome", "memory_list", "memory_update"])
def test_whatever_a_model_sends_for_any_argument_is_an_answer(bank: ReasoningBank, name: str) -> None:
    memory = bank.record("Back up", "Back up the database first", outcome="success", tags=["db"]).memory
    tool = {each.name: each for each in memory_tools(bank, allow=("list", "update"))}[name]
    needed: dict[str, dict[str, Any]] = {
        "memory_search": {"query": "back up the database"},
        "memory_record": {"title": "T", "content": "C", "outcome": "success"},
        "memory_outcome": {"memory_id": memory.id, "succeeded": True},
        "memory_list": {},
        "memory_update": {"memory_id": memory.id, "reason": "why", "content": "Back it up twice"},
    }
    said = needed[name]
    optional = [each for each, field in tool.spec.arguments.model_fields.items() if not field.is_required()]

    for argument in optional:
        if argument not in said:
            for nothing in NOTHING_SAID[:5]:
                assert not tool(said | {argument: nothing}).failed, (argument, nothing)
    for argument in tool.spec.arguments.model_fields:
        for odd in (*NOTHING_SAID, 5.0, 5.5, "5.0", True, "a text", ["a"], [["a"]], {"a": 1}, "\ud83d", [None], 1e400):
            json.dumps(tool(said | {argument: odd}).data).encode()
    for odd_call in ("back up the database", json.dumps(said), "[]", "null", "\ud83d", [said], 5, None):
        json.dumps(tool(odd_call).data).encode()  # type: ignore[arg-type]
    assert tool(json.dumps(said)).failed is tool(said).failed


def test_a_plain_text_is_what_a_tool_needs_first_and_null_is_no_text(bank: ReasoningBank) -> None:
    bank.record("Back up", "Back up the database first", outcome="success", tags=["db"])
    search, record, *_ = memory_tools(bank)

    assert "Back up the database first" in search("back up the database").text
    assert "Back up the database first" in search({"query": "back up the \ud83ddatabase", "tags": "['db']"}).text
    assert "argument 'content': Field required" in record("A title").text
    assert record({"title": "null", "content": "C", "outcome": "success"}).failed
    stored = record({"title": "T", "content": "C", "outcome": "success", "description": "null", "applies_when": "N/A"})
    memory = bank.get(stored.data["memory_id"])
    assert (memory.description, memory.applies_when) == ("", "")

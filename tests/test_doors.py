"""No door lacks a call without a reason, and the page says what the doors really call."""

from __future__ import annotations

import pytest

from tools import doors


def test_no_gap_is_unexplained() -> None:
    assert doors.gaps() == []


def test_the_page_is_read_out_of_the_code() -> None:
    known = doors.doors()

    assert known["command line"]["recall"] == ["recall"]
    assert "graph add" in known["command line"]["graph.add_node"]
    assert "memory_outcome" in known["MCP"]["report"]
    assert known["adapters"]["recall"] == ["LangChain", "LangGraph", "LlamaIndex"]
    # What a command shows of a variable that is called like another command is not what it calls.
    assert "show" not in known["command line"]["links.suggest"]


def test_a_call_that_nobody_explains_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doors.GAPS, "MCP", ())

    assert "MCP lacks upkeep.salvage" in doors.gaps()

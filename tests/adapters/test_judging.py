"""How often, and how much, it counts what an agent says of its own runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.adapters import MemoryTool, memory_tools
from tests.conftest import Clock

QUERY = "rename the scans whose names have blanks"


@pytest.fixture
def memory_id(bank: ReasoningBank) -> str:
    return bank.record("Quote paths", "Put paths in quotes: names of scans have blanks", outcome="failure").memory.id


@pytest.fixture
def tools(bank: ReasoningBank) -> dict[str, MemoryTool]:
    return {tool.name: tool for tool in memory_tools(bank, by="claude")}


Say = Callable[[dict[str, MemoryTool], str, str], dict[str, Any]]

SAID: list[Say] = [
    lambda tools, memory_id, _ref: tools["memory_feedback"]({"memory_id": memory_id, "helpful": True}).data,
    lambda tools, memory_id, _ref: tools["memory_outcome"]({"memory_id": memory_id, "succeeded": True}).data,
    lambda tools, memory_id, ref: tools["memory_outcome"]({"memory_id": memory_id, "ref": ref, "succeeded": 1}).data,
]


@pytest.mark.parametrize("say", SAID)
@pytest.mark.parametrize("searched", [False, True])
def test_what_an_agent_repeats_about_a_lesson_counts_once(
    tools: dict[str, MemoryTool], bank: ReasoningBank, memory_id: str, say: Say, searched: bool
) -> None:
    ref = tools["memory_search"]({"query": QUERY}).data["ref"] if searched else "made up"

    first, *again = [say(tools, memory_id, ref) for _ in range(10)]

    assert first["recorded"]
    assert not any(data["recorded"] for data in again)
    assert {data["confidence"] for data in again} == {first["confidence"]}
    assert first["confidence"] == pytest.approx(0.823, abs=0.01)
    assert bank.get(memory_id).confidence == pytest.approx(first["confidence"], abs=1e-4)


def test_it_counts_once_too_when_the_run_has_been_reported(tools: dict[str, MemoryTool], memory_id: str) -> None:
    ref = tools["memory_search"]({"query": QUERY}).data["ref"]
    tools["memory_outcome"]({"ref": ref, "succeeded": True})

    said = [tools["memory_feedback"]({"memory_id": memory_id, "helpful": True}).data for _ in range(4)]

    assert [data["recorded"] for data in said] == [True, False, False, False]
    assert {data["ref"] for data in said} == {ref}
    assert said[-1]["confidence"] < 0.83


def test_made_up_references_are_one_and_the_answer_says_so(tools: dict[str, MemoryTool], memory_id: str) -> None:
    outcome = tools["memory_outcome"]

    answers = [outcome({"memory_id": memory_id, "ref": f"run {n}", "succeeded": True}) for n in range(5)]

    assert [answer.data["recorded"] for answer in answers] == [True, False, False, False, False]
    assert "No run here has the ref 'run 0'" in answers[0].text
    assert "ref" not in answers[0].data


def test_the_opposite_replaces_it(tools: dict[str, MemoryTool], memory_id: str) -> None:
    tools["memory_feedback"]({"memory_id": memory_id, "helpful": True})

    changed = tools["memory_feedback"]({"memory_id": memory_id, "helpful": False})

    assert changed.data["recorded"]
    assert changed.data["confidence"] < 0.8


def test_each_run_counts(tools: dict[str, MemoryTool], memory_id: str, clock: Clock) -> None:
    confidences = []
    for _ in range(3):
        clock.move(seconds=1)
        ref = tools["memory_search"]({"query": QUERY}).data["ref"]
        told = tools["memory_feedback"]({"memory_id": memory_id, "helpful": True})
        assert told.data["ref"] == ref
        confidences.append(told.data["confidence"])

    assert confidences == sorted(set(confidences))


def test_an_agent_about_its_own_run_says_less_than_a_person(
    tools: dict[str, MemoryTool], bank: ReasoningBank, memory_id: str
) -> None:
    other = bank.record("Quote globs", "Put globs in quotes too", outcome="failure").memory.id

    by_agent = tools["memory_feedback"]({"memory_id": memory_id, "helpful": True}).data["confidence"]
    by_person = bank.vote(other, True, by="ada").memory.confidence

    assert 0.8 < by_agent < by_person - 0.02


def test_a_run_is_credited_once_and_the_reason_becomes_a_lesson_that_is_named(
    tools: dict[str, MemoryTool], bank: ReasoningBank, memory_id: str
) -> None:
    ref = tools["memory_search"]({"query": QUERY}).data["ref"]
    why = "mv stopped at the first name with a blank; the token was ghp_" + "a1B2" * 9

    told = tools["memory_outcome"]({"ref": ref, "succeeded": False, "reason": why})
    again = tools["memory_outcome"]({"ref": ref, "succeeded": False})

    assert (told.data["credited"], again.data["recorded"]) == ([memory_id], False)
    assert bank.get(told.data["lessons"][0]).id in told.text
    assert sum(told.data["redactions"].values()) == 1
    assert "Removed before it was stored: 1" in told.text
    assert ref in again.text


def test_a_reason_that_is_not_trusted_becomes_no_lesson(bank: ReasoningBank, memory_id: str) -> None:
    tools = {tool.name: tool for tool in memory_tools(bank, trusted=False)}
    ref = tools["memory_search"]({"query": QUERY}).data["ref"]

    told = tools["memory_outcome"]({"ref": ref, "succeeded": False, "reason": "the paths were not put in quotes"})

    assert "lessons" not in told.data
    assert bank.runs.get(ref).reason == "the paths were not put in quotes"
    assert bank.count(state=None) == 1
    assert bank.get(memory_id).confidence < 0.8

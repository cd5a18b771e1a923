"""No model and no template learns from lessons that a run was shown outside a block."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from reasoningbank import LLMDistiller, ReasoningBank

CONTENT = "Restore the nightly backup into a scratch database before the migration, and compare the row counts."


class Reader:
    """A model that remembers what it was given, and finds nothing."""

    def __init__(self) -> None:
        self.given = ""

    def __call__(self, messages: Sequence[dict[str, str]]) -> str:
        self.given = "\n".join(message["content"] for message in messages)
        return '{"memories": []}'


def run(answer: str, said: str = "Looking.") -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Migrate the orders table"},
        {"role": "assistant", "content": said, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": answer},
        {"role": "assistant", "content": "The orders table has its new column."},
    ]


@pytest.mark.parametrize("form", ["document", "json", "quoted by the agent", "queued", "one of several"])
def test_a_model_never_sees_them(bank: ReasoningBank, form: str) -> None:
    bank.record("Rehearse the restore", CONTENT, outcome="success")
    model = Reader()
    told = run(json.dumps([{"content": CONTENT, "score": 0.8}]) if form == "json" else f"2 found\n{CONTENT}")
    if form == "quoted by the agent":
        told = run("ok", f"I remember: {CONTENT}")

    if form == "queued":
        bank.queue.put(told, "success")
        list(bank.queue.worker(LLMDistiller(model)).run_until_empty())
    elif form == "one of several":
        bank.runs.distill_many([{"messages": told, "verdict": "success"}] * 2, distiller=LLMDistiller(model))
    else:
        bank.distill(told, "success", distiller=LLMDistiller(model))

    assert "Migrate the orders table" in model.given
    assert "scratch database" not in model.given


def test_what_no_lesson_of_the_bank_says_stays_and_so_does_what_was_learned_from_this_run(bank: ReasoningBank) -> None:
    model = Reader()
    bank.distill(run(CONTENT), "success", distiller=LLMDistiller(model))
    assert CONTENT in model.given

    told = {"messages": run(CONTENT), "session": "s-1"}
    own = [{"title": "Rehearse the restore", "content": CONTENT, "outcome": "success", "source": {"session": "s-1"}}]
    bank.record_many(own)
    bank.distill(told, "success", distiller=LLMDistiller(model))
    assert CONTENT in model.given

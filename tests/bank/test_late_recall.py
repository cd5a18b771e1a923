"""A recall that must not wait, and must not break the agent."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

import pytest

from reasoningbank import DeadlineExceededError, EmbedderMismatchError, InvalidInputError, Memory, ReasoningBank
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.vectors.base import Float32
from tests.conftest import Clock, OpenBank

ASKED = "quote the paths in the shell"


class Stuck(HashEmbedder):
    """Embeds a query once it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def embed_query(self, text: str) -> Float32:
        self.go_on.wait(10)
        return super().embed_query(text)


@pytest.fixture
def memory(bank: ReasoningBank) -> Memory:
    return bank.record("Quote paths", "Quote every path in the shell", outcome="success").memory


def test_in_time_it_is_a_recall_like_any_other(bank: ReasoningBank, memory: Memory) -> None:
    recall = bank.recall(ASKED, timeout=60)

    assert recall.memories == (memory,)
    assert bank.runs.get(recall.ref).is_open


def test_too_late_it_is_empty_says_why_and_leaves_nothing_behind(
    open_bank: OpenBank, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = Stuck()
    bank = open_bank(embedder=embedder)
    with caplog.at_level(logging.WARNING, "reasoningbank"):
        late = bank.recall(ASKED, timeout=0.01)
    embedder.go_on.set()

    assert (late.ref, late.hits, late.text) == ("", (), "")
    assert "longer than 0.01 s" in late.degraded[0]
    assert "no lessons were recalled" in caplog.text
    assert bank.recall(ASKED, timeout=60).hits
    assert len(bank.runs.list().episodes) == 1


def test_who_wants_to_know_gets_the_error(open_bank: OpenBank, memory: Memory) -> None:
    embedder = Stuck()
    bank = open_bank(embedder=embedder)
    with pytest.raises(DeadlineExceededError):
        bank.recall(ASKED, timeout=0.01, fail_open=False)
    embedder.go_on.set()


def test_without_a_timeout_it_can_fail_open_too(bank: ReasoningBank, memory: Memory, open_bank: OpenBank) -> None:
    other = open_bank(embedder=HashEmbedder(dim=64))

    assert "64 numbers" in other.recall(ASKED, fail_open=True).degraded[0]
    with pytest.raises(EmbedderMismatchError):
        other.recall(ASKED)


def test_a_deadline_that_has_passed_is_late_whatever_the_timeout(
    bank: ReasoningBank, memory: Memory, clock: Clock
) -> None:
    passed = clock() - timedelta(seconds=1)

    assert "after its deadline" in bank.recall(ASKED, timeout=60, deadline=passed).degraded[0]
    with pytest.raises(DeadlineExceededError):
        bank.recall(ASKED, deadline=passed)


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"policy": "best"}, {"ref": " "}])
def test_the_callers_own_mistakes_are_raised_all_the_same(bank: ReasoningBank, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        bank.recall(ASKED, timeout=60, fail_open=True, **wrong)  # type: ignore[arg-type]

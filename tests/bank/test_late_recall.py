"""A recall that must not wait, and must not break the agent."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from reasoningbank import (
    DeadlineExceededError,
    EmbedderMismatchError,
    Episode,
    InvalidInputError,
    Memory,
    ReasoningBank,
)
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
        bank.recall(ASKED, timeout=0.01)
    found = bank.search(ASKED, timeout=0.01)
    embedder.go_on.set()

    assert (late.ref, late.hits, late.text) == ("", (), "")
    assert "longer than 0.01 s" in late.degraded[0]
    assert (found.hits, found.degraded) == ((), late.degraded)
    assert caplog.text.count("no lessons were recalled") == 1
    assert bank.recall(ASKED, timeout=60).hits
    assert len(bank.runs.list().episodes) == 1


def test_late_recalls_are_counted_over_processes(open_bank: OpenBank, memory: Memory, clock: Clock) -> None:
    embedder = Stuck()
    bank = open_bank(embedder=embedder)
    bank.recall(ASKED, timeout=0.01)
    assert bank.upkeep.status().late_recalls == 1
    embedder.go_on.set()
    bank.recall(ASKED, timeout=60)
    embedder.go_on.clear()
    bank.recall("another task", timeout=0.01)
    embedder.go_on.set()
    bank.close()

    other = open_bank()
    assert other.upkeep.status().late_recalls == 2
    assert other.upkeep.metrics().hit_rates["recalls_too_late"] == 2
    clock.move(days=60)
    assert other.upkeep.metrics(days=30).hit_rates["recalls_too_late"] == 0


def test_in_a_thousand_races_with_the_end_no_late_recall_leaves_an_episode(bank: ReasoningBank, memory: Memory) -> None:
    bank.recall(ASKED, timeout=60)
    begun = time.perf_counter()
    bank.recall(ASKED, timeout=60)
    usual, before = time.perf_counter() - begun, {episode.ref for episode in every_episode(bank)}
    budgets = [usual * (n % 20) / 10 for n in range(1_000)]
    with ThreadPoolExecutor(8) as threads:
        given = list(threads.map(lambda budget: bank.recall(ASKED, timeout=budget), budgets))

    refs = {recall.ref for recall in given if recall.ref}
    late = sum(not recall.ref for recall in given)
    assert 0 < late < len(budgets)
    assert {episode.ref for episode in every_episode(bank)} - before == refs
    assert all(recall.hits for recall in given if recall.ref)
    assert bank.upkeep.status().late_recalls == late


def every_episode(bank: ReasoningBank) -> Iterator[Episode]:
    after = None
    while True:
        page = bank.runs.list(after=after, limit=1_000)
        yield from page.episodes
        if (after := page.next) is None:
            return


def test_a_burst_of_a_hundred_threads_gets_its_lessons_with_the_default_budget(
    bank: ReasoningBank, memory: Memory
) -> None:
    start = threading.Barrier(100)

    def run(number: int) -> bool:
        start.wait(30)
        return bool(bank.recall(f"{ASKED}, number {number}", timeout=0.5).hits)

    with ThreadPoolExecutor(100) as threads:
        assert sum(threads.map(run, range(100))) >= 99


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

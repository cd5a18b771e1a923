"""Memories that mislead or that nobody needs go out of service, and can come back."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import InvalidInputError, Memory, ReasoningBank, State
from tests.conftest import Clock, OpenBank


def lesson(bank: ReasoningBank, title: str = "Quote paths", **options: Any) -> Memory:
    return bank.record(title, f"{title}: put it in quotes", **({"outcome": "success"} | options)).memory


def blame(bank: ReasoningBank, memory: Memory, times: int, run: str = "r") -> None:
    for i in range(times):
        bank.vote(memory.id, False, ref=f"{run}{i}")


def test_what_misleads_is_proposed_then_archived_and_can_be_restored(bank: ReasoningBank, clock: Clock) -> None:
    memory, other = lesson(bank, confidence=0.4), lesson(bank, "Pin versions")
    clock.move(hours=1)
    blame(bank, memory, 4)

    proposed = bank.upkeep.prune()
    assert [change.memories for change in proposed.changes] == [(memory.id,)]
    assert not proposed.done
    assert bank.get(memory.id).state is State.ACTIVE

    assert bank.upkeep.prune(dry_run=False).changes == proposed.changes
    assert bank.get(memory.id).state is State.ARCHIVED
    assert bank.get(other.id).state is State.ACTIVE
    clock.move(hours=1)
    assert bank.upkeep.restore(memory.id).state is State.ACTIVE


def test_what_was_restored_is_left_alone_until_there_is_new_blame(bank: ReasoningBank, clock: Clock) -> None:
    memory = lesson(bank, confidence=0.4)
    clock.move(hours=1)
    blame(bank, memory, 4)
    bank.upkeep.prune(dry_run=False)
    clock.move(hours=1)
    bank.upkeep.restore(memory.id)

    assert bank.upkeep.prune(dry_run=False).changes == ()
    clock.move(hours=1)
    blame(bank, memory, 1, run="new")
    assert len(bank.upkeep.prune(dry_run=False).changes) == 1


def test_what_is_doubted_and_unused_for_half_a_year_is_archived(bank: ReasoningBank, clock: Clock) -> None:
    doubted, trusted = lesson(bank, confidence=0.4), lesson(bank, "Pin versions")

    clock.move(days=179)
    assert bank.upkeep.prune().changes == ()
    assert len(bank.upkeep.prune(unused_days=100).changes) == 1
    clock.move(days=1)
    assert [change.memories for change in bank.upkeep.prune(dry_run=False).changes] == [(doubted.id,)]
    assert bank.get(trusted.id).state is State.ACTIVE


def test_a_use_starts_the_time_anew(bank: ReasoningBank, clock: Clock) -> None:
    lesson(bank, confidence=0.4)
    clock.move(days=170)
    assert bank.recall("quote paths").hits
    clock.move(days=20)

    assert bank.upkeep.prune().changes == ()


def test_a_size_limit_is_kept_by_archiving_what_is_worth_least(open_bank: OpenBank, clock: Clock) -> None:
    bank = open_bank(settings={"max_memories": 2})
    kept = [lesson(bank, title, confidence=belief).id for title, belief in (("A", 0.9), ("B", 0.5), ("C", 0.7))]
    clock.move(days=40)

    (change,) = bank.upkeep.prune(dry_run=False).changes

    assert change.memories == (kept[1],)
    assert "more than 2 memories" in change.reason
    assert bank.count() == 2
    assert bank.upkeep.prune(dry_run=False).changes == ()


def test_a_project_that_is_not_there_has_nothing_to_prune(bank: ReasoningBank) -> None:
    assert bank.upkeep.prune().changes == bank.upkeep.prune(dry_run=False).changes == ()
    assert not bank.upkeep.status().exists


@pytest.mark.parametrize("days", [-1, float("nan"), "many", True])
def test_odd_numbers_of_days_are_refused(bank: ReasoningBank, days: Any) -> None:
    with pytest.raises(InvalidInputError, match="unused_days"):
        bank.upkeep.prune(unused_days=days)
    bank.upkeep.prune(unused_days=1e12)


# -- fading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["relevance", "similarity", "four_factor", "weighted", "mmr"])
def test_with_a_half_life_what_was_used_lately_comes_first_among_equals(
    open_bank: OpenBank, clock: Clock, policy: str
) -> None:
    plain, fading = open_bank(), open_bank(settings={"half_life_days": 30})
    old = lesson(plain)
    clock.move(days=90)
    new = lesson(plain, "Quote path")

    order = [hit.memory.id for hit in fading.search("quote path in shell", policy=policy).hits]
    hits = {hit.memory.id: hit for hit in fading.search("quote path in shell", policy=policy).hits}

    assert set(order) == {old.id, new.id}
    assert hits[new.id].why["freshness"] == pytest.approx(0.2)
    assert hits[old.id].why["freshness"] == pytest.approx(0.2 * 0.125)
    assert all(sum(hit.why.values()) == pytest.approx(hit.score) for hit in hits.values())
    assert order[0] == new.id
    assert "freshness" not in plain.search("quote path", policy=policy).hits[0].why
    assert plain.get(old.id).confidence == fading.get(old.id).confidence

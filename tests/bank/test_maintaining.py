"""A round of upkeep: what is always done, what a bank is set up to do, and what is only proposed."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reasoningbank import InvalidInputError, Memory, ReasoningBank, State
from reasoningbank.services.upkeep.maintain import UNDER_WAY, alone
from tests.conftest import Clock, OpenBank

SAID = "Find every configuration file under the directory /etc/app and delete the ones nobody reads"
REWORDED = "Find every configuration file under the directory /etc/app and remove the ones nobody reads"
ALL = {"auto_consolidate": True, "auto_prune": True}


def fill(bank: ReasoningBank) -> Memory:
    """Two memories that say the same, one that misleads (returned), and a pair that is alike."""
    for content in (SAID, REWORDED, "Pin each version in the lock file", "Pin each package version in the lock file"):
        bank.record(content[:40], content, outcome="success")
    return bank.record("Guess the port", "Guess the port of the server", outcome="success", confidence=0.4).memory


def blame(bank: ReasoningBank, memory: Memory) -> None:
    for i in range(4):
        bank.vote(memory.id, False, ref=f"r{i}")


def test_unless_it_is_set_up_to_a_round_changes_no_memory(bank: ReasoningBank, clock: Clock) -> None:
    misleading = fill(bank)
    clock.move(hours=1)
    blame(bank, misleading)

    done = bank.upkeep.maintain()

    assert (done.changes, done.dry_run) == ((), False)
    assert bank.count() == 5


def test_a_round_suggests_links_once_a_day_unless_it_is_set_up_not_to(open_bank: OpenBank, clock: Clock) -> None:
    bank = open_bank()
    fill(bank)
    before = bank.list(state=None)

    assert open_bank(settings={"auto_suggest": False}).upkeep.maintain().suggested == ()
    first = bank.upkeep.maintain().suggested
    assert first == tuple(bank.links.suggest(20))
    assert first
    assert bank.upkeep.maintain().suggested == ()
    clock.move(days=1)
    assert bank.upkeep.maintain().suggested == first
    assert bank.list(state=None) == before
    assert [bank.links.of(memory.id) for memory in bank.list().memories] == [[]] * 5


@pytest.mark.folder_only
def test_a_dry_run_says_all_that_would_and_could_be_done_and_does_nothing(bank: ReasoningBank, clock: Clock) -> None:
    misleading = fill(bank)
    clock.move(hours=1)
    blame(bank, misleading)
    bank.recall("delete configuration files")
    clock.move(days=40)
    bank.recall("pin versions")
    before, folder = bank.list(state=None), Path(bank.upkeep.status().folder, "signals")
    segments = sorted(folder.iterdir())

    proposed = bank.upkeep.maintain(dry_run=True)

    assert proposed.dry_run
    assert proposed.expired == 1
    assert proposed.rolled_up == (segments[0].name,)
    assert {change.kind for change in proposed.changes} == {"merge", "archive"}
    assert {link.type for link in proposed.suggested} <= {"alternative", "duplicate_of"}
    assert proposed.suggested
    assert bank.list(state=None) == before
    assert sorted(folder.iterdir()) == segments
    done = bank.upkeep.maintain()
    assert (done.rolled_up, done.expired) == (proposed.rolled_up, proposed.expired)


def test_a_bank_that_is_set_up_to_merges_and_prunes_in_its_rounds(open_bank: OpenBank, clock: Clock) -> None:
    bank = open_bank(settings=ALL)
    misleading = fill(bank)
    clock.move(hours=1)
    blame(bank, misleading)

    done = bank.upkeep.maintain()

    assert sorted(change.kind for change in done.changes) == ["archive", "merge"]
    assert bank.get(misleading.id).state is State.ARCHIVED
    assert bank.count() == 3
    assert done.suggested
    again = bank.upkeep.maintain()
    assert (again.changes, again.suggested) == ((), ())


def test_a_bank_whose_runs_were_judged_is_as_it_should_be(bank: ReasoningBank) -> None:
    bank.record("Quote paths", "Names may hold blanks.", outcome="failure")
    for ref in ("r1", "r2"):
        bank.recall("Quote paths", ref=ref)
        bank.report("success", ref=ref)

    assert bank.upkeep.doctor(dry_run=True) == []


def test_a_turn_that_a_wrong_clock_took_is_forgiven(open_bank: OpenBank, clock: Clock) -> None:
    bank = open_bank(settings=ALL)
    fill(bank)
    right = clock.now
    for wrong in (datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)):
        clock.now = wrong
        bank.upkeep.maintain()
        clock.now = right
        assert bank.upkeep.maintain().suggested
        clock.move(days=2)
        right = clock.now


def test_what_another_process_is_merging_or_pruning_is_left_to_it(open_bank: OpenBank, clock: Clock) -> None:
    bank = open_bank(settings=ALL | {"max_memories": 3})
    fill(bank)

    with alone(open_bank()._engine, UNDER_WAY) as mine:
        assert mine
        assert bank.upkeep.maintain().changes == ()
        clock.move(minutes=9)
        assert bank.upkeep.maintain().changes == ()
        # A process that was killed holds it no longer than ten minutes.
        clock.move(minutes=2)
        assert [change.kind for change in bank.upkeep.maintain().changes] == ["merge", "archive"]
    assert bank.upkeep.maintain().changes == ()
    assert bank.count() == 3


def test_a_round_can_go_by_another_time_than_the_clocks(bank: ReasoningBank, clock: Clock) -> None:
    bank.record("Weak", "A doubted lesson", outcome="success", confidence=0.4)
    later = clock.now + timedelta(days=200)

    assert bank.upkeep.maintain(dry_run=True).changes == ()
    assert len(bank.upkeep.maintain(later, dry_run=True).changes) == 1
    assert len(bank.upkeep.maintain(later.replace(tzinfo=None), dry_run=True).changes) == 1


def test_a_round_on_nothing_makes_nothing(bank: ReasoningBank) -> None:
    assert bank.upkeep.maintain().changes == ()
    assert bank.upkeep.maintain(dry_run=True).dry_run
    assert not bank.upkeep.status().exists


def _round(root: str, now: datetime) -> tuple[int, bool]:
    with ReasoningBank(
        root, tenant="acme", project="billing", embedder="hash", settings=ALL, clock=lambda: now
    ) as bank:
        done = bank.upkeep.maintain()
        return len(done.changes), bool(done.suggested)


def test_rounds_of_two_processes_at_once_do_what_one_would(
    open_bank: OpenBank, clock: Clock, bank_root: Path | str
) -> None:
    bank = open_bank()
    misleading = fill(bank)
    clock.move(hours=1)
    blame(bank, misleading)

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        made = pool.starmap(_round, [(str(bank_root), clock.now)] * 2)

    assert sum(changes for changes, _ in made) == 2
    assert [suggested for _, suggested in made].count(True) == 1
    assert (bank.count(), bank.count(state="archived")) == (3, 3)
    assert bank.upkeep.doctor() == []


# -- recommend -----------------------------------------------------------------------------------------------------


def test_the_best_strategy_comes_with_its_evidence_and_the_runner_up(bank: ReasoningBank) -> None:
    best = bank.record("Pin versions", "Pin each version in the lock file", outcome="success").memory
    bank.record("Pin versions loosely", "Pin major versions in the lock file", outcome="success", confidence=0.5)
    bank.record("Do not pin versions", "Never pin versions in a lock file", outcome="failure")
    ref = bank.recall("pin versions in the lock file").ref
    bank.report("success", ref=ref)
    bank.vote(best.id, True, ref=ref)
    bank.vote(best.id, True, ref="commit", kind="stability")
    before = bank.list(state=None)

    found = bank.recommend("pin versions in the lock file")

    assert found.strategy is not None
    assert found.strategy.memory.id == best.id
    assert found.strategy.confidence == bank.get(best.id).confidence
    assert found.evidence is not None
    assert (found.evidence.uses, found.evidence.votes_for, found.evidence.survived) == (1, 1.0, 1.0)
    assert 0.0 < found.evidence.successes <= 1.0
    assert found.evidence.failures == found.evidence.votes_against == found.evidence.reverted == 0.0
    assert found.runner_up is not None
    assert found.runner_up.memory.title == "Pin versions loosely"
    assert bank.list(state=None) == before


def test_where_nothing_fits_there_is_no_strategy(bank: ReasoningBank) -> None:
    assert bank.recommend("bake bread").strategy is None
    bank.record("Pin versions", "Pin each version in the lock file", outcome="success")

    found = bank.recommend("bake banana bread")
    assert (found.strategy, found.evidence, found.runner_up, found.weak) == (None, None, None, True)
    with pytest.raises(InvalidInputError):
        bank.recommend(" ")

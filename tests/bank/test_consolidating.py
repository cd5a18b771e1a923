"""Near-duplicates become one memory, which can be taken apart again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reasoningbank import InvalidInputError, Memory, MemoryNotFoundError, ReasoningBank, State
from reasoningbank.storage import parameters, records
from tests.conftest import Clock, OpenBank

SAID = "Find every configuration file under the directory /etc/app and delete the ones nobody reads"
REWORDED = "Find every configuration file under the directory /etc/app and remove the ones nobody reads"


def lesson(bank: ReasoningBank, content: str = SAID, **options: Any) -> Memory:
    options = {"title": content[:60], "outcome": "success"} | options
    return bank.record(content=content, **options).memory


@pytest.fixture
def twins(bank: ReasoningBank) -> tuple[Memory, Memory]:
    """Two memories that say the same, the first with more evidence for it."""
    first, second = lesson(bank), lesson(bank, REWORDED)
    for ref in ("r1", "r2"):
        bank.vote(first.id, True, ref=ref)
    bank.vote(second.id, True, ref="r3")
    return bank.get(first.id), bank.get(second.id)


def merge(bank: ReasoningBank, **options: Any) -> Memory:
    (change,) = bank.upkeep.consolidate(dry_run=False, force=True, **options).changes
    assert change.result
    return bank.get(change.result)


# -- proposing -----------------------------------------------------------------------------------------------------


def test_109_a_dry_run_proposes_and_changes_nothing(bank: ReasoningBank, twins: tuple[Memory, Memory]) -> None:
    asked: list[Any] = []
    before = bank.list(state=None)

    (change,) = bank.upkeep.consolidate(chat=asked.append).changes

    assert change.kind == "merge"
    assert change.memories == (twins[0].id, twins[1].id)
    assert change.similarity is not None
    assert change.similarity > 0.75
    assert change.result is None
    assert (bank.list(state=None), asked) == (before, [])


def test_nothing_is_proposed_for_an_empty_bank_or_one_that_is_not_there(bank: ReasoningBank) -> None:
    assert bank.upkeep.consolidate().changes == ()
    assert not bank.upkeep.consolidate(dry_run=False).due
    assert not bank.upkeep.status().exists
    bank.recall("anything")
    assert bank.upkeep.consolidate().changes == ()


@pytest.mark.parametrize("threshold", [-0.5, 1.5, "high", True])
def test_76_a_threshold_outside_zero_and_one_is_refused(bank: ReasoningBank, threshold: Any) -> None:
    with pytest.raises(InvalidInputError, match="threshold"):
        bank.upkeep.consolidate(threshold=threshold)
    for allowed in (0, 0.8, 1.0):
        bank.upkeep.consolidate(threshold=allowed)


@pytest.mark.parametrize("many", [-1, 1.5, True])
def test_an_odd_number_of_merges_is_refused(bank: ReasoningBank, many: Any) -> None:
    with pytest.raises(InvalidInputError, match="max_clusters"):
        bank.upkeep.consolidate(max_clusters=many)


def test_a_success_and_a_failure_that_say_the_same_are_linked_and_left_alone(bank: ReasoningBank) -> None:
    one, other = lesson(bank), lesson(bank, REWORDED, outcome="failure")
    assert bank.upkeep.consolidate().changes[0].link == "contradicts"
    assert bank.links.of(one.id) == []

    (change,) = bank.upkeep.consolidate(dry_run=False, force=True).changes

    assert (change.kind, change.link) == ("link", "contradicts")
    assert set(change.memories) == {one.id, other.id}
    assert bank.count() == 2
    (link,) = bank.links.of(one.id)
    assert (link.type, link.by) == ("contradicts", "consolidation")
    assert bank.upkeep.consolidate(dry_run=False, force=True).changes == ()


def test_another_projects_memories_are_never_merged(bank: ReasoningBank, open_bank: OpenBank) -> None:
    lesson(bank)
    lesson(open_bank(project="other"), REWORDED)

    assert bank.upkeep.consolidate().changes == ()


# -- asking --------------------------------------------------------------------------------------------------------

IN_OTHER_WORDS = "Search for every configuration file under the directory /etc/app and delete the ones nobody reads"


def test_what_says_the_same_in_other_words_waits_for_somebody_to_agree(bank: ReasoningBank) -> None:
    one, other = lesson(bank), lesson(bank, IN_OTHER_WORDS)
    bank.vote(other.id, True, ref="r1")

    done = bank.upkeep.consolidate(dry_run=False)

    assert done.changes == ()
    (proposed,) = done.proposed
    assert (proposed.memories, bank.count()) == ((other.id, one.id), 2)
    merged = bank.upkeep.merge(proposed.memories)
    assert (merged.content, bank.count()) == (IN_OTHER_WORDS, 1)
    assert set(bank.upkeep.undo_merge(merged.id).restored) == {one.id, other.id}
    assert bank.upkeep.consolidate().proposed == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("Log in before you clear the cookies", "Log out before you clear the cookies"), (SAID, IN_OTHER_WORDS)],
)
def test_maintaining_merges_nothing_that_a_word_tells_apart(open_bank: OpenBank, one: str, other: str) -> None:
    bank = open_bank(settings={"auto_consolidate": True})
    lesson(bank, one)
    lesson(bank, other)

    assert bank.upkeep.maintain().changes == ()
    assert bank.count() == 2


def test_only_what_may_be_one_is_merged_when_somebody_says_so(bank: ReasoningBank) -> None:
    one, failure, gone = lesson(bank), lesson(bank, REWORDED, outcome="failure"), lesson(bank, IN_OTHER_WORDS)
    bank.upkeep.archive(gone.id)

    for ids, why in (
        ([one.id], "two memories and more"),
        ([one.id, failure.id], "one outcome"),
        ([one.id, gone.id], "not in service"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            bank.upkeep.merge(ids)
    assert bank.count() == 2


# -- merging -------------------------------------------------------------------------------------------------------


def test_a_merge_keeps_the_best_text_the_tags_of_all_and_where_it_came_from(
    bank: ReasoningBank, twins: tuple[Memory, Memory]
) -> None:
    bank.update(twins[0].id, tags=["a"])
    bank.update(twins[1].id, tags=["b"])

    merged = merge(bank)

    assert merged.content == SAID
    assert merged.tags == ("a", "b")
    assert merged.metadata == {"merged_from": [twins[0].id, twins[1].id]}
    assert [bank.get(twin.id).state for twin in twins] == [State.ARCHIVED, State.ARCHIVED]
    assert bank.search(REWORDED).memories == (merged,)


def test_the_evidence_of_all_sources_counts_for_the_merged_memory(
    bank: ReasoningBank, open_bank: OpenBank, twins: tuple[Memory, Memory]
) -> None:
    alone = lesson(bank, "Something else entirely, about pinning versions")
    for ref in ("a", "b", "c"):
        bank.vote(alone.id, True, ref=ref)

    merged = merge(bank)

    assert merged.confidence == pytest.approx(bank.get(alone.id).confidence)
    assert merged.confidence > twins[0].confidence
    bank.upkeep.rebuild()
    assert bank.get(merged.id).confidence == merged.confidence
    assert bank.upkeep.doctor() == []
    assert open_bank().get(merged.id).confidence == merged.confidence


def test_a_verdict_about_a_run_that_began_before_the_merge_still_counts(bank: ReasoningBank) -> None:
    lesson(bank)
    lesson(bank, REWORDED)
    recall = bank.recall(SAID, 2)
    merged = merge(bank)
    assert bank.search(SAID).memories[0].confidence == merged.confidence

    bank.report("failure", ref=recall.ref)

    assert bank.search(SAID).memories[0].confidence < merged.confidence
    assert bank.get(merged.id).usage_count == 2


def test_undoing_a_merge_restores_the_sources_and_their_evidence(
    bank: ReasoningBank, twins: tuple[Memory, Memory]
) -> None:
    merged = merge(bank)
    bank.vote(merged.id, False, ref="later")

    undone = bank.upkeep.undo_merge(merged.id)

    assert undone.restored == (twins[0].id, twins[1].id)
    for before in twins:
        after = bank.get(before.id)
        assert (after.state, after.confidence, after.content) == (State.ACTIVE, before.confidence, before.content)
    assert bank.get(merged.id).state is State.ARCHIVED
    assert bank.upkeep.doctor() == []


def test_what_was_taken_apart_is_not_merged_again(bank: ReasoningBank, twins: tuple[Memory, Memory]) -> None:
    bank.upkeep.undo_merge(merge(bank).id)

    assert bank.upkeep.consolidate(dry_run=False, force=True).changes == ()
    with pytest.raises(InvalidInputError, match="not merged"):
        bank.upkeep.undo_merge(twins[0].id)
    with pytest.raises(MemoryNotFoundError):
        bank.upkeep.undo_merge("nope")


def test_restoring_one_source_gives_it_its_own_evidence_back(bank: ReasoningBank, twins: tuple[Memory, Memory]) -> None:
    merged = merge(bank)

    assert bank.upkeep.restore(twins[1].id).confidence == twins[1].confidence
    assert bank.get(merged.id).confidence == pytest.approx(twins[0].confidence)


def test_a_merged_memory_that_says_something_else_starts_anew(
    bank: ReasoningBank, twins: tuple[Memory, Memory]
) -> None:
    merged = merge(bank)

    changed = bank.update(merged.id, content="Pin every version in the lock file")

    assert changed.confidence == pytest.approx(changed.initial_confidence)
    bank.upkeep.undo_merge(merged.id)
    assert bank.get(twins[0].id).confidence == twins[0].confidence


def test_a_merged_memory_can_be_merged_again_and_evidence_goes_all_the_way(
    bank: ReasoningBank, twins: tuple[Memory, Memory]
) -> None:
    first = merge(bank)
    third = lesson(bank, f"Please {REWORDED[0].lower()}{REWORDED[1:]}")

    second = merge(bank)

    assert second.metadata["merged_from"] == [first.id, third.id]
    assert second.confidence == first.confidence
    bank.vote(twins[1].id, False, ref="late")
    assert bank.get(second.id).confidence < first.confidence
    assert bank.upkeep.undo_merge(second.id).restored == (first.id, third.id)
    assert set(bank.upkeep.undo_merge(first.id).restored) == {twin.id for twin in twins}


def test_deleting_the_merged_memory_leaves_the_sources_restorable(
    bank: ReasoningBank, twins: tuple[Memory, Memory]
) -> None:
    bank.delete(merge(bank).id)

    assert bank.upkeep.restore(twins[0].id).confidence == twins[0].confidence


def test_a_forgotten_sources_votes_do_not_count_for_the_merged_memory(bank: ReasoningBank) -> None:
    first, second = lesson(bank), lesson(bank, REWORDED)
    bank.vote(first.id, True, ref="r1", by="ada")
    bank.vote(second.id, True, ref="r2", by="troll")
    merged = merge(bank)
    known = bank.search(SAID).memories[0]

    bank.sources.block("troll")

    assert known.confidence == merged.confidence
    assert bank.search(SAID).memories[0].confidence == pytest.approx(bank.get(first.id).confidence)


def test_the_spec_model_starts_from_the_merged_confidence(open_bank: OpenBank) -> None:
    bank = open_bank(settings={"confidence_model": "spec"})
    lesson(bank)
    lesson(bank, REWORDED)

    assert merge(bank).initial_confidence == pytest.approx(0.82)


def test_111_the_second_run_within_a_day_does_nothing_unless_forced(
    bank: ReasoningBank, open_bank: OpenBank, clock: Clock
) -> None:
    lesson(bank)
    assert bank.upkeep.consolidate(dry_run=False).due
    lesson(bank, REWORDED)

    clock.move(hours=23)
    assert not open_bank().upkeep.consolidate(dry_run=False).due
    assert bank.count() == 2
    clock.move(hours=1)
    assert open_bank().upkeep.consolidate(dry_run=False).changes
    assert bank.count() == 1


def test_110_no_more_is_merged_than_asked_for(bank: ReasoningBank) -> None:
    for content in (SAID, REWORDED, "Pin each version in requirements.txt", "Pin every version in requirements.txt"):
        lesson(bank, content)

    done = bank.upkeep.consolidate(dry_run=False, max_clusters=1)

    assert len(done.changes) == 1
    assert (bank.count(), bank.count(state="archived")) == (3, 2)


def test_what_the_sources_are_linked_with_the_merged_memory_is_linked_with(
    bank: ReasoningBank, twins: tuple[Memory, Memory]
) -> None:
    needed = lesson(bank, "Ask which services read the configuration of the host")
    bank.links.add(twins[1].id, needed.id, "requires", evidence="else it breaks")
    bank.links.add(twins[0].id, twins[1].id, "alternative")

    merged = merge(bank)

    (link,) = bank.links.of(merged.id)
    assert (link.source, link.type, link.target) == (merged.id, "requires", needed.id)
    assert len(bank.links.of(twins[1].id)) == 2


def test_a_merge_can_be_undone_in_a_copy_read_from_an_export(
    bank: ReasoningBank, open_bank: OpenBank, tmp_path: Path, twins: tuple[Memory, Memory]
) -> None:
    merged = merge(bank)
    bank.exchange.export_to(tmp_path / "all.jsonl", state=None)
    copy = open_bank(project="copy")
    copy.exchange.import_from(tmp_path / "all.jsonl", trusted=True)
    assert copy.get(merged.id).confidence == pytest.approx(merged.confidence)

    assert set(copy.upkeep.undo_merge(merged.id).restored) == {twin.id for twin in twins}
    assert [copy.get(twin.id).confidence for twin in twins] == pytest.approx([twin.confidence for twin in twins])
    assert copy.get(merged.id).state is State.ARCHIVED


def test_what_was_merged_teaches_the_model_once(bank: ReasoningBank, twins: tuple[Memory, Memory]) -> None:
    merged = merge(bank)

    with bank._engine.read() as view:
        judged = parameters.judged_last(view, 10)
        assert judged == [records.find(view, merged.id)]

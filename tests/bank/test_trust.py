"""Quarantine, archives, and sources that turn out to be bad."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import InvalidInputError, Memory, MemoryNotFoundError, ReasoningBank, State


def lesson(bank: ReasoningBank, title: str = "Quote paths", **options: Any) -> Memory:
    content = f"{title}: put paths in quotes, names may hold blanks"
    return bank.record(title, content, outcome="failure", **options).memory


def titles(bank: ReasoningBank) -> set[str]:
    return {memory.title for memory in bank.search("put paths in quotes").memories}


def test_an_archived_memory_is_not_served_and_comes_back_as_it_was(bank: ReasoningBank) -> None:
    memory = lesson(bank)
    bank.vote(memory.id, True, ref="r")
    confidence = bank.get(memory.id).confidence

    assert bank.upkeep.archive(memory.id).state is State.ARCHIVED
    assert bank.upkeep.archive(memory.id).state is State.ARCHIVED
    assert titles(bank) == set()
    assert bank.upkeep.restore(memory.id).state is State.ACTIVE
    assert titles(bank) == {"Quote paths"}
    assert bank.get(memory.id).confidence == confidence


def test_what_is_not_out_of_service_cannot_be_put_back(bank: ReasoningBank) -> None:
    memory = lesson(bank)

    with pytest.raises(InvalidInputError, match="not archived"):
        bank.upkeep.restore(memory.id)
    with pytest.raises(InvalidInputError, match="neither quarantined nor in doubt"):
        bank.upkeep.approve(memory.id)
    for call in (bank.upkeep.archive, bank.upkeep.restore, bank.upkeep.approve):
        with pytest.raises(MemoryNotFoundError):
            call("nope")


def test_blocking_a_source_archives_what_it_brought_and_nothing_else(bank: ReasoningBank) -> None:
    bad = lesson(bank, "From the crawler", source={"by": "crawler"})
    lesson(bank, "From the session", source={"session": "crawler"})
    lesson(bank, "From somebody else", source={"by": "ada"})

    blocked = bank.sources.block("crawler")

    assert len(blocked.memories) == 2
    assert bad.id in blocked.memories
    assert titles(bank) == {"From somebody else"}
    assert bank.sources.block("crawler").memories == ()


def test_a_blocked_sources_signals_count_for_nothing(bank: ReasoningBank) -> None:
    memory = lesson(bank)
    bank.vote(memory.id, True, ref="r1", by="ada")
    honest = bank.get(memory.id).confidence
    for i in range(5):
        bank.vote(memory.id, False, ref=f"b{i}", by="troll")
    assert bank.get(memory.id).confidence < honest

    assert bank.sources.block("troll").judged == 1
    assert bank.get(memory.id).confidence == honest
    bank.upkeep.rebuild()
    assert bank.get(memory.id).confidence == honest


def test_unblocking_undoes_blocking(bank: ReasoningBank) -> None:
    memory = lesson(bank, source={"by": "crawler"})
    other = lesson(bank, "Another")
    archived = lesson(bank, "Archived before", source={"by": "crawler"})
    bank.upkeep.archive(archived.id)
    bank.vote(other.id, False, ref="r", by="crawler")
    before = bank.get(other.id).confidence
    bank.sources.block("crawler")

    assert bank.sources.list() == ["crawler"]
    unblocked = bank.sources.unblock("crawler")

    assert bank.sources.list() == []
    assert unblocked.memories == (memory.id,)
    assert bank.get(memory.id).state is State.ACTIVE
    assert bank.get(archived.id).state is State.ARCHIVED
    assert bank.get(other.id).confidence == before


def test_what_was_deleted_meanwhile_does_not_come_back_with_its_source(bank: ReasoningBank) -> None:
    kept, deleted = (
        bank.record(title, title, outcome="success", source={"by": "forum"}).memory.id
        for title in ("Quote paths", "Wait for migrations")
    )
    bank.sources.block("forum")
    bank.delete(deleted)

    assert bank.sources.unblock("forum").memories == (kept,)
    assert bank.count() == 1


def test_what_a_blocked_source_brings_later_is_quarantined_until_approved(bank: ReasoningBank) -> None:
    lesson(bank)
    lesson(bank, "Early", source={"by": "crawler"})
    bank.sources.block("crawler")
    late = lesson(bank, "Late", source={"by": "crawler"})

    assert late.state is State.QUARANTINED
    assert late.findings == ("its source is blocked",)
    assert titles(bank) == {"Quote paths"}
    assert bank.list(state="quarantined").memories == (late,)
    assert bank.upkeep.approve(late.id).state is State.ACTIVE
    assert titles(bank) == {"Quote paths", "Late"}


def test_forgetting_a_source_deletes_what_it_brought_for_good_and_blocks_it(bank: ReasoningBank) -> None:
    bad = lesson(bank, source={"by": "crawler"})
    other = lesson(bank, "Another")
    before = bank.get(other.id).confidence
    bank.vote(other.id, False, ref="r", by="crawler")

    forgotten = bank.sources.forget("crawler")

    assert (forgotten.memories, forgotten.judged) == ((bad.id,), 1)
    with pytest.raises(MemoryNotFoundError):
        bank.get(bad.id)
    assert bank.get(other.id).confidence == before
    assert bank.sources.list() == ["crawler"]
    assert bank.sources.unblock("crawler").memories == ()


@pytest.mark.parametrize("call", ["block", "unblock", "forget"])
def test_a_source_needs_a_name(bank: ReasoningBank, call: str) -> None:
    for wrong in ("", "  ", None, 7):
        with pytest.raises(InvalidInputError, match="is no name"):
            getattr(bank.sources, call)(wrong)


def test_a_source_that_nothing_came_from_is_refused_and_makes_no_project(bank: ReasoningBank) -> None:
    for call in (bank.sources.block, bank.sources.forget):
        with pytest.raises(InvalidInputError, match="nothing came from a source 'nobody': give the `by` or"):
            call("nobody")
    with pytest.raises(InvalidInputError, match="is not blocked"):
        bank.sources.unblock("nobody")
    assert bank.sources.list() == []
    assert not bank.upkeep.status().exists


def test_the_id_of_a_memory_is_no_source(bank: ReasoningBank) -> None:
    memory = lesson(bank, source={"by": "crawler"})

    for call in (bank.sources.block, bank.sources.forget):
        with pytest.raises(InvalidInputError, match="this is a memory: archive or delete it"):
            call(memory.id)
    assert bank.get(memory.id).state is State.ACTIVE


def test_another_handle_sees_it_at_its_next_call(bank: ReasoningBank, open_bank: Any) -> None:
    other = open_bank()
    memory = lesson(bank, source={"by": "crawler"})
    assert titles(other) == {"Quote paths"}

    bank.sources.block("crawler")
    assert titles(other) == set()
    assert other.get(memory.id).state is State.ARCHIVED

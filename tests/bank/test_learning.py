"""Verdicts, votes and stability through the API: what each teaches, and what takes it back."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import (
    EpisodeNotFoundError,
    InvalidInputError,
    Memory,
    ReasoningBank,
    Verdict,
)
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.runs import EpisodePage
from tests.conftest import Clock, OpenBank

LESSON = "Quote every path in the shell, since file names hold blanks"


@pytest.fixture
def memory(bank: ReasoningBank) -> Memory:
    return bank.record("Quote paths", LESSON, outcome="success").memory


def test_an_unknown_verdict_teaches_nothing_and_takes_back_what_was_taught(bank: ReasoningBank, memory: Memory) -> None:
    ref = bank.recall("quote the paths in the shell").ref
    bank.report("unknown", ref=ref)
    assert bank.get(memory.id).confidence == memory.confidence

    bank.report("failure", ref=ref)
    assert bank.get(memory.id).confidence < memory.confidence

    bank.report("unknown", ref=ref)
    assert bank.get(memory.id).confidence == memory.confidence


def test_a_partial_success_credits_nobody(bank: ReasoningBank, memory: Memory) -> None:
    reported = bank.report(Verdict.PARTIAL, ref=bank.recall("quote the paths in the shell").ref)

    assert (reported.episode.verdict, reported.credited) == (Verdict.UNKNOWN, ())
    assert bank.get(memory.id).confidence == memory.confidence


def test_a_later_verdict_replaces_the_earlier_one(bank: ReasoningBank, memory: Memory) -> None:
    first, second = (bank.recall("quote the paths in the shell", ref=ref).ref for ref in ("first", "second"))
    bank.report("failure", ref=first)
    replaced = bank.report("success", ref=first, by="judge", reason="it passed after all")
    once = bank.get(memory.id).confidence

    assert (replaced.recorded, replaced.previous) == (True, Verdict.FAILURE)
    assert (replaced.episode.by, replaced.episode.reason) == ("judge", "it passed after all")
    assert once > memory.confidence
    bank.report("unknown", ref=second)
    assert bank.get(memory.id).confidence == once


@pytest.mark.parametrize(("hours", "verdict"), [(24, None), (24.1, Verdict.UNKNOWN)])
def test_an_episode_that_nobody_reports_on_expires_as_unknown_after_a_day(
    bank: ReasoningBank, memory: Memory, clock: Clock, hours: float, verdict: Verdict | None
) -> None:
    ref = bank.recall("quote the paths in the shell").ref
    clock.move(hours=hours)

    assert bank.upkeep.maintain().expired == (verdict is not None)
    assert bank.runs.get(ref).verdict == verdict
    assert bank.get(memory.id).confidence == memory.confidence


def test_episodes_are_listed_page_by_page_the_newest_first(bank: ReasoningBank, memory: Memory, clock: Clock) -> None:
    for ref in "abcde":
        bank.recall("quote the paths in the shell", ref=ref, thread="odd" if ref in "ace" else None)
        clock.move(hours=1)
    bank.recall("quote the paths in the shell", ref="f")
    clock.move(hours=-1)
    bank.report("success", ref="b")
    bank.report("failure", ref="c")

    def refs(**wanted: Any) -> str:
        return "".join(episode.ref for episode in bank.runs.list(**wanted).episodes)

    first = bank.runs.list(limit=4)
    assert first.episodes[0] == bank.runs.get("f")
    assert first.next is not None
    assert "".join(e.ref for e in first.episodes) + refs(after=first.next) == refs() == "fedcba"
    assert bank.runs.list(limit=2, after=first.next).next is None
    assert (refs(is_open=True), refs(is_open=False)) == ("feda", "cb")
    assert (refs(verdict="failure"), refs(thread="odd"), refs(thread="odd", is_open=True)) == ("c", "eca", "ea")


def test_there_are_no_episodes_behind_one_that_does_not_exist(bank: ReasoningBank) -> None:
    assert bank.runs.list() == EpisodePage(())
    with pytest.raises(EpisodeNotFoundError, match="gone"):
        bank.runs.list(after="gone")
    with pytest.raises(InvalidInputError, match="won"):
        bank.runs.list(verdict="won")


def test_a_change_that_was_reverted_speaks_against_its_lesson_once(bank: ReasoningBank, memory: Memory) -> None:
    assert bank.vote(memory.id, False, ref="change", by="ci", kind="stability").recorded
    assert not bank.vote(memory.id, False, ref="change", by="ci", kind="stability").recorded
    reverted = bank.get(memory.id).confidence
    bank.vote(memory.id, True, ref="change", by="ci", kind="stability")

    assert reverted < memory.confidence < bank.get(memory.id).confidence


def test_the_confidence_at_recall_stays_with_the_episode(bank: ReasoningBank, memory: Memory) -> None:
    ref = bank.recall("quote the paths in the shell").ref
    bank.vote(memory.id, False, ref=ref)

    assert bank.runs.get(ref).memories[0].confidence == memory.confidence
    assert bank.get(memory.id).confidence < memory.confidence


def test_companions_believed_to_help_take_credit_from_each_other(bank: ReasoningBank, memory: Memory) -> None:
    other = bank.record("Check paths", "Check every path in the shell before it is used", outcome="success").memory
    together = bank.recall("check and quote the paths in the shell")
    assert {m.id for m in together.memories} == {memory.id, other.id}
    bank.report("success", ref=together.ref)
    shared = bank.get(memory.id).confidence
    bank.report("unknown", ref=together.ref)
    bank.vote(memory.id, True, ref="alone", kind="outcome")

    assert memory.confidence < shared < bank.get(memory.id).confidence


@pytest.mark.parametrize("kind", ["usage", "opinion"])
def test_a_vote_is_of_a_kind_that_somebody_can_give(bank: ReasoningBank, memory: Memory, kind: Any) -> None:
    with pytest.raises(InvalidInputError, match="explicit, outcome, stability"):
        bank.vote(memory.id, True, kind=kind)


def test_one_outcome_counts_per_memory_and_session(bank: ReasoningBank, memory: Memory) -> None:
    first = bank.vote(memory.id, True, kind="outcome", ref="session 7", by="ci", reason="it passed")

    assert (first.ref, first.recorded) == ("session 7", True)
    assert not bank.vote(memory.id, True, kind="outcome", ref="session 7").recorded
    assert bank.vote(memory.id, True, kind="outcome", ref="session 8").recorded
    assert bank.sources.block("session 7").judged == 1


def test_an_outcome_of_one_memory_in_a_run_stands_whatever_is_reported_of_the_whole(
    bank: ReasoningBank, memory: Memory
) -> None:
    ref = bank.recall("quote the paths in the shell").ref
    alone = bank.vote(memory.id, False, kind="outcome", ref=ref).memory.confidence

    assert bank.report("success", ref=ref).credited == ()
    assert bank.get(memory.id).confidence == alone < memory.confidence


def test_a_later_verdict_about_a_run_whose_memories_were_judged_alone_is_in_the_log(
    bank: ReasoningBank, memory: Memory
) -> None:
    ref = bank.recall("quote the paths in the shell").ref
    bank.report("success", ref=ref)
    alone = bank.vote(memory.id, False, kind="outcome", ref=ref).memory.confidence

    assert bank.report("failure", ref=ref, reason="it did not", by="ci").recorded
    assert not bank.report("failure", ref=ref).recorded
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.upkeep.rebuild()

    ended = bank.runs.get(ref)
    assert (ended.verdict, ended.reason, ended.by) == (Verdict.FAILURE, "it did not", "ci")
    assert bank.get(memory.id).confidence == alone


def test_a_vote_says_whether_it_speaks_for_the_memory(bank: ReasoningBank, memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="helpful 'yes' is neither True nor False"):
        bank.vote(memory.id, "yes")  # type: ignore[arg-type]


REASON = "Wrong bucket: compare the full name first."


@pytest.mark.parametrize("verdict", ["failure", "partial"])
def test_the_reason_for_a_failure_becomes_a_guard_rail(bank: ReasoningBank, verdict: str) -> None:
    ref = bank.recall("Clean the bucket").ref

    told = bank.report(verdict, ref=ref, reason=REASON)

    (memory,) = bank.list().memories
    assert told.lessons == (memory.id,)
    assert (memory.title, memory.outcome, memory.source.session) == (f"Avoid: {REASON}", Verdict.FAILURE, ref)
    assert memory.occurred_at is not None
    assert bank.report(verdict, ref=ref, reason=REASON).lessons == (memory.id,)
    assert bank.count() == 1


def test_a_success_an_empty_reason_and_an_overruled_report_leave_none(bank: ReasoningBank) -> None:
    ref = bank.recall("Clean the bucket").ref

    assert bank.report("failure", ref=ref, reason="0.0").lessons == ()
    assert bank.report("success", ref=ref, reason="It was the right bucket.").lessons == ()
    assert bank.report("failure", ref=ref, reason=REASON, revise=False).lessons == ()
    assert bank.count() == 0


def test_a_reason_that_cannot_be_stored_now_waits_in_the_queue(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=HashEmbedder(dim=64))
    bank.record("Keep", "Keep the receipts", outcome="success")
    ref = bank.recall("Clean the bucket").ref

    assert open_bank(embedder=HashEmbedder(dim=32)).report("failure", ref=ref, reason=REASON).lessons == ()
    (job,) = bank.queue.worker().run_until_empty()
    assert [bank.get(memory_id).title for memory_id in job.memories] == [f"Avoid: {REASON}"]

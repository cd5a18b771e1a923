"""What a run was handed and never showed to its model is neither used nor credited."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from reasoningbank import EpisodeNotFoundError, InvalidInputError, ReasoningBank, Verdict

TASK = "parse the dates of the invoices"


@pytest.fixture
def bank(tmp_path: Path) -> ReasoningBank:
    bank = ReasoningBank(tmp_path, tenant="acme", project="billing", embedder="hash")
    bank.record("Pin the timezone", "Pass tz=UTC to parse the dates of the invoices", outcome="success")
    bank.record("Never delete invoices", "Void invoices; never delete the invoices", outcome="failure")
    return bank


def test_what_is_taken_back_is_not_used_and_not_credited_and_the_rest_is(bank: ReasoningBank) -> None:
    recall = bank.recall(TASK)
    kept, gone = recall.memories
    assert bank.runs.take_back(recall.ref, [gone.id, "m-unknown"]) == (gone.id,)
    assert bank.report("success", ref=recall.ref).credited == (kept.id,)

    for _ in range(2):
        assert (bank.get(kept.id).usage_count, bank.get(gone.id).usage_count) == (1, 0)
        assert bank.get(kept.id).confidence > 0.8
        assert bank.get(gone.id).confidence == bank.get(gone.id).initial_confidence
        bank.upkeep.rebuild()


def test_a_run_that_showed_nothing_can_still_be_reported(bank: ReasoningBank) -> None:
    ref = bank.recall(TASK).ref
    assert len(bank.runs.take_back(ref)) == 2
    assert bank.runs.take_back(ref) == ()

    assert bank.report("failure", ref=ref).credited == ()
    assert bank.runs.get(ref).memories == ()


def test_a_run_that_has_a_verdict_stays_as_it_is(bank: ReasoningBank) -> None:
    ref = bank.recall(TASK).ref
    bank.report("success", ref=ref)

    assert bank.runs.take_back(ref) == ()
    assert len(bank.runs.get(ref).memories) == 2


def test_a_run_that_is_not_there_and_ids_that_are_none_are_refused(bank: ReasoningBank) -> None:
    with pytest.raises(EpisodeNotFoundError):
        bank.runs.take_back("nope")
    with pytest.raises(InvalidInputError):
        bank.runs.take_back(bank.recall(TASK).ref, "a text")


def test_a_reference_may_be_a_uuid(bank: ReasoningBank) -> None:
    ref = uuid4()
    assert bank.recall(TASK, ref=ref).ref == str(ref)  # type: ignore[arg-type]

    bank.report(True, ref=ref)  # type: ignore[arg-type]
    assert bank.runs.get(str(ref)).verdict is Verdict.SUCCESS


def test_the_same_lessons_are_the_same_block_in_every_run(bank: ReasoningBank) -> None:
    first = bank.recall(TASK)
    bank.report("success", ref=first.ref)

    assert bank.recall(TASK).text == first.text

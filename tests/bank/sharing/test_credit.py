"""Shared banks: where the credit for their lessons goes, and that it gets there once."""

from __future__ import annotations

import pytest

from reasoningbank import BankRoot, MemoryNotFoundError
from tests.bank.sharing.conftest import ASKED, LEDGER, OpenWith, shared_lesson
from tests.conftest import OpenBank


def test_an_outcome_is_evidence_in_the_shared_bank_with_the_project_as_its_source(
    open_with: OpenWith, root: BankRoot
) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")

    with billing.episode(ASKED, ref="run") as run:
        run.report("success")
    billing.report("success", ref="run")

    with root.shared.open("org") as bank:
        pieces = bank.evidence(known).pieces
        assert {(piece.kind, piece.source) for piece in pieces} == {("usage", "billing"), ("outcome", "billing")}
        assert len(pieces) == 2
        (episode,) = bank.runs.list().episodes
        assert ASKED not in repr(episode)
        assert episode.ref != "run"
    assert billing.runs.get("run").memories == ()


def test_a_verdict_is_revised_in_the_shared_bank_too(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")
    billing.recall(ASKED, ref="run")
    billing.report("success", ref="run")
    billing.report("failure", ref="run")

    with root.shared.open("org") as bank:
        outcomes = [piece for piece in bank.evidence(known).pieces if piece.kind == "outcome"]
    assert [(piece.positive, piece.negative > 0) for piece in outcomes] == [(0.0, True)]


def test_a_verdict_by_a_handle_without_shared_banks_replaces_the_first_there(
    open_with: OpenWith, open_bank: OpenBank, root: BankRoot
) -> None:
    known = shared_lesson(open_with)
    billing, plain = open_with("billing"), open_bank(project="billing")
    billing.recall(ASKED, ref="run")
    billing.report("success", ref="run")

    plain.report("failure", ref="run")
    assert billing.sharing.status()[0].due == 1
    billing.recall("something else altogether")

    with root.shared.open("org") as bank:
        outcomes = [piece for piece in bank.evidence(known).pieces if piece.kind == "outcome"]
    assert [(piece.positive, piece.negative > 0) for piece in outcomes] == [(0.0, True)]
    assert billing.sharing.status()[0].due == 0


def test_who_reports_without_shared_banks_leaves_their_lessons_their_part_of_an_outcome(
    open_with: OpenWith, open_bank: OpenBank
) -> None:
    shared_lesson(open_with)
    billing = open_with("billing")
    own = billing.record(title="Blanks", content="Names hold blanks: put every path in quotes.", outcome="failure")
    for ref, reporter in (("with", billing), ("without", open_bank(project="billing"))):
        billing.recall(ASKED, ref=ref, limit=5)
        reporter.report("success", ref=ref)

    weights = {p.ref: p.positive for p in billing.evidence(own.memory.id).pieces if p.kind == "outcome"}
    assert weights["with"] == pytest.approx(weights["without"], abs=0.01)


def test_the_doctor_finds_nothing_wrong_with_what_was_told(open_with: OpenWith, root: BankRoot) -> None:
    shared_lesson(open_with)
    billing = open_with("billing")
    billing.record(**LEDGER)
    for ref in ("one", "two"):
        billing.recall("put paths in quotes, lock the ledger", ref=ref)
        billing.report("success", ref=ref)
    billing.report("failure", ref="one")

    assert billing.upkeep.doctor(dry_run=True) == []
    billing.upkeep.rebuild()
    billing.recall("anything else")
    assert billing.sharing.status()[0].due == 0
    with root.shared.open("org") as org:
        assert org.upkeep.doctor(dry_run=True) == []


def test_lessons_of_two_levels_share_one_outcome(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    billing, alone = open_with("billing"), open_with("late")
    billing.record(title="Blanks", content="Names hold blanks: put every path in quotes.", outcome="failure")
    for bank in (billing, alone):
        bank.recall(ASKED, ref="run", limit=5)
        bank.report("success", ref="run")

    with root.shared.open("org") as org:
        said = {p.source: p.positive for p in org.evidence(known).pieces if p.kind == "outcome"}
    assert said["billing"] < said["late"]


def test_a_vote_on_a_shared_lesson_goes_there(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")
    billing.recall(ASKED, ref="run")

    first, again = billing.vote(known, False, ref="run"), billing.vote(known, False, ref="run")

    assert (first.recorded, first.ref, again.recorded) == (True, "run", False)
    with root.shared.open("org") as bank:
        assert [p.source for p in bank.evidence(known).pieces if p.kind == "explicit"] == ["billing"]
    with pytest.raises(MemoryNotFoundError):
        billing.vote("none", True)


def test_the_same_recall_again_gives_the_same_lessons_and_counts_nothing(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")
    billing.record(**LEDGER)

    first, again = (billing.recall("put paths in quotes, lock the ledger", ref="run") for _ in range(2))

    assert again.repeated
    assert {(h.level, h.memory.id) for h in first.hits} == {(h.level, h.memory.id) for h in again.hits}
    assert again.text
    with root.shared.open("org") as bank:
        assert bank.get(known).usage_count == 1


def test_belief_differs_between_where_a_lesson_helps_and_where_it_does_not(open_with: OpenWith) -> None:
    known = shared_lesson(open_with)
    billing, late = open_with("billing"), open_with("late")
    for i in range(4):
        open_with("sales").vote(known, True, ref=f"r{i}")
        billing.vote(known, False, ref=f"r{i}")

    assert late.get(known).confidence > billing.get(known).confidence
    assert open_with("sales").get(known).confidence > 0.7 > billing.get(known).confidence


def test_a_lesson_that_fails_in_most_projects_goes_to_review_by_itself(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    for project in ("sales", "billing", "late"):
        for i in range(3):
            open_with(project).vote(known, False, ref=f"r{i}")

    sales = open_with("sales")
    assert [memory.id for memory in sales.sharing.review("org")] == [known]
    assert "fails in most projects" in sales.sharing.review("org")[0].findings[-1]
    assert open_with("billing").search(ASKED).hits == ()
    sales.sharing.approve(known)
    sales.vote(known, False, ref="r9")
    assert sales.get(known).state == "active", "what a person let in again is not sent back for the same"


def test_what_was_cut_short_between_project_and_shared_bank_heals_at_the_next_call(
    open_with: OpenWith, root: BankRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reasoningbank.services.sharing import credit

    known = shared_lesson(open_with)
    billing = open_with("billing")
    with monkeypatch.context() as killed:
        killed.setattr(credit, "_tell", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            billing.recall(ASKED, ref="run")
        with pytest.raises(KeyboardInterrupt):
            billing.report("success", ref="run")
    assert billing.sharing.status()[0].due == 1

    open_with("billing").recall("something else altogether", ref="next")

    assert billing.sharing.status()[0].due == 0
    with root.shared.open("org") as bank:
        kinds = sorted(p.kind for p in bank.evidence(known).pieces)
    assert kinds == ["outcome", "usage"]

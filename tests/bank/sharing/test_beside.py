"""Shared banks beside a recall's search: their pins, what their lessons require, and hold-outs."""

from __future__ import annotations

from reasoningbank import BankRoot
from tests.bank.sharing.conftest import ASKED, LEDGER, PATHS, OpenWith, shared_lesson


def test_what_is_pinned_in_a_shared_bank_is_shown_to_every_member(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    with root.shared.open("org") as org:
        org.upkeep.pin(known)
    billing = open_with("billing")
    billing.record(**LEDGER)

    recalled = billing.recall("lock the ledger", ref="run", weak="give")

    assert (known, "org", True) == next((hit.memory.id, hit.level, hit.pinned) for hit in recalled.hits)
    assert PATHS["content"] in recalled.text
    again = billing.recall("lock the ledger", ref="run")
    assert {hit.memory.id for hit in again.hits} == {hit.memory.id for hit in recalled.hits}
    billing.report("success", ref="run")
    with root.shared.open("org") as org:
        assert "outcome" in [piece.kind for piece in org.evidence(known).pieces]


def test_a_shared_pin_that_the_project_says_itself_is_not_shown_twice(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    with root.shared.open("org") as org:
        org.upkeep.pin(known)
    billing = open_with("billing")
    own = billing.record(**PATHS).memory.id

    assert [hit.memory.id for hit in billing.recall(ASKED).hits] == [own]


def test_what_a_shared_lesson_requires_comes_along_from_there(open_with: OpenWith, root: BankRoot) -> None:
    known, other = shared_lesson(open_with), shared_lesson(open_with, LEDGER)
    with root.shared.open("org") as org:
        org.links.add(known, other, "requires")

    recalled = open_with("billing").recall(ASKED, limit=1, expand_links=True)

    assert [(hit.memory.id, hit.level) for hit in recalled.hits] == [(known, "org"), (other, "org")]
    assert recalled.required == (other,)


def test_shared_lessons_that_conflict_are_named(open_with: OpenWith, root: BankRoot) -> None:
    one, other = shared_lesson(open_with), shared_lesson(open_with, LEDGER)
    with root.shared.open("org") as org:
        org.links.add(one, other, "conflicts")

    recalled = open_with("billing").recall(
        "put paths in quotes, lock the ledger before", expand_links=True, weak="give"
    )

    assert {(c.one, c.other) for c in recalled.conflicts} == {(one, other)}


def test_a_run_that_is_held_out_gets_nothing_from_any_level(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    late = open_with("late")
    given, held = 0, 0
    for number in range(12):
        recalled = late.recall(ASKED, ref=f"run-{number}", holdout=0.5)
        late.report("success" if recalled.hits else "failure", ref=recalled.ref)
        given, held = given + bool(recalled.hits), held + recalled.held_out
        assert recalled.held_out is not bool(recalled.hits)

    assert (given + held, held > 0, given > 0) == (12, True, True)
    found = late.lift().overall
    assert found is not None
    assert (found.given.runs, found.withheld.runs) == (given, held)
    with root.shared.open("org") as org:
        assert org.get(known).usage_count == given


def test_single_shared_lessons_are_never_held_out(open_with: OpenWith) -> None:
    shared_lesson(open_with)
    late = open_with("late")

    assert all(late.recall(ASKED, ref=f"run-{n}", holdout="memory").hits for n in range(12))


def test_a_thread_stays_in_its_arm_for_shared_lessons_too(open_with: OpenWith) -> None:
    shared_lesson(open_with)
    late = open_with("late")
    for n in range(8):
        first = late.recall(ASKED, ref=f"a-{n}", thread=f"t-{n}", holdout=0.5)
        second = late.recall(ASKED, ref=f"b-{n}", thread=f"t-{n}")
        assert bool(first.hits) == bool(second.hits)

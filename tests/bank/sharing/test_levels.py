"""Shared banks: what a handle recalls from them, and where its credit goes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import (
    BankRoot,
    InvalidInputError,
    InvalidNameError,
    MemoryNotFoundError,
    ProjectNotFoundError,
    ScopeError,
    StorageError,
)
from reasoningbank.services.sharing.levels import Look
from tests.bank.sharing.conftest import ASKED, BANKS, LEDGER, PATHS, OpenWith, shared_lesson
from tests.conftest import OpenBank

# -- declared, and fail-closed ---------------------------------------------------------------------------------------


def test_a_shared_bank_is_declared_once_and_is_no_project(root: BankRoot) -> None:
    assert [(bank.name, len(bank.members)) for bank in root.shared.list()] == [("org", 3), ("team:payments", 2)]
    assert root.projects() == []
    assert root.overview() == []
    with pytest.raises(InvalidInputError, match="already"):
        root.shared.create("org")
    with pytest.raises(ProjectNotFoundError):
        root.shared.open("nobody's")


@pytest.mark.parametrize("name", ["project", "", " ", "a\x1fb", "x" * 201])
def test_names_of_shared_banks_are_checked_as_those_of_projects_are(root: BankRoot, name: str) -> None:
    with pytest.raises((InvalidNameError, ScopeError)):
        root.shared.create(name)


@pytest.mark.parametrize("name", ["shared\x1forg", "\x1forg"])
def test_no_project_name_reaches_a_shared_bank(root: BankRoot, open_bank: OpenBank, name: str) -> None:
    with pytest.raises(InvalidNameError):
        open_bank(project=name)
    with pytest.raises(InvalidNameError):
        root.delete_project(name)


def test_a_project_and_a_shared_bank_of_one_name_are_two(open_with: OpenWith, open_bank: OpenBank) -> None:
    shared_lesson(open_with)

    assert open_bank(project="org").search(ASKED).hits == ()


def test_a_text_is_no_list_of_shared_banks(open_bank: OpenBank) -> None:
    with pytest.raises(InvalidInputError, match="give a list"):
        open_bank(shared="org")


def test_who_is_no_member_is_told_the_same_as_of_a_bank_that_is_not_there(
    open_with: OpenWith, open_bank: OpenBank
) -> None:
    known = shared_lesson(open_with)
    stranger = open_bank(project="stranger", shared=("org",))
    nobody = open_bank(project="stranger", shared=("none",))

    assert stranger.search(ASKED).hits == ()
    answers = [
        [repr(b.search(ASKED).degraded), repr(b.sharing.status()), repr(b.recall(ASKED).degraded)]
        for b in (stranger, nobody)
    ]
    assert [text.replace("org", "none") for text in answers[0]] == answers[1]
    for bank in (stranger, nobody):
        for call in (bank.get, lambda i, b=bank: b.vote(i, True), bank.sharing.approve, bank.sharing.demote):
            with pytest.raises(MemoryNotFoundError):
                call(known)
        assert bank.sharing.links() == []


# -- one ranking -----------------------------------------------------------------------------------------------------


def test_lessons_of_all_levels_are_ranked_together_and_say_their_level(open_with: OpenWith) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")
    billing.record(**LEDGER)

    found = billing.search("put paths in quotes before the ledger is locked")
    recalled = billing.recall(ASKED, limit=2)

    assert {(hit.level, hit.memory.project) for hit in found.hits} == {("project", "billing"), ("org", "org")}
    assert list(found.hits) == sorted(found.hits, key=lambda hit: -hit.score)
    assert recalled.hits[0].memory.id == known
    assert PATHS["content"] in recalled.text


def test_scores_are_those_that_one_bank_of_all_would_give(open_with: OpenWith, open_bank: OpenBank) -> None:
    lessons: list[dict[str, Any]] = [
        {"title": f"Rule {i}", "content": f"{word} the {thing} before it is used again", "outcome": "success"}
        for i, (word, thing) in enumerate(
            [("quote", "path"), ("check", "path"), ("lock", "ledger"), ("quote", "header"), ("rotate", "key")]
        )
    ]
    sales, billing, alone = open_with("sales"), open_with("late"), open_bank(project="alone")
    for place, lesson in enumerate(lessons):
        alone.record(**lesson)
        if place % 2:
            billing.record(**lesson)
        else:
            sales.sharing.promote(sales.record(**lesson).memory.id, to="org")

    together = billing.search("quote a path").hits
    one = alone.search("quote a path").hits

    assert [h.memory.title for h in together] == [h.memory.title for h in one]
    assert [h.keyword for h in together] == pytest.approx([h.keyword for h in one])
    assert [h.score for h in together] == pytest.approx([h.score for h in one], abs=1e-4)


def test_the_nearest_of_all_levels_are_the_nearest_of_each_put_together(open_with: OpenWith, root: BankRoot) -> None:
    billing = open_with("billing")
    chance = random.Random(3)
    with root.shared.open("org") as org:
        for bank in (billing, org):
            drawn = [" ".join(f"word{chance.randrange(40)}" for _ in range(8)) for _ in range(60)]
            bank.record_many([{"title": text[:20], "content": text, "outcome": "success"} for text in drawn])
    asked = billing._engine.embedder.embed_query("word1 word2 word3")

    with Look(billing._handle.levels, {}).read(None) as joined:
        every, cosines = joined.joined.vectors.nearest(joined, asked, 1_000)
        for k in (1, 7, 60, 119):
            numbers, near = joined.joined.vectors.nearest(joined, asked, k)
            assert near.tolist() == cosines[:k].tolist()
            assert len({*numbers.tolist()} & {*every[cosines >= near[-1]].tolist()}) == k
    assert len(every) == 120


def test_what_two_levels_say_is_shown_once_by_the_nearer_one(open_with: OpenWith) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")
    own = billing.record(**PATHS).memory

    hits = billing.search(ASKED).hits

    assert [hit.memory.id for hit in hits] == [own.id]
    assert [(twin.level, twin.memory) for twin in hits[0].also] == [("org", known)]


def test_a_reworded_copy_is_shown_once_beside_its_origin(open_with: OpenWith) -> None:
    sales = open_with("sales")
    own = sales.record(**PATHS).memory
    other = {"content": "Names of files may hold spaces, which a shell splits at: quote them always."}
    sales.sharing.promote(own.id, to="org", wording=other)

    assert [hit.memory.id for hit in sales.search("put paths in quotes, names hold spaces").hits] == [own.id]


def test_an_archived_lesson_hides_no_shared_one(open_with: OpenWith) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")
    billing.upkeep.archive(billing.record(**PATHS).memory.id)

    assert [hit.memory.id for hit in billing.search(ASKED).hits] == [known]


def test_of_levels_that_contradict_the_nearer_comes_first_and_both_are_named(open_with: OpenWith) -> None:
    said: dict[str, Any] = {
        "title": "Retry a timeout",
        "content": "Always retry a request that timed out.",
        "outcome": "success",
    }
    against: dict[str, Any] = {
        "title": "Retry a timeout",
        "content": "Never retry a request that timed out.",
        "outcome": "success",
    }
    known = shared_lesson(open_with, said)
    billing = open_with("billing")
    own = billing.record(**against).memory.id

    recalled = billing.recall("always retry a request that timed out", policy="similarity")

    assert [hit.memory.id for hit in recalled.hits] == [own, known]
    assert [(each.one, each.other) for each in recalled.conflicts] == [(own, known)]
    assert "cannot both be followed" in recalled.text


def test_filters_and_budget_hold_for_all_levels(open_with: OpenWith) -> None:
    shared_lesson(open_with, tags=["shell"])
    billing = open_with("billing")
    billing.record(**(LEDGER | {"tags": ["db"]}))

    assert [hit.level for hit in billing.search(ASKED, tags=["shell"]).hits] == ["org"]
    assert billing.search(ASKED, tags=["none"]).hits == ()
    assert billing.recall(ASKED, max_tokens=5).hits == ()


def test_a_broken_shared_bank_degrades_the_result_and_not_the_agent(
    open_with: OpenWith, root: BankRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared_lesson(open_with)
    billing = open_with("billing", BANKS)
    own = billing.record(**LEDGER).memory.id

    from reasoningbank.services.sharing.engine import MemberEngine

    def refuse(self: MemberEngine) -> Any:
        raise StorageError("the disk is gone", path=Path("gone"))

    monkeypatch.setattr(MemberEngine, "read", refuse)
    recalled = billing.recall("lock the ledger", ref="r")

    assert [hit.memory.id for hit in recalled.hits] == [own]
    assert len(recalled.degraded) == 2
    assert "the disk is gone" in recalled.degraded[0]
    assert billing.report("success", ref="r").credited == (own,)


def test_a_level_that_fails_in_the_middle_is_left_out(open_with: OpenWith, monkeypatch: pytest.MonkeyPatch) -> None:
    shared_lesson(open_with)
    billing = open_with("billing")
    own = billing.record(**LEDGER).memory.id
    billing.search(ASKED)

    def refuse(*_: Any, **__: Any) -> Any:
        raise StorageError("a page is damaged", path=Path("gone"))

    (engine,) = billing._handle.levels.banks.values()
    monkeypatch.setattr(engine.cache, "postings", refuse)
    found = billing.search("lock the ledger")

    assert [hit.memory.id for hit in found.hits] == [own]
    assert "a page is damaged" in found.degraded[0]

"""Shared banks: what a handle recalls from them, and where its credit goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import (
    BankRoot,
    InvalidInputError,
    InvalidNameError,
    MemoryNotFoundError,
    ProjectNotFoundError,
    ReasoningBank,
    ScopeError,
    SharedAccessError,
    StorageError,
)
from reasoningbank.sharing import Right
from tests.conftest import Clock, OpenBank

PATHS = {
    "title": "Quote paths with blanks",
    "content": "Put paths in quotes: names may hold blanks.",
    "outcome": "failure",
}
LEDGER = {"title": "Lock the ledger", "content": "Take the ledger's lock before you write to it.", "outcome": "success"}
ASKED = "put paths in quotes"
BANKS = ("team:payments", "org")


@pytest.fixture
def root(bank_root: Path | str, clock: Clock) -> Iterator[BankRoot]:
    with BankRoot(bank_root, tenant="acme", embedder="hash", clock=clock) as opened:
        opened.shared.create("org", readers=["billing", "late"], approvers=["sales"])
        opened.shared.create("team:payments", writers=["billing"], readers=["sales"])
        yield opened


@pytest.fixture
def open_with(open_bank: OpenBank, root: BankRoot) -> Callable[..., ReasoningBank]:
    def opened(project: str, shared: tuple[str, ...] = ("org",), **options: Any) -> ReasoningBank:
        return open_bank(project=project, shared=shared, **options)

    return opened


OpenWith = Callable[..., ReasoningBank]


def shared_lesson(open_with: OpenWith, lesson: dict[str, Any] = PATHS, **more: Any) -> str:
    """Have `sales`, which may approve in `org`, share a lesson; return its id there."""
    sales = open_with("sales")
    promoted = sales.sharing.promote(sales.record(**lesson, **more).memory.id, to="org")
    assert promoted.memory is not None
    return promoted.memory.id


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
    lessons = [
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

    assert [(h.memory.title, pytest.approx(h.keyword), pytest.approx(h.similarity)) for h in together] == [
        (h.memory.title, h.keyword, h.similarity) for h in one
    ]


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
    said = {"title": "Retry a timeout", "content": "Always retry a request that timed out.", "outcome": "success"}
    against = {"title": "Retry a timeout", "content": "Never retry a request that timed out.", "outcome": "success"}
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


# -- credit ----------------------------------------------------------------------------------------------------------


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


# -- who may do what -------------------------------------------------------------------------------------------------


def test_a_promotion_waits_for_a_review_unless_the_caller_may_approve(open_with: OpenWith, root: BankRoot) -> None:
    root.shared.add("org", project="billing", may="write")
    billing, sales = open_with("billing"), open_with("sales")
    promoted = billing.sharing.promote(billing.record(**LEDGER).memory.id, to="org", by="ann")
    assert promoted.memory is not None

    assert promoted.waits
    assert sales.search("lock the ledger").hits == ()
    assert [m.id for m in billing.sharing.review("org")] == [promoted.memory.id]
    assert open_with("late").sharing.review("org") == []
    with pytest.raises(SharedAccessError):
        billing.sharing.approve(promoted.memory.id)

    sales.sharing.approve(promoted.memory.id)

    assert [h.level for h in sales.search("lock the ledger").hits] == ["org"]
    sales.sharing.demote(promoted.memory.id, reason="only true for ledgers")
    assert sales.search("lock the ledger").hits == ()
    assert billing.search("lock the ledger").hits[0].level == "project"


@pytest.mark.parametrize(("project", "may"), [("late", "read"), ("late", None), ("nobody", None)])
def test_who_may_not_write_writes_nothing(open_with: OpenWith, root: BankRoot, project: str, may: str | None) -> None:
    if may is None:
        root.shared.remove("org", project=project)
    bank = open_with(project)
    own = bank.record(**LEDGER).memory.id

    with pytest.raises(SharedAccessError):
        bank.sharing.promote(own, to="org")
    with pytest.raises(SharedAccessError):
        bank.sharing.promote(own, to="team:payments")
    assert root.shared.get("org").memories == {}


def test_a_person_adds_to_what_the_project_may_and_is_nothing_without_it(open_with: OpenWith, root: BankRoot) -> None:
    root.shared.add("org", person="ann", may=Right.APPROVE)
    late, stranger = open_with("late", person="ann"), open_with("stranger", person="ann")

    promoted = late.sharing.promote(late.record(**LEDGER).memory.id, to="org")

    assert not promoted.waits
    with pytest.raises(SharedAccessError):
        stranger.sharing.promote(stranger.record(**LEDGER).memory.id, to="org")


def test_revoking_a_member_holds_from_the_next_call_on(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with)
    billing = open_with("billing")
    billing.recall(ASKED, ref="run")

    assert root.shared.remove("org", project="billing")
    assert not root.shared.remove("org", project="billing")

    assert billing.search(ASKED).hits == ()
    assert billing.recall(ASKED, ref="run").hits == ()
    with pytest.raises(MemoryNotFoundError):
        billing.vote(known, True)
    billing.report("success", ref="run")
    with root.shared.open("org") as bank:
        assert [piece.kind for piece in bank.evidence(known).pieces] == ["usage"]


def test_a_deleted_shared_bank_is_as_if_it_had_never_been(open_with: OpenWith, root: BankRoot) -> None:
    shared_lesson(open_with)
    root.shared.delete("org")

    assert [bank.name for bank in root.shared.list()] == ["team:payments"]
    assert "is left out" in open_with("billing").search(ASKED).degraded[0]
    with pytest.raises(ProjectNotFoundError):
        root.shared.delete("org")


@pytest.mark.parametrize("given", [{}, {"project": "a", "person": "b"}, {"project": "a", "may": "own"}])
def test_a_member_is_one_project_or_person_with_a_known_right(root: BankRoot, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        root.shared.add("org", **given)


# -- promotion -------------------------------------------------------------------------------------------------------


def test_what_names_the_project_is_not_stored_before_somebody_says_so(open_with: OpenWith) -> None:
    sales = open_with("sales")
    own = sales.record(
        title="Deploy", content="Deploy sales to db1.acme.internal by /srv/sales/deploy.sh", outcome="success"
    )

    stopped = sales.sharing.promote(own.memory.id, to="org", names=["acme"])

    assert stopped.memory is None
    assert {(one.kind, one.text) for one in stopped.specific} == {
        ("host", "db1.acme.internal"),
        ("path", "/srv/sales/deploy.sh"),
        ("name", "sales"),
    }
    assert sales.sharing.check(own.memory.id, names=["acme"]) == stopped.specific
    wording = {"content": "Deploy to the database host by the deploy script."}
    assert sales.sharing.promote(own.memory.id, to="org", wording=wording).created
    with pytest.raises(InvalidInputError, match="wording"):
        sales.sharing.promote(own.memory.id, to="org", wording={"tags": "x"})
    with pytest.raises(InvalidInputError, match="give a list"):
        sales.sharing.check(own.memory.id, names="acme")


def test_a_model_proposes_wording_without_what_is_specific(open_with: OpenWith) -> None:
    sales = open_with("sales")
    own = sales.record(
        title="Deploy by the script", content="Deploy with /srv/sales/deploy.sh at night.", outcome="success"
    )
    answer = (
        '{"memories": [{"title": "Deploy by the script", "description": "When you deploy.", '
        '"content": "Deploy with the deploy script at night.", "tags": [], "outcome": "success"}]}'
    )
    asked: list[Any] = []

    def model(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return answer

    promoted = sales.sharing.promote(own.memory.id, to="org", chat=model)

    assert promoted.memory is None
    assert promoted.proposed["content"] == "Deploy with the deploy script at night."
    assert "/srv/sales/deploy.sh" in asked[0][-1]["content"]


def test_the_same_lesson_is_linked_and_not_stored_twice(open_with: OpenWith, root: BankRoot) -> None:
    root.shared.add("org", project="billing", may="approve")
    first, second = (open_with(project) for project in ("sales", "billing"))

    one = first.sharing.promote(first.record(**PATHS).memory.id, to="org")
    other = second.sharing.promote(second.record(**PATHS).memory.id, to="org")

    assert one.memory is not None
    assert other.memory is not None
    assert (one.created, other.created, other.memory.id) == (True, False, one.memory.id)
    assert [link.memory for link in second.sharing.links()] == [one.memory.id]


def test_corrections_are_offered_both_ways_and_a_deletion_says_so(open_with: OpenWith) -> None:
    sales = open_with("sales")
    own = sales.record(**PATHS).memory
    copy = sales.sharing.promote(own.id, to="org").memory
    assert copy is not None
    assert [link.state for link in sales.sharing.links(own.id)] == ["same"]

    sales.update(own.id, content="Put every path in quotes: any name may hold blanks.")
    assert [link.state for link in sales.sharing.links()] == ["origin changed"]
    corrected = sales.sharing.correct(copy.id)
    assert corrected.content.startswith("Put every path")
    assert [link.state for link in sales.sharing.links()] == ["same"]

    with pytest.raises(MemoryNotFoundError):
        sales.sharing.correct("none")
    sales.delete(own.id)
    assert [link.state for link in sales.sharing.links()] == ["origin deleted"]
    assert [hit.memory.id for hit in sales.search(ASKED).hits] == [copy.id]


def test_the_shared_wording_is_taken_into_the_project(open_with: OpenWith, root: BankRoot) -> None:
    sales = open_with("sales")
    own = sales.record(**PATHS).memory
    copy = sales.sharing.promote(own.id, to="org").memory
    assert copy is not None
    with root.shared.open("org") as bank:
        bank.update(copy.id, title="Quote every path")
    assert [link.state for link in sales.sharing.links()] == ["copy changed"]

    assert sales.sharing.correct(copy.id, here=True).id == own.id
    assert sales.get(own.id).title == "Quote every path"
    assert [link.state for link in sales.sharing.links()] == ["same"]


def test_only_lessons_in_service_are_promoted(open_with: OpenWith) -> None:
    sales = open_with("sales")
    own = sales.record(**PATHS).memory.id
    sales.upkeep.archive(own)

    with pytest.raises(InvalidInputError, match="archived"):
        sales.sharing.promote(own, to="org")
    with pytest.raises(MemoryNotFoundError):
        sales.sharing.promote("none", to="org")


# -- suggestions -----------------------------------------------------------------------------------------------------


def proven(bank: ReasoningBank, lesson: dict[str, Any], votes: int = 3) -> str:
    own = bank.record(**lesson).memory.id
    for i in range(votes):
        bank.vote(own, True, ref=f"v{i}")
    return own


def test_what_three_projects_found_out_is_suggested_once_with_the_evidence_of_all(
    open_bank: OpenBank, root: BankRoot
) -> None:
    named = PATHS | {"content": "Put paths in quotes: names under /srv/files/in may hold blanks."}
    ids = set()
    for project in ("one", "two", "three"):
        root.shared.add("org", project=project, may="write")
        ids.add((project, proven(open_bank(project=project), named)))
    proven(open_bank(project="outside"), named)

    (suggestion,) = root.shared.suggest_promotions("org")

    assert set(suggestion.origins) == ids
    assert (suggestion.successes, suggestion.failures) == (9.0, 0.0)
    assert suggestion.reason == "proven in 3 projects"


def test_what_one_project_proved_is_suggested_only_where_it_names_nothing_of_it(
    open_with: OpenWith, root: BankRoot
) -> None:
    sales = open_with("sales")
    generic = proven(sales, PATHS, votes=6)
    proven(sales, LEDGER | {"content": "Lock /srv/sales/ledger.db before you write."}, votes=6)
    sales.record(title="Unproven", content="Nobody ever tried to do this.", outcome="success")

    (own,) = sales.sharing.suggest_promotions("org")
    assert own.origins == (("sales", generic),)
    assert root.shared.suggest_promotions("org") == [own]
    sales.sharing.promote(generic, to="org")
    assert root.shared.suggest_promotions("org") == []


def test_nothing_is_promoted_unasked_unless_the_shared_bank_says_so(open_bank: OpenBank, root: BankRoot) -> None:
    root.shared.create("auto", approvers=["one"], writers=["two", "three"], auto=True)
    for project in ("one", "two", "three"):
        proven(open_bank(project=project), PATHS)
    with pytest.raises(InvalidInputError, match="unasked"):
        root.shared.promote_suggested("org")

    (promoted,) = root.shared.promote_suggested("auto")

    assert promoted.memory is not None
    for project in ("one", "two", "three"):
        assert [link.memory for link in open_bank(project=project, shared=("auto",)).sharing.links()] == [
            promoted.memory.id
        ]
    assert root.shared.promote_suggested("auto") == []

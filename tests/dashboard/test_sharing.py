"""Shared banks in the dashboard: who may do what, what waits, what is worth sharing, and their lessons' own pages."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import BankRoot
from reasoningbank.dashboard.addresses import address, in_shared
from tests.dashboard.conftest import Visit, Visitor, notice
from tests.dashboard.test_hostile import harmless

PATHS = {"title": "Quote paths with blanks", "content": "Put paths in quotes: names may hold blanks."}


@pytest.fixture
def org(banks: BankRoot) -> BankRoot:
    """A tenant with a shared bank that `sales` may write to, and a lesson that waits there."""
    banks.shared.create("org", readers=["billing"], writers=["sales"], people={"ann": "approve"})
    sales = banks.open("sales", shared=("org",))
    own = sales.record(PATHS["title"], PATHS["content"], outcome="failure").memory.id
    sales.sharing.promote(own, to="org")
    return banks


def test_without_a_shared_bank_the_page_says_how_one_begins(visitor: Visitor) -> None:
    assert "reasoningbank shared create" in visitor.get("/shared")


def test_the_list_says_what_is_in_each_and_what_waits(visitor: Visitor, org: BankRoot) -> None:
    page = visitor.get("/shared")

    assert 'href="/shared/org"' in page
    assert address(in_shared("org"), "review", queue="quarantined") in page


def test_a_bank_is_declared_once(visitor: Visitor, banks: BankRoot) -> None:
    page = visitor.press(visitor.get("/shared"), "Declare a shared bank", name="team:payments")

    assert notice(page).startswith("Declared team:payments")
    assert [each.name for each in banks.shared.list()] == ["team:payments"]
    visitor.post("/shared", status=400, name="team:payments")


def test_members_are_let_in_and_shut_out_and_both_are_undone(visitor: Visitor, org: BankRoot) -> None:
    page = visitor.press(visitor.get("/shared/org"), "Let in", kind="person", name="bob", may="write")
    assert notice(page) == "The person 'bob' may write in org from now on."
    page = visitor.press(page, "Shut out again")
    assert "bob" not in [member.name for member in org.shared.get("org").members]

    page = visitor.post("/shared/org/remove", kind="project", name="sales")
    assert "is out of org from the next call on" in notice(page)
    visitor.press(page, "Undo")
    assert [(m.name, m.may) for m in org.shared.get("org").members if m.kind == "project"] == [
        ("billing", "read"),
        ("sales", "write"),
    ]


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": "bob", "may": "everything"}])
def test_what_is_no_member_or_no_right_is_told(visitor: Visitor, org: BankRoot, fields: dict[str, str]) -> None:
    given: dict[str, Any] = {"kind": "person", "may": "read", "back": "/shared/org"} | fields
    page = visitor.post("/shared/org/add", **given)

    assert notice(page).startswith("Not done:")


def test_what_waits_is_approved_on_the_review_page_of_old(visitor: Visitor, org: BankRoot) -> None:
    page = visitor.get(address(in_shared("org"), "review", queue="quarantined"))
    assert "shared bank org" in page
    assert PATHS["title"] in page

    visitor.press(page, "Approve")

    assert [hit.level for hit in org.open("billing", shared=("org",)).search("put paths in quotes").hits] == ["org"]


def test_every_page_of_a_project_is_there_for_a_shared_bank(visitor: Visitor, org: BankRoot) -> None:
    with org.shared.open("org") as bank:
        (waiting,) = bank.list(state=None).memories
    for page in ("", "/lessons", "/review", "/runs", "/search?q=paths", "/calibration", "/graph", "/upkeep"):
        assert "shared bank org" in visitor.get(address(in_shared("org")) + page)
    assert "sales" in visitor.get(address(in_shared("org"), "lessons", waiting.id))


def test_what_is_worth_sharing_is_promoted_by_the_project_that_found_it(visitor: Visitor, org: BankRoot) -> None:
    sales = org.open("sales")
    good = sales.record("Lock the ledger", "Take the lock before you write to a ledger.", outcome="success").memory.id
    for n in range(6):
        sales.vote(good, True, ref=f"r{n}")

    page = visitor.press(visitor.get("/shared/org"), "Promote")

    assert notice(page) == "Promoted “Lock the ledger”: it waits for a review."
    assert org.shared.get("org").memories["quarantined"] == 2
    visitor.press(page, "Undo")
    assert org.shared.get("org").memories["archived"] == 1


def test_what_names_its_project_is_not_promoted_and_says_why(visitor: Visitor, org: BankRoot) -> None:
    for project in ("sales", "one", "two"):
        org.shared.add("org", project=project, may="write")
        bank = org.open(project)
        own = bank.record("Lock the ledger", "Lock /srv/ledger/a.db before you write.", outcome="success").memory.id
        for n in range(3):
            bank.vote(own, True, ref=f"r{n}")

    page = visitor.press(visitor.get("/shared/org"), "Promote")
    assert "Not promoted" in notice(page)
    assert "/srv/ledger/a.db" in notice(page)

    page = visitor.press(visitor.get("/shared/org"), "Promote", anyway="yes")
    assert "waits for a review" in notice(page)


def test_a_reader_of_the_dashboard_changes_nothing(visit: Visit, org: BankRoot) -> None:
    visitor = visit(read_only=True)
    page = visitor.get("/shared/org")

    assert "Shut out" not in page
    visitor.post("/shared/org/remove", status=403, kind="project", name="sales")
    assert len(org.shared.get("org").members) == 3


def test_what_is_not_there_is_not_found(visitor: Visitor, org: BankRoot) -> None:
    for path in ("/shared/none", address(in_shared("none"), "lessons")):
        assert "shared bank" in visitor.get(path, status=404)
    visitor.post("/shared/org/nothing", status=400)
    visitor.post("/shared/org/promote", status=404, project="sales", memory="none")


def test_a_bank_that_is_deleted_and_declared_anew_is_the_new_one(visitor: Visitor, org: BankRoot) -> None:
    lessons = address(in_shared("org"), "lessons") + "?class=all"
    assert PATHS["title"] in visitor.get(lessons)
    org.shared.delete("org")
    visitor.get(lessons, status=404)
    org.shared.create("org")

    assert PATHS["title"] not in visitor.get(lessons)


def test_hostile_names_are_shown_and_never_run(visitor: Visitor, banks: BankRoot) -> None:
    name = '"><script>alert(1)</script>'
    banks.shared.create(name, writers=[name], people={name: "approve"})
    for path in ("/shared", "/shared/~22~3E~3Cscript~3Ealert~281~29~3C~2Fscript~3E", address(in_shared(name))):
        harmless(visitor.get(path))

"""Over random tenants, projects, shared banks and members: nobody reads, counts or writes what is not open to them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reasoningbank import BankRoot, ReasoningBank, ReasoningBankError, SharedAccessError
from reasoningbank.services.sharing.engine import TICK
from reasoningbank.services.view import View
from reasoningbank.sharing import Right
from tests.bank.sharing.conftest import OpenWith
from tests.processes import exit_code, start

TENANTS, PROJECTS, BANKS = ("acme", "globex"), ("a", "b", "c"), ("org", "team")
RIGHTS: list[Right | None] = [None, *Right]
_worlds = count()

members = st.dictionaries(
    st.tuples(st.sampled_from(TENANTS), st.sampled_from(BANKS)),
    st.dictionaries(st.sampled_from(PROJECTS), st.sampled_from(RIGHTS), max_size=3),
    min_size=1,
    max_size=4,
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["search", "recall", "promote", "vote", "demote", "change"]),
        st.sampled_from(TENANTS),
        st.sampled_from(PROJECTS),
        st.sampled_from(BANKS),
        st.sampled_from(RIGHTS),
    ),
    max_size=8,
)


class World:
    """Tenants with shared banks that each hold one lesson, and handles that are never opened anew."""

    def __init__(self, root: Path, open_to: dict[tuple[str, str], dict[str, Right | None]]) -> None:
        self.may: dict[tuple[str, str, str], Right] = {}
        self.roots = {tenant: BankRoot(root, tenant=tenant, embedder="hash") for tenant in TENANTS}
        self.handles: dict[tuple[str, str, str], ReasoningBank] = {}
        self.lessons: dict[tuple[str, str], str] = {}
        for (tenant, bank), wanted in open_to.items():
            self.roots[tenant].shared.create(bank)
            with self.roots[tenant].shared.open(bank) as opened:
                text = f"Secret of {tenant} {bank}"
                self.lessons[tenant, bank] = opened.record(text, f"{text}: use it", outcome="success").memory.id
            for project, right in wanted.items():
                self.change(tenant, project, bank, right)

    def change(self, tenant: str, project: str, bank: str, right: Right | None) -> None:
        if (tenant, bank) not in self.lessons:
            return
        if right is None:
            self.roots[tenant].shared.remove(bank, project=project)
            self.may.pop((tenant, project, bank), None)
        else:
            self.roots[tenant].shared.add(bank, project=project, may=right)
            self.may[tenant, project, bank] = right

    def handle(self, tenant: str, project: str, bank: str) -> ReasoningBank:
        key = tenant, project, bank
        if key not in self.handles:
            self.handles[key] = self.roots[tenant].open(project, shared=(bank,))
        return self.handles[key]

    def reads(self, tenant: str, project: str, bank: str) -> bool:
        return (tenant, project, bank) in self.may

    def states(self) -> dict[tuple[str, str], tuple[int, int]]:
        found = {}
        for tenant, bank in self.lessons:
            with self.roots[tenant].shared.open(bank) as opened:
                lessons = opened.list(state=None).memories
                found[tenant, bank] = len(lessons), sum(len(opened.evidence(m.id).pieces) for m in lessons)
        return found

    def close(self) -> None:
        for root in self.roots.values():
            root.close()


def act(world: World, name: str, tenant: str, project: str, bank: str) -> str:
    """Do something, and return all that is told of it."""
    handle, lesson = world.handle(tenant, project, bank), world.lessons.get((tenant, bank), "none")
    try:
        if name == "search":
            return repr(handle.search(f"secret of {tenant} {bank}"))
        if name == "recall":
            return repr(handle.recall(f"secret of {tenant} {bank}").hits)
        if name == "promote":
            own = handle.record(f"Own {project} {next(_worlds)}", "Do this, always", outcome="success").memory.id
            return repr(handle.sharing.promote(own, to=bank, anyway=True).memory is not None)
        if name == "vote":
            return repr(handle.vote(lesson, True).recorded)
        return repr(handle.sharing.demote(lesson).state)
    except ReasoningBankError as error:
        return f"{type(error).__name__}: {error}"


NEEDED = {
    "search": Right.READ,
    "recall": Right.READ,
    "vote": Right.READ,
    "promote": Right.WRITE,
    "demote": Right.APPROVE,
}
NOBODYS = "11111111-0000-4000-8000-000000000000"
CALLS: dict[str, Callable[[ReasoningBank, str], object]] = {
    "search": lambda bank, _: bank.search("secret").degraded,
    "status": lambda bank, _: bank.sharing.status(),
    "promote": lambda bank, own: bank.sharing.promote(own, to="org"),
    "vote": lambda bank, _: bank.vote(NOBODYS, True),
    "review": lambda bank, _: bank.sharing.review("org"),
    "demote": lambda bank, _: bank.sharing.demote(NOBODYS),
    "suggest": lambda bank, _: bank.sharing.suggest_promotions("org"),
}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(members, steps)
def test_nothing_is_told_to_who_may_not_read_and_nothing_is_written_above_a_right(
    tmp_path: Path,
    open_to: dict[tuple[str, str], dict[str, Right | None]],
    taken: list[tuple[str, str, str, str, Right | None]],
) -> None:
    world = World(tmp_path / str(next(_worlds)), open_to)
    try:
        for name, tenant, project, bank, right in taken:
            if name == "change":
                world.change(tenant, project, bank, right)
                continue
            before, may = world.states(), world.may.get((tenant, project, bank))
            told = act(world, name, tenant, project, bank)
            after = world.states()
            if may is None:
                assert "Secret" not in told
                assert world.lessons.get((tenant, bank), "-") not in told.replace(repr("none"), "") or name in (
                    "vote",
                    "demote",
                ), "only what the caller said itself comes back"
            if may is None or not may.includes(NEEDED[name]):
                assert after == before
            assert {key: seen for key, seen in after.items() if key != (tenant, bank)} == {
                key: seen for key, seen in before.items() if key != (tenant, bank)
            }
            if may is not None and name == "search":
                handle = world.handle(tenant, project, bank)
                assert all(hit.level in ("project", bank) for hit in handle.search("secret").hits)
    finally:
        world.close()


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_bank_answers_as_one_that_is_not_there(tmp_path: Path, call: str) -> None:
    answers = []
    for declared in (True, False):
        with BankRoot(tmp_path / str(declared), tenant="acme", embedder="hash") as root:
            if declared:
                root.shared.create("org", readers=["other"])
                with root.shared.open("org") as org:
                    org.record("Secret", "Nobody is told", outcome="success")
            bank = root.open("billing", shared=("org",))
            own = bank.record("Own", "My own lesson", outcome="success").memory.id
            try:
                answers.append(repr(CALLS[call](bank, own)))
            except ReasoningBankError as error:
                answers.append(f"{type(error).__name__}: {error}")

    assert answers[0] == answers[1]


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_bank_is_asked_as_much_as_one_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with BankRoot(tmp_path, tenant="acme", embedder="hash") as root:
        root.shared.create("org", readers=["other"])
        with root.shared.open("org") as org:
            for n in range(20):
                org.record(f"Secret {n}", f"Nobody is told of {n}", outcome="success")
        closed = root.open("billing", shared=("org",))
        # The same call, of a tenant that declared nothing.
        asked = []
        for bank in (closed, BankRoot(tmp_path, tenant="globex", embedder="hash").open("billing", shared=("org",))):
            own = bank.record("Own", "My own lesson", outcome="success").memory.id
            questions: list[str] = []
            with monkeypatch.context() as counted:

                def note(
                    view: View, sql: str, *values: Any, said: list[str] = questions, execute: Any = View.execute
                ) -> Any:
                    said.append(sql)
                    return execute(view, sql, *values)

                counted.setattr(View, "execute", note)
                with suppress(ReasoningBankError):
                    CALLS[call](bank, own)
            asked.append(questions)
            bank.close()

    assert asked[0]
    assert asked[0] == asked[1]


@pytest.mark.parametrize("call", CALLS)
def test_what_is_wrong_with_a_closed_bank_is_told_to_members_alone(tmp_path: Path, call: str) -> None:
    answers = {}
    with BankRoot(tmp_path / "old", tenant="acme", embedder="hash") as root:
        root.shared.create("org", approvers=["member"])
        handles = {name: root.open(name, shared=("org",)) for name in ("member", "stranger", "nobody")}
        own = {name: bank.record("Own", "My own lesson", outcome="success").memory.id for name, bank in handles.items()}
        for name, bank in handles.items():
            assert bool(bank.search("own").degraded) is (name != "member")
        before = _told(handles["nobody"], call, own["nobody"])
        root.shared.move("org", tmp_path / "new")
        answers = {name: _told(bank, call, own[name]) for name, bank in handles.items()}

    assert answers["stranger"] == answers["nobody"] == before
    assert "new" not in answers["stranger"]


def _told(bank: ReasoningBank, call: str, own: str) -> str:
    try:
        return repr(CALLS[call](bank, own))
    except ReasoningBankError as error:
        return f"{type(error).__name__}: {error}"


def test_a_member_is_told_where_its_shared_bank_is_now(tmp_path: Path) -> None:
    with BankRoot(tmp_path / "old", tenant="acme", embedder="hash") as root:
        root.shared.create("org", readers=["member"])
        member = root.open("member", shared=("org",))
        member.record("Own", "My own lesson", outcome="success")
        assert member.search("own").degraded == ()
        root.shared.move("org", tmp_path / "new")

        assert str(tmp_path / "new") in member.search("own").degraded[0]
        assert root.shared.list() == []
    with BankRoot(tmp_path / "new", tenant="acme", embedder="hash") as moved:
        assert [(m.name, m.may) for m in moved.shared.get("org").members] == [("member", "read")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs another process")
def test_who_is_shut_out_by_another_process_is_out_at_the_next_call(tmp_path: Path) -> None:
    with BankRoot(tmp_path, tenant="acme", embedder="hash") as root:
        root.shared.create("org", writers=["billing"])
        with root.shared.open("org") as org:
            org.record("Secret", "Use the secret", outcome="success")
        bank = root.open("billing", shared=("org",))
        own = bank.record("Own", "My own lesson", outcome="success").memory.id
        assert "org" in [hit.level for hit in bank.search("secret").hits]

        def shut_out() -> None:
            with BankRoot(tmp_path, tenant="acme", embedder="hash") as other:
                other.shared.remove("org", project="billing")

        assert exit_code(start(shut_out)) == 0

        assert [hit.level for hit in bank.search("secret").hits if hit.level != "project"] == []
        with pytest.raises(SharedAccessError):
            bank.sharing.promote(own, to="org")


@pytest.mark.parametrize("bank", ["org", "nowhere"])
def test_who_is_no_member_is_refused_at_a_tick_whether_there_is_a_bank_or_not(open_with: OpenWith, bank: str) -> None:
    stranger = open_with("stranger", (bank,))
    stranger.record("Own", "My own lesson", outcome="success")
    taken = []
    for _ in range(12):
        began = time.perf_counter()
        assert stranger.search("own").degraded
        taken.append(time.perf_counter() - began)

    assert min(taken) >= TICK


def test_who_is_no_member_does_not_wait_for_those_who_write(open_with: OpenWith, root: BankRoot) -> None:
    stranger = open_with("stranger")
    stranger.record("Own", "My own lesson", outcome="success")
    closed = stranger._handle.levels.bank("org")
    with root.shared.open("org") as org, org._engine.write():
        began = time.perf_counter()
        with pytest.raises(SharedAccessError), closed.write():
            pass

    assert time.perf_counter() - began < closed.settings.busy_timeout / 2

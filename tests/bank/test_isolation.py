"""No tenant and no project reaches another's memories, whatever the names and whatever the call."""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import (
    BankRoot,
    InvalidNameError,
    NotFoundError,
    ProjectNotFoundError,
    ReasoningBank,
    ReasoningBankError,
    ScopeError,
)
from tests.conftest import OpenBank
from tools.reference import PARTS

LESSON: dict[str, Any] = {"title": "Quote paths", "content": "Put paths in quotes", "outcome": "failure"}
ASKED = "put paths in quotes"


@pytest.mark.parametrize("name", ["%", "_", "*", "a?c", "[a-z]*", ".*", "\\", "a%", "abc*", "~", "..", "."])
def test_signs_of_patterns_in_a_name_are_only_signs(open_bank: OpenBank, bank_root: Path | str, name: str) -> None:
    kept = open_bank(project="abc")
    kept.record(**LESSON)
    odd = open_bank(project=name)

    assert odd.search(ASKED).hits == ()
    odd.record(**(LESSON | {"title": "Another"}))
    root = BankRoot(bank_root, tenant="acme", embedder="hash")
    assert sorted(root.projects()) == sorted(["abc", name])
    root.delete_project(name)

    assert root.projects() == ["abc"]
    assert kept.count() == 1


@pytest.mark.parametrize("glue", [":", "/", "__", ".", "-", "\\", "|"])
def test_names_that_hold_a_separator_do_not_run_together(open_bank: OpenBank, glue: str) -> None:
    one = open_bank(tenant=f"x{glue}y", project="z")
    other = open_bank(tenant="x", project=f"y{glue}z")
    one.record(**LESSON)

    assert (one.count(), other.count()) == (1, 0)
    if Path(one.upkeep.status().folder).exists():
        assert one.upkeep.status().folder != other.upkeep.status().folder


@pytest.mark.parametrize(("one", "other"), [("Atlas", "atlas"), ("straße", "strasse"), ("a b", "a-b")])
def test_names_that_differ_in_case_or_spelling_are_two_projects_everywhere(
    open_bank: OpenBank, one: str, other: str
) -> None:
    first, second = open_bank(project=one), open_bank(project=other)
    first.record(**LESSON)

    assert (first.count(), second.count()) == (1, 0)
    if Path(first.upkeep.status().folder).exists():
        assert first.upkeep.status().folder.casefold() != second.upkeep.status().folder.casefold()


@pytest.mark.parametrize(
    "name", ["CON", "nul", "aux.json", "COM1 ", "proj.", "proj ", "a" * 200, "x:y", "console", "試験"]
)
def test_every_visible_name_works(open_bank: OpenBank, bank_root: Path | str, name: str) -> None:
    open_bank(project=name).record(**LESSON)

    assert BankRoot(bank_root, tenant="acme").projects() == [unicodedata.normalize("NFC", name)]


def test_a_name_in_either_unicode_form_is_one_project(open_bank: OpenBank) -> None:
    composed, decomposed = (unicodedata.normalize(form, "naïve-bot") for form in ("NFC", "NFD"))
    open_bank(project=composed).record(**(LESSON | {"tags": [decomposed]}))

    found = open_bank(project=decomposed)
    assert found.list(tags=[composed]).memories[0].tags == (composed,)
    assert found.search(ASKED, tags=[decomposed]).hits


@pytest.mark.parametrize("name", ["a\u200bb", "a\u202eb", "a\x00b", "a\nb", "a" * 201])
def test_names_that_cannot_be_seen_or_are_too_long_are_refused(open_bank: OpenBank, name: str) -> None:
    with pytest.raises(InvalidNameError):
        open_bank(project=name)
    with pytest.raises(InvalidNameError):
        open_bank(tenant=name)


@pytest.mark.parametrize("scope", [{"tenant": None}, {"project": None}, {"tenant": ""}, {"project": "  "}])
def test_without_a_tenant_and_a_project_there_is_no_bank(open_bank: OpenBank, scope: dict[str, Any]) -> None:
    with pytest.raises(ScopeError, match="there is no default"):
        open_bank(**scope)


def test_a_scope_that_is_left_out_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        ReasoningBank(tmp_path, project="p")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        ReasoningBank(tmp_path, tenant="t")  # type: ignore[call-arg]


def test_reading_many_unknown_projects_leaves_no_ghosts(open_bank: OpenBank, bank_root: Path | str) -> None:
    for i in range(50):
        bank = open_bank(project=f"never seen {i}")
        bank.search("anything")
        with pytest.raises(NotFoundError):
            bank.get("x")
        with pytest.raises(NotFoundError):
            bank.vote("x", True)

    assert BankRoot(bank_root, tenant="acme").projects() == []
    assert not (isinstance(bank_root, Path) and bank_root.exists())


@pytest.mark.folder_only
def test_a_link_that_leads_out_of_the_root_is_refused(open_bank: OpenBank, tmp_path: Path) -> None:
    outside = open_bank(root=tmp_path / "outside")
    outside.record(**LESSON)
    inside = open_bank()
    folder = Path(inside.upkeep.status().folder)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(Path(outside.upkeep.status().folder))

    with pytest.raises(ScopeError, match="symbolic link that leads out"):
        open_bank().search(ASKED)
    with pytest.raises(ScopeError, match="symbolic link"):
        BankRoot(tmp_path / "root", tenant="acme").delete_project("billing")
    assert outside.count() == 1


@pytest.mark.folder_only
def test_a_folder_moved_to_another_name_is_refused(open_bank: OpenBank) -> None:
    bank, other = open_bank(), open_bank(project="other")
    bank.record(**LESSON)
    folder, target = Path(bank.upkeep.status().folder), Path(other.upkeep.status().folder)
    bank.close()
    folder.rename(target)

    with pytest.raises(ScopeError, match="belongs to project 'billing'"):
        other.search(ASKED)


def test_deleting_a_project_takes_exactly_that_one(open_bank: OpenBank, bank_root: Path | str) -> None:
    for tenant in ("acme", "globex"):
        for project in ("one", "two"):
            open_bank(tenant=tenant, project=project).record(**LESSON)
    root = BankRoot(bank_root, tenant="acme")
    root.delete_project("one")

    assert root.projects() == ["two"]
    assert BankRoot(bank_root, tenant="globex").projects() == ["one", "two"]
    with pytest.raises(ProjectNotFoundError):
        root.delete_project("one")
    with pytest.raises(ReasoningBankError):
        root.delete_project("../two")


# -- every call, across scopes ---------------------------------------------------------------------------------------

# How each public method is called with the id of a memory, an episode or a job that belongs to somebody else.
CALLS: dict[str, Callable[[ReasoningBank, dict[str, str]], Any]] = {
    "delete": lambda bank, ids: bank.delete(ids["memory"]),
    "evidence": lambda bank, ids: bank.evidence(ids["memory"]),
    "get": lambda bank, ids: bank.get(ids["memory"]),
    "report": lambda bank, ids: bank.report("success", ref=ids["episode"]),
    "report_act": lambda bank, ids: bank.report_act(ids["episode"], command="git push"),
    "resolve": lambda bank, ids: [bank.resolve(ids["memory"]), bank.resolve(ids["episode"], "run")],
    "revisions": lambda bank, ids: bank.revisions(ids["memory"]),
    "supersede": lambda bank, ids: bank.supersede(ids["memory"], bank.list().memories[0].id, reason="mine is better"),
    "update": lambda bank, ids: bank.update(ids["memory"], title="Taken over"),
    "vote": lambda bank, ids: bank.vote(ids["memory"], True),
    "graph.add_edge": lambda bank, ids: bank.graph.add_edge(ids["node"], _own_node(bank), "leads on", weight=0.5),
    "graph.add_node": lambda bank, ids: bank.graph.add_node("Event", "away", reasoning_pointer_ids=[ids["memory"]]),
    "graph.approve_node": lambda bank, ids: bank.graph.approve_node(ids["node"]),
    "graph.delete_edge": lambda bank, ids: bank.graph.delete_edge(ids["edge"]),
    "graph.delete_node": lambda bank, ids: bank.graph.delete_node(ids["node"]),
    "graph.edges_among": lambda bank, ids: bank.graph.edges_among([ids["node"]]),
    "graph.edges_of": lambda bank, ids: bank.graph.edges_of(ids["node"]),
    "graph.get_node": lambda bank, ids: bank.graph.get_node(ids["node"]),
    "graph.nodes_of": lambda bank, ids: bank.graph.nodes_of(ids["memory"]),
    "links.add": lambda bank, ids: bank.links.add(ids["memory"], bank.list().memories[0].id, "causes"),
    "links.of": lambda bank, ids: bank.links.of(ids["memory"]),
    "links.remove": lambda bank, ids: bank.links.remove(bank.list().memories[0].id, ids["memory"]),
    "queue.get": lambda bank, ids: bank.queue.get(ids["job"]),
    "queue.put_anti_pattern": lambda bank, ids: bank.queue.put_anti_pattern(ids["memory"], "it misled"),
    "queue.retry": lambda bank, ids: bank.queue.retry(ids["job"]),
    "runs.add_steps": lambda bank, ids: bank.runs.add_steps(ids["episode"], ["an act"]),
    "runs.get": lambda bank, ids: bank.runs.get(ids["episode"]),
    "runs.lessons": lambda bank, ids: bank.runs.lessons(ids["episode"]),
    "runs.of": lambda bank, ids: bank.runs.of(ids["memory"]),
    "runs.take_back": lambda bank, ids: bank.runs.take_back(ids["episode"]),
    "runs.trajectory": lambda bank, ids: bank.runs.trajectory(ids["episode"]),
    "sharing.approve": lambda bank, ids: bank.sharing.approve(ids["memory"]),
    "sharing.check": lambda bank, ids: bank.sharing.check(ids["memory"]),
    "sharing.correct": lambda bank, ids: bank.sharing.correct(ids["memory"]),
    "sharing.demote": lambda bank, ids: bank.sharing.demote(ids["memory"]),
    "sharing.links": lambda bank, ids: bank.sharing.links(ids["memory"]),
    "sharing.promote": lambda bank, ids: bank.sharing.promote(ids["memory"], to="org"),
    "upkeep.approve": lambda bank, ids: bank.upkeep.approve(ids["memory"]),
    "upkeep.archive": lambda bank, ids: bank.upkeep.archive(ids["memory"]),
    "upkeep.delete_many": lambda bank, ids: bank.upkeep.delete_many([ids["memory"]]),
    "upkeep.pin": lambda bank, ids: bank.upkeep.pin(ids["memory"]),
    "upkeep.restore": lambda bank, ids: bank.upkeep.restore(ids["memory"]),
    "upkeep.merge": lambda bank, ids: bank.upkeep.merge([bank.list().memories[0].id, ids["memory"]]),
    "upkeep.undo_merge": lambda bank, ids: bank.upkeep.undo_merge(ids["memory"]),
    "upkeep.unpin": lambda bank, ids: bank.upkeep.unpin(ids["memory"]),
}
# What takes no such id, and so only ever sees its own project.
OWN_ONLY = {
    *(
        "close",
        "count",
        "distill",
        "episode",
        "lift",
        "list",
        "now",
        "recall",
        "recall_failure",
        "recommend",
        "record",
        "record_many",
    ),
    *("now", "search"),
    *("exchange.export_to", "exchange.import_from", "links.suggest", "sources.block", "sources.unblock"),
    *("sources.erase", "sources.forget", "sources.list", "sources.overview", "sources.trust", "upkeep.review"),
    *("replication.blocks", "replication.capture", "replication.have", "replication.refuse", "replication.status"),
    *("replication.ends", "replication.heard", "replication.take"),
    *("graph.export_to", "graph.import_from", "graph.list_nodes", "graph.recall_paths", "graph.search"),
    *("queue.list", "queue.put", "queue.worker", "runs.best_of", "runs.distill_many", "runs.list"),
    *("runs.note_read", "runs.was_read", "with_shared"),
    *("sharing.review", "sharing.status", "sharing.suggest_promotions"),
    *(
        "upkeep.backup",
        "upkeep.consolidate",
        "upkeep.doctor",
        "upkeep.maintain",
        "upkeep.metrics",
        "upkeep.pins",
        "upkeep.prune",
    ),
    *("upkeep.rebuild", "upkeep.reembed", "upkeep.restore_backup", "upkeep.salvage"),
    *("upkeep.standings", "upkeep.status", "upkeep.warm"),
}


def _own_node(bank: ReasoningBank) -> str:
    return bank.graph.add_node("Event", "Mine", node_id="mine").node.id


def outcome(call: Callable[[ReasoningBank, dict[str, str]], Any], bank: ReasoningBank, ids: dict[str, str]) -> str:
    """What a call gives or raises, with the ids made alike."""
    try:
        text = repr(call(bank, ids))
    except ReasoningBankError as error:
        text = f"{type(error).__name__}: {error}"
    for name in ids.values():
        text = text.replace(name, "ID")
    return text


def methods(of: type, path: str = "") -> set[str]:
    return {path + name for name, value in inspect.getmembers(of, callable) if not name.startswith("_")}


def test_every_public_method_is_known_to_this_test(bank: ReasoningBank) -> None:
    every = methods(ReasoningBank).union(*(methods(type(getattr(bank, part)), f"{part}.") for part in PARTS))

    assert every == OWN_ONLY | set(CALLS)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("scope", [{"project": "other"}, {"tenant": "globex"}], ids=str)
def test_an_id_of_another_scope_answers_exactly_as_one_that_does_not_exist(
    open_bank: OpenBank, name: str, scope: dict[str, str]
) -> None:
    owner = open_bank()
    memory = owner.record(**LESSON).memory
    theirs = {
        "memory": memory.id,
        "episode": owner.recall(ASKED).ref,
        "job": owner.queue.put({"task": "t", "steps": [{"action": "a"}]}, True).id,
        "node": owner.graph.add_node("Event", "It rained", reasoning_pointer_ids=[memory.id]).node.id,
    }
    other = owner.graph.add_node("Event", "It was wet").node.id
    theirs |= {
        "edge": owner.graph.add_edge(theirs["node"], other, "explains", weight=0.9).edge.id,
    }
    nobodys = {kind: f"00000000-0000-4000-8000-00000000000{i}" for i, kind in enumerate(theirs)}
    stranger = open_bank(**scope)
    stranger.record(**(LESSON | {"title": "Mine", "content": "My own lesson about something else"}))
    call = CALLS[name]
    before = owner.get(memory.id)

    assert outcome(call, stranger, theirs) == outcome(call, stranger, nobodys)
    assert owner.get(memory.id) == before
    assert [edge.id for edge in owner.graph.edges_of(theirs["node"])] == [theirs["edge"]]
    assert not stranger.graph.search("it rained").hits
    assert not stranger.graph.recall_paths("it rained").paths
    assert owner.runs.get(theirs["episode"]).is_open

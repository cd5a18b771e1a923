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

LESSON: dict[str, Any] = {"title": "Quote paths", "content": "Put paths in quotes", "outcome": "failure"}
ASKED = "put paths in quotes"


@pytest.mark.parametrize("name", ["%", "_", "*", "a?c", "[a-z]*", ".*", "\\", "a%", "abc*", "~", "..", "."])
def test_signs_of_patterns_in_a_name_are_only_signs(open_bank: OpenBank, tmp_path: Path, name: str) -> None:
    kept = open_bank(project="abc")
    kept.record(**LESSON)
    odd = open_bank(project=name)

    assert odd.search(ASKED).hits == ()
    odd.record(**(LESSON | {"title": "Another"}))
    root = BankRoot(tmp_path / "root", tenant="acme", embedder="hash")
    assert sorted(root.projects()) == sorted(["abc", name])
    root.delete_project(name)

    assert root.projects() == ["abc"]
    assert kept.count() == 1


@pytest.mark.parametrize("glue", [":", "/", "__", ".", "-", "\\", "|"])
def test_names_that_hold_a_separator_do_not_run_together(open_bank: OpenBank, glue: str) -> None:
    one = open_bank(tenant=f"x{glue}y", project="z")
    other = open_bank(tenant="x", project=f"y{glue}z")
    one.record(**LESSON)

    assert other.count() == 0
    assert one.status().folder != other.status().folder


@pytest.mark.parametrize(("one", "other"), [("Atlas", "atlas"), ("straße", "strasse"), ("a b", "a-b")])
def test_names_that_differ_in_case_or_spelling_are_two_projects_everywhere(
    open_bank: OpenBank, one: str, other: str
) -> None:
    first, second = open_bank(project=one), open_bank(project=other)
    first.record(**LESSON)

    assert second.count() == 0
    assert first.status().folder.casefold() != second.status().folder.casefold()


@pytest.mark.parametrize(
    "name", ["CON", "nul", "aux.json", "COM1 ", "proj.", "proj ", "a" * 200, "x:y", "console", "試験"]
)
def test_every_visible_name_works(open_bank: OpenBank, tmp_path: Path, name: str) -> None:
    open_bank(project=name).record(**LESSON)

    assert BankRoot(tmp_path / "root", tenant="acme").projects() == [unicodedata.normalize("NFC", name)]


def test_a_name_in_either_unicode_form_is_one_project(open_bank: OpenBank) -> None:
    composed, decomposed = (unicodedata.normalize(form, "naïve-bot") for form in ("NFC", "NFD"))
    open_bank(project=composed).record(**(LESSON | {"tags": [decomposed]}))

    found = open_bank(project=decomposed)
    assert found.list(tag=composed).memories[0].tags == (composed,)
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


def test_reading_many_unknown_projects_leaves_no_ghosts(open_bank: OpenBank, tmp_path: Path) -> None:
    for i in range(50):
        bank = open_bank(project=f"never seen {i}")
        bank.search("anything")
        with pytest.raises(NotFoundError):
            bank.get("x")
        with pytest.raises(NotFoundError):
            bank.feedback("x", True)

    assert BankRoot(tmp_path / "root", tenant="acme").projects() == []
    assert not (tmp_path / "root").exists()


def test_a_link_that_leads_out_of_the_root_is_refused(open_bank: OpenBank, tmp_path: Path) -> None:
    outside = open_bank(root=tmp_path / "outside")
    outside.record(**LESSON)
    inside = open_bank()
    folder = Path(inside.status().folder)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(Path(outside.status().folder))

    with pytest.raises(ScopeError, match="symbolic link that leads out"):
        open_bank().search(ASKED)
    with pytest.raises(ScopeError, match="symbolic link"):
        BankRoot(tmp_path / "root", tenant="acme").delete_project("billing")
    assert outside.count() == 1


def test_a_folder_moved_to_another_name_is_refused(open_bank: OpenBank) -> None:
    bank, other = open_bank(), open_bank(project="other")
    bank.record(**LESSON)
    folder, target = Path(bank.status().folder), Path(other.status().folder)
    bank.close()
    folder.rename(target)

    with pytest.raises(ScopeError, match="belongs to project 'billing'"):
        other.search(ASKED)


def test_deleting_a_project_takes_exactly_that_one(open_bank: OpenBank, tmp_path: Path) -> None:
    for tenant in ("acme", "globex"):
        for project in ("one", "two"):
            open_bank(tenant=tenant, project=project).record(**LESSON)
    root = BankRoot(tmp_path / "root", tenant="acme")
    root.delete_project("one")

    assert root.projects() == ["two"]
    assert BankRoot(tmp_path / "root", tenant="globex").projects() == ["one", "two"]
    with pytest.raises(ProjectNotFoundError):
        root.delete_project("one")
    with pytest.raises(ReasoningBankError):
        root.delete_project("../two")


# -- every call, across scopes ---------------------------------------------------------------------------------------

# How each public method is called with the id of a memory, an episode or a job that belongs to somebody else; None
# for those that take no id and so only ever see their own project.
CALLS: dict[str, Callable[[ReasoningBank, dict[str, str]], Any] | None] = {
    "add_steps": lambda bank, ids: bank.add_steps(ids["episode"], ["an act"]),
    "add_edge": lambda bank, ids: bank.add_edge(ids["node"], _own_node(bank), "leads on", weight=0.5),
    "approve_node": lambda bank, ids: bank.approve_node(ids["node"]),
    "delete_edge": lambda bank, ids: bank.delete_edge(ids["edge"]),
    "delete_node": lambda bank, ids: bank.delete_node(ids["node"]),
    "edges_of": lambda bank, ids: bank.edges_of(ids["node"]),
    "get_node": lambda bank, ids: bank.get_node(ids["node"]),
    "link_nodes": lambda bank, ids: bank.link_nodes(ids["memory"]),
    "add_node": lambda bank, ids: bank.add_node("Event", "points away", reasoning_pointer_ids=[ids["memory"]]),
    "approve": lambda bank, ids: bank.approve(ids["memory"]),
    "archive": lambda bank, ids: bank.archive(ids["memory"]),
    "delete": lambda bank, ids: bank.delete(ids["memory"]),
    "delete_many": lambda bank, ids: bank.delete_many([ids["memory"]]),
    "enqueue_anti_pattern": lambda bank, ids: bank.enqueue_anti_pattern(ids["memory"], "it misled"),
    "feedback": lambda bank, ids: bank.feedback(ids["memory"], True),
    "get": lambda bank, ids: bank.get(ids["memory"]),
    "get_episode": lambda bank, ids: bank.get_episode(ids["episode"]),
    "job": lambda bank, ids: bank.job(ids["job"]),
    "link": lambda bank, ids: bank.link(ids["memory"], bank.list().memories[0].id, "causes"),
    "links": lambda bank, ids: bank.links(ids["memory"]),
    "report": lambda bank, ids: bank.report("success", ref=ids["episode"]),
    "report_memory": lambda bank, ids: bank.report_memory(ids["memory"], True),
    "report_stability": lambda bank, ids: bank.report_stability(ids["memory"], True),
    "restore": lambda bank, ids: bank.restore(ids["memory"]),
    "retry": lambda bank, ids: bank.retry(ids["job"]),
    "runs_of": lambda bank, ids: bank.runs_of(ids["memory"]),
    "trajectory": lambda bank, ids: bank.trajectory(ids["episode"]),
    "unlink": lambda bank, ids: bank.unlink(bank.list().memories[0].id, ids["memory"]),
    "undo_merge": lambda bank, ids: bank.undo_merge(ids["memory"]),
    "update": lambda bank, ids: bank.update(ids["memory"], title="Taken over"),
}
OWN_ONLY = {
    *("export_graph", "import_graph", "list_nodes", "recall_paths", "search_nodes"),
    *("backup", "close", "consolidate", "contrast", "count", "distill", "doctor", "enqueue", "episode", "export_to"),
    *("forget", "import_from", "jobs", "list", "list_episodes", "maintain", "metrics", "prune", "rebuild", "recall"),
    *("recall_within", "recommend", "record", "record_many", "reembed", "remember", "scale", "search", "status"),
    *("suggest_links", "warm", "worker"),
}


def _own_node(bank: ReasoningBank) -> str:
    return bank.add_node("Event", "Mine", node_id="mine").node.id


def outcome(call: Callable[[ReasoningBank, dict[str, str]], Any], bank: ReasoningBank, ids: dict[str, str]) -> str:
    """What a call gives or raises, with the ids made alike."""
    try:
        text = repr(call(bank, ids))
    except ReasoningBankError as error:
        text = f"{type(error).__name__}: {error}"
    for name in ids.values():
        text = text.replace(name, "ID")
    return text


def test_every_public_method_is_known_to_this_test() -> None:
    methods = {name for name, value in inspect.getmembers(ReasoningBank, callable) if not name.startswith("_")}

    assert methods - OWN_ONLY - set(CALLS) == set()
    assert set(CALLS) <= methods


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
        "job": owner.enqueue({"task": "t", "steps": [{"action": "a"}]}, True).id,
        "node": owner.add_node("Event", "It rained", reasoning_pointer_ids=[memory.id]).node.id,
    }
    other = owner.add_node("Event", "It was wet").node.id
    theirs |= {
        "edge": owner.add_edge(theirs["node"], other, "explains", weight=0.9).edge.id,
    }
    nobodys = {kind: f"00000000-0000-4000-8000-00000000000{i}" for i, kind in enumerate(theirs)}
    stranger = open_bank(**scope)
    stranger.record(**(LESSON | {"title": "Mine", "content": "My own lesson about something else"}))
    call = CALLS[name]
    assert call is not None
    before = owner.get(memory.id)

    assert outcome(call, stranger, theirs) == outcome(call, stranger, nobodys)
    assert owner.get(memory.id) == before
    assert [edge.id for edge in owner.edges_of(theirs["node"])] == [theirs["edge"]]
    assert not stranger.search_nodes("it rained").hits
    assert not stranger.recall_paths("it rained").paths
    assert owner.get_episode(theirs["episode"]).is_open

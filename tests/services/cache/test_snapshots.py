"""Snapshots of the index: read, followed, written when they pay, and never holding what was deleted."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.services.cache import snapshots, vectors
from reasoningbank.services.cache.snapshots import SnapshotWriter
from reasoningbank.storage.files import aside
from reasoningbank.vectors.faiss import FaissIndex
from reasoningbank.vectors.snapshot import head_of
from tests.conftest import OpenBank
from tests.processes import exit_code, in_child, start
from tests.services.cache.snapshot_bank import TOPICS, answers, closed, files, fill, found, path, record

pytestmark = pytest.mark.usefixtures("small_banks_have_snapshots", "written")


# -- reading and writing -------------------------------------------------------------------------------------------


def test_the_next_process_answers_the_same_without_building_the_index(open_bank: OpenBank, built: list[str]) -> None:
    first = open_bank()
    fill(first)
    before = answers(first)
    first.close()
    built.clear()

    assert answers(open_bank()) == before
    assert not built


def test_a_small_bank_has_no_snapshot(open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "FROM", 100)
    bank = open_bank()
    fill(bank)
    bank.search("promotions")
    bank.close()
    assert not files(bank)


def test_a_bank_whose_vectors_are_scanned_as_they_are_has_no_snapshot(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "FLAT", 100)
    bank = open_bank()
    fill(bank)
    bank.search("promotions")
    bank.close()
    assert not files(bank)


def test_what_was_written_since_is_followed(open_bank: OpenBank, built: list[str]) -> None:
    closed(open_bank)
    built.clear()
    writer = open_bank()
    writer.record("About promotions again", "Promotions come twice", outcome="success")
    assert "About promotions again" in found(open_bank(), "promotions")
    assert not built


def test_a_bank_that_is_never_closed_has_one_as_soon_as_its_index_was_built(
    open_bank: OpenBank, written: Callable[[], None]
) -> None:
    fill(open_bank())
    reader = open_bank()
    reader.search("promotions")
    assert not files(reader)
    written()
    assert files(reader) == {"vectors.index"}


def test_one_thread_at_a_time_writes_beside_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    writer, go_on, written = SnapshotWriter(), threading.Event(), list[str]()

    def keep(name: str) -> None:
        go_on.wait()
        written.append(name)

    writer.start(partial(keep, "first"))
    writer.start(partial(keep, "while the first is at it"))
    go_on.set()
    writer.wait()
    writer.start(partial(keep, "second"))
    writer.wait()
    assert written == ["first", "second"]
    assert in_child(writer.wait) == 0


def test_what_is_waited_for_may_ask_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    writer, waited_for, asked = SnapshotWriter(), threading.Event(), list[str]()
    join = threading.Thread.join

    def join_and_tell(thread: threading.Thread, timeout: float | None = None) -> None:
        waited_for.set()
        join(thread, timeout)

    def ask_again() -> None:
        waited_for.wait()
        writer.start(lambda: None)
        asked.append("again")

    monkeypatch.setattr(threading.Thread, "join", join_and_tell)
    writer.start(ask_again)
    writer.wait()
    assert asked == ["again"]


def test_near_the_end_of_a_process_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    def too_late(_: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr("threading.Thread.start", too_late)
    writer = SnapshotWriter()
    writer.start(lambda: None)
    writer.wait()


def test_a_bank_that_is_maintained_writes_one(open_bank: OpenBank) -> None:
    bank = open_bank()
    closed(open_bank)
    bank.search("promotions")
    path(bank).unlink()
    bank.upkeep.maintain()
    assert files(bank) == {"vectors.index"}


def test_one_that_is_hardly_behind_is_not_written_again(open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "BEHIND", 2)
    closed(open_bank)
    bank = open_bank()
    before = head_of(path(bank))
    bank.record("About one more", "And what to do", outcome="success")
    bank.search("promotions")
    bank.close()
    assert head_of(path(bank)) == before

    monkeypatch.setattr(snapshots, "BEHIND", 1_000)
    bank = open_bank()
    bank.search("promotions")
    bank.close()
    assert head_of(path(bank))["covered"] > before["covered"]


def test_one_far_behind_in_the_feed_is_written_again_though_no_vector_came(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = closed(open_bank)
    monkeypatch.setattr(snapshots, "CHANGES_BEHIND", 1)
    bank = open_bank()
    before = head_of(path(bank))["covered"]
    for memory_id in list(ids.values())[:3]:
        bank.vote(memory_id, True)
    bank.search("promotions")
    bank.close()
    assert head_of(path(bank))["covered"] > before


def test_nodes_have_a_snapshot_of_their_own(open_bank: OpenBank, built: list[str]) -> None:
    bank = open_bank()
    for topic in TOPICS:
        bank.graph.add_node("Event", f"It was about {topic}", node_id=topic)
    before = [hit.node.id for hit in bank.graph.search("about promotions").hits]
    bank.close()
    assert files(bank) == {"node_vectors.index"}
    built.clear()

    bank = open_bank()
    assert [hit.node.id for hit in bank.graph.search("about promotions").hits] == before
    assert not built


# -- deleting ------------------------------------------------------------------------------------------------------


def delete(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.delete(ids["caches"])


def rewrite(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.update(ids["caches"], content="Something else")


def reembed(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.upkeep.reembed("minilm")


def rebuild(bank: ReasoningBank, ids: dict[str, str]) -> None:
    bank.upkeep.rebuild()


@pytest.mark.parametrize("act", [delete, rewrite, reembed, rebuild])
def test_codes_of_what_is_gone_do_not_stay_on_the_disk(
    open_bank: OpenBank, act: Callable[[ReasoningBank, dict[str, str]], None]
) -> None:
    ids = closed(open_bank)
    bank = open_bank()
    left_by_a_killed_process = aside(path(bank), "new")
    shutil.copy(path(bank), left_by_a_killed_process)

    act(bank, ids)
    assert not files(bank)


def test_codes_of_a_deleted_or_rewritten_node_do_not_stay_on_the_disk(open_bank: OpenBank) -> None:
    acts: list[Callable[[ReasoningBank], object]] = [
        lambda bank: bank.graph.delete_node("caches"),
        lambda bank: bank.graph.add_node("Event", "Something else", node_id="quotas"),
    ]
    for act in acts:
        bank = open_bank()
        for topic in TOPICS:
            bank.graph.add_node("Event", f"It was about {topic}", node_id=topic)
        bank.graph.search("promotions")
        bank.close()
        assert files(bank) == {"node_vectors.index"}
        act(open_bank())
        assert not files(bank)


def test_a_snapshot_that_was_begun_before_a_deletion_is_not_put_into_place_after_it(open_bank: OpenBank) -> None:
    bank, other = open_bank(), open_bank()
    ids = fill(bank)
    bank.search("promotions")
    index, project = bank._engine.cache.vectors, bank._engine.project()
    filled = index._filled
    assert filled is not None
    assert isinstance(filled.index, FaissIndex)
    assert project is not None

    def deleted_meanwhile() -> bool:
        other.delete(ids["caches"])
        return True

    covered = filled.covered
    snapshots.save(project, index._stored, filled.index, filled, covered=covered, is_same=deleted_meanwhile)
    assert not files(bank)


def test_what_was_deleted_stays_deleted_whatever_a_snapshot_that_is_put_back_says(open_bank: OpenBank) -> None:
    ids = closed(open_bank)
    bank = open_bank()
    kept = path(bank).read_bytes()
    bank.delete(ids["caches"])
    path(bank).write_bytes(kept)
    assert "About caches" not in found(open_bank(), "caches")


# -- several at once -----------------------------------------------------------------------------------------------


def test_an_index_that_was_changed_while_it_was_written_is_not_put_into_place(open_bank: OpenBank) -> None:
    bank = open_bank()
    fill(bank)
    bank.search("promotions")
    index = bank._engine.cache.vectors
    coded = FaissIndex.coded

    def changed_meanwhile(codes: FaissIndex) -> Iterator[Any]:
        yield from coded(codes)
        record(bank, "About something new", "While the file is written")
        bank.search("new")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FaissIndex, "coded", changed_meanwhile)
        project = bank._engine.project()
        assert project is not None
        index.keep(project)
        assert not files(bank)
    bank.close()
    assert files(bank) == {"vectors.index"}


def test_one_process_writes_while_others_record_and_all_see_everything(open_bank: OpenBank) -> None:
    closed(open_bank)

    def record_and_close(name: str) -> None:
        with open_bank() as bank:
            for topic in TOPICS:
                bank.record(f"{topic} by {name}", f"What {name} says of {topic}", outcome="success")
                bank.search(topic)

    children = [start(partial(record_and_close, name)) for name in ("ada", "ben", "cleo")]
    assert [exit_code(child) for child in children] == [0, 0, 0]

    bank = open_bank()
    head = head_of(path(bank))
    anew = open_bank()
    path(anew).rename(path(anew).with_suffix(".aside"))
    built_anew = answers(anew)
    path(anew).with_suffix(".aside").rename(path(anew))
    assert answers(bank) == built_anew
    assert head["covered"] > 0


def test_a_child_goes_on_with_what_its_parent_read_and_neither_sees_the_other_s_rows(open_bank: OpenBank) -> None:
    closed(open_bank)
    bank = open_bank()
    before = found(bank, "promotions")

    def in_the_child() -> None:
        bank.record("About the child", "It has lessons of its own", outcome="success")
        assert "About the child" in found(bank, "child")
        assert found(bank, "promotions")[:1] == before[:1]

    assert in_child(in_the_child) == 0
    assert "About the child" in found(bank, "child")

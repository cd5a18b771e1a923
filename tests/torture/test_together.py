"""Several processes and threads on one bank: only documented errors, no signal lost or doubled."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from reasoningbank import BankRoot, EmbedderMismatchError, ReasoningBank, StorageError
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.signals import from_line
from tests.processes import exit_code, in_child, start
from tests.torture.life import EMBEDDERS, Known, check, lessons, live, open_bank, open_with_its_embedder, take_in


def all_at_once(*acts: Callable[[], object]) -> None:
    """Run acts in threads; raise what the first one that failed raised."""
    failures: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure


# -- processes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operations", [120, pytest.param(500, marks=[pytest.mark.exhaustive, pytest.mark.timeout(900)])]
)
def test_four_processes_lose_and_double_nothing(quick_folder: Path, operations: int) -> None:
    # Clocks that stay near each other: what one process said last is not rolled up by another at once.
    knowns = [Known(hours=(0,) * 12 + (1,)) for _ in range(4)]
    pipes = [os.pipe() for _ in knowns]
    children = [
        start(partial(live, quick_folder, known, name=f"w{i}", seed=i, pipe=pipes[i][1], operations=operations))
        for i, known in enumerate(knowns)
    ]
    said: list[bytes] = [b""] * 4

    def listen(i: int) -> None:
        os.close(pipes[i][1])
        with os.fdopen(pipes[i][0], "rb") as pipe:
            said[i] = pipe.read()

    all_at_once(*(partial(listen, i) for i in range(4)))
    assert [exit_code(child) for child in children] == [0] * 4
    for known, words in zip(knowns, said, strict=True):
        assert take_in(known, words) is None
    bank = open_with_its_embedder(quick_folder, knowns[0])
    check(bank, knowns)
    bank.close()


def test_long_records_of_four_processes_are_whole_and_in_order(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    memory = bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory.id
    log = Path(bank.upkeep.status().folder) / "signals"
    bank.close()

    def vote(name: int) -> None:
        mine = open_bank(quick_folder)
        for i in range(50):
            mine.vote(memory, True, ref=f"{name}-{i:03}", reason=f"{name}-{i} " + "x" * 20_000)
        mine.close()

    children = [start(partial(vote, name)) for name in range(4)]
    assert [exit_code(child) for child in children] == [0] * 4

    refs = [from_line(line).ref for path in sorted(log.iterdir()) for line in path.read_bytes().splitlines()]
    assert len(refs) == 200
    for name in range(4):
        assert [ref for ref in refs if ref.startswith(f"{name}-")] == [f"{name}-{i:03}" for i in range(50)]


def test_a_process_sees_what_another_did_at_its_next_call(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(3), ids=["a", "b", "c"])
    assert bank.search("lesson 1", min_confidence=0.0).hits

    def other() -> None:
        mine = open_bank(quick_folder)
        mine.record_many(lessons(1, "visitor"), ids=["x"])
        mine.delete("b")
        mine.close()

    assert in_child(other) == 0
    assert [hit.memory.id for hit in bank.search("visitor 0", limit=1, min_confidence=0.0).hits] == ["x"]
    assert "b" not in {hit.memory.id for hit in bank.search("lesson 1", min_confidence=0.0).hits}


def test_two_processes_that_roll_up_at_once_change_no_confidence(quick_folder: Path) -> None:
    known = Known()
    bank = open_bank(quick_folder, known)
    bank.record_many(lessons(4), ids=["a", "b", "c", "d"])
    for day in range(30):
        known.now = known.now.replace(day=1 + day % 28, month=3 + day // 28)
        for memory in "abcd":
            bank.vote(memory, (day + ord(memory)) % 3 > 0, ref=f"day {day}")
    before = {memory.id: memory.confidence for memory in bank.list().memories}
    bank.close()

    def roll_up() -> None:
        mine = open_bank(quick_folder, known)
        mine.upkeep.maintain()
        mine.upkeep.maintain()
        mine.close()

    children = [start(roll_up) for _ in range(4)]
    assert [exit_code(child) for child in children] == [0] * 4
    bank = open_bank(quick_folder, known)
    assert {memory.id: memory.confidence for memory in bank.list().memories} == before
    assert bank.upkeep.status().rolled_segments > 10
    bank.upkeep.rebuild()
    assert {memory.id: memory.confidence for memory in bank.list().memories} == before
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.close()


# -- threads -------------------------------------------------------------------------------------------------


def test_eight_threads_find_what_stays_while_another_records_and_deletes(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(50), ids=[f"m{i}" for i in range(50)])
    stop, gone = threading.Event(), set[str]()

    def search(thread: int) -> None:
        number = thread
        while not stop.is_set():
            known_gone = set(gone)
            number = (number + 7) % 50
            hits = bank.search(f"lesson {number}", limit=1, min_confidence=0.0).hits
            assert [hit.memory.id for hit in hits] == [f"m{number}"]
            shown = {hit.memory.id for hit in bank.search("visitor", limit=20, min_confidence=0.0).hits}
            assert not shown & known_gone

    def change() -> None:
        try:
            for i in range(120):
                bank.record_many(lessons(1, f"visitor {i}"), ids=[f"v{i}"])
                if i >= 5:
                    assert bank.delete(f"v{i - 5}")
                    gone.add(f"v{i - 5}")
        finally:
            stop.set()

    all_at_once(change, *(partial(search, thread) for thread in range(8)))
    assert bank.count() == 55
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.close()


def test_threads_of_one_handle_live_through_its_re_embedding_without_an_error(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(150), ids=[f"m{i}" for i in range(150)])
    stop = threading.Event()

    def search(thread: int) -> None:
        number = thread
        while not stop.is_set():
            number = (number + 7) % 150
            result = bank.search(f"lesson {number}", limit=1, min_confidence=0.0)
            assert [hit.memory.id for hit in result.hits] == [f"m{number}"]
            assert not result.degraded

    def record() -> None:
        for i in range(1_000_000):
            if stop.is_set():
                return
            bank.record_many(lessons(1, f"visitor {i}"), ids=[f"v{i}"])
            bank.update(f"v{i}", content=f"visitor {i} says something else")
            bank.vote(f"v{i}", True)

    def reembed() -> None:
        try:
            for dim in (96, 64, 128):
                bank.upkeep.reembed(EMBEDDERS.get(dim) or HashEmbedder(dim))
        finally:
            stop.set()

    all_at_once(reembed, record, *(partial(search, thread) for thread in range(3)))
    assert bank.upkeep.status().stored_embedder == bank.upkeep.status().embedder
    assert bank.upkeep.status().not_embedded == 0
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.close()


def test_a_bank_that_is_closed_while_threads_use_it_tells_them_so(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(20))
    ready = threading.Barrier(5)

    def search_on() -> None:
        while True:
            bank.search("lesson 3", min_confidence=0.0)

    def search() -> None:
        ready.wait()
        with pytest.raises(StorageError, match="was closed"):
            search_on()

    def close() -> None:
        ready.wait()
        time.sleep(0.05)
        bank.close()

    all_at_once(close, search, search, search, search)


# -- what others do to the bank ------------------------------------------------------------------------------


def test_a_reader_lives_through_a_re_embedding_and_a_deletion_by_others(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(80), ids=[f"m{i}" for i in range(80)])
    ready, seen = os.pipe(), os.pipe()

    def read() -> None:
        mine = open_bank(quick_folder)
        assert mine.search("lesson 3", limit=1, min_confidence=0.0).hits
        os.write(ready[1], b".")
        stages = []
        while True:
            try:
                hits = mine.search("lesson 3", limit=1, min_confidence=0.0).hits
                stage = "found" if [hit.memory.id for hit in hits] == ["m3"] else "wrong"
            except EmbedderMismatchError:
                stage = "mismatch"
            except StorageError:
                stage = "gone"
            if stage not in stages:
                stages.append(stage)
                os.write(seen[1], stage.encode() + b"\n")
            if stage == "gone":
                break

    child = start(read)
    os.read(ready[0], 1)
    bank.upkeep.reembed(EMBEDDERS[96])
    with os.fdopen(seen[0], "r") as stages:
        assert [stages.readline(), stages.readline()] == ["found\n", "mismatch\n"]
        bank.close()
        BankRoot(quick_folder, tenant="acme").delete_project("billing")
        assert stages.readline() == "gone\n"
    assert exit_code(child) == 0


def test_children_forked_after_a_search_search_and_record(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(10), ids=[f"m{i}" for i in range(10)])
    assert bank.search("lesson 3", min_confidence=0.0).hits

    def work(name: int) -> None:
        assert [hit.memory.id for hit in bank.search("lesson 3", limit=1, min_confidence=0.0).hits] == ["m3"]
        bank.record_many(lessons(1, f"child {name}"), ids=[f"c{name}"])
        bank.vote("m3", True, ref=f"child {name}")
        assert bank.recall("lesson 3", ref=f"run {name}", min_confidence=0.0).hits

    children = [start(partial(work, name)) for name in range(3)]
    bank.record_many(lessons(1, "parent"), ids=["p"])
    assert [exit_code(child) for child in children] == [0, 0, 0]
    assert bank.count() == 14
    assert bank.get("m3").usage_count == 3
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.close()


def test_a_fork_in_the_midst_of_other_threads_work_harms_neither(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(30), ids=[f"m{i}" for i in range(30)])
    stop, written = threading.Event(), list[str]()

    def record() -> None:
        while not stop.is_set():
            bank.record_many(lessons(1, f"thread {len(written)}"), ids=[f"t{len(written)}"])
            written.append(f"t{len(written)}")
            bank.search("lesson 3", min_confidence=0.0)

    def fork() -> None:
        try:
            for number in range(8):
                assert in_child(partial(use_once, bank, number)) == 0
        finally:
            stop.set()

    all_at_once(fork, record)
    assert bank.count() == 38 + len(written)
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.close()


def use_once(bank: ReasoningBank, number: int) -> None:
    assert [hit.memory.id for hit in bank.search("lesson 3", limit=1, min_confidence=0.0).hits] == ["m3"]
    bank.record_many(lessons(1, f"child {number}"), ids=[f"c{number}"])

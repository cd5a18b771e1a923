"""Deleted is gone: no byte of a bank's folder, and of no copy made afterwards, holds a word of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from tests.conftest import Clock, OpenBank

pytestmark = pytest.mark.folder_only

FIELDS = ("title", "content", "description", "when", "tag", "key", "value")


class Words:
    """Words that occur nowhere else, by what they stand for."""

    def __init__(self) -> None:
        self._made: dict[str, str] = {}

    def __call__(self, of: str) -> str:
        # A text index keeps of a word what it does not share with the one before it: their ends are unlike.
        return self._made.setdefault(of, f"w{len(self._made):02d}" + f"{hash_of(of):010d}"[::-1])

    def found_in(self, folder: Path, of: str) -> dict[str, set[str]]:
        """Return the words for what begins so that stand anywhere in the files of a folder, by file."""
        ends = {name: word[-9:].encode() for name, word in self._made.items() if name.startswith(of)}
        files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        found = {name: {of for of, end in ends.items() if end in held} for name, held in files.items()}
        return {name: those for name, those in found.items() if those}


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode()) % 9_999_999_967


@pytest.fixture
def words() -> Words:
    return Words()


def record(bank: ReasoningBank, words: Words, of: str, **more: object) -> str:
    """Record a lesson each of whose fields holds a word of its own; return its id."""
    word = {field: words(f"{of} {field}") for field in FIELDS}
    return bank.record(
        f"About {word['title']}",
        f"Do {word['content']}, and then go on. " + "What follows is long enough for several pages. " * 100,
        outcome="success",
        description=f"It is for {word['description']}",
        applies_when=f"When {word['when']} is there",
        tags=[word["tag"]],
        metadata={word["key"]: word["value"]},
        **more,  # type: ignore[arg-type]
    ).memory.id


def others(bank: ReasoningBank) -> None:
    bank.record_many(
        [
            {"title": f"Kept {n}", "content": f"This is lesson {n} of those kept", "outcome": "success"}
            for n in range(50)
        ]
    )


def delete(bank: ReasoningBank, memory_id: str) -> None:
    assert bank.delete(memory_id)


def delete_unmarked(bank: ReasoningBank, memory_id: str) -> None:
    assert bank.delete(memory_id, mark=False)


def delete_with_its_history(bank: ReasoningBank, memory_id: str) -> None:
    bank.update(memory_id, title="Another", content="Text", reason="it was wrong")
    assert bank.upkeep.delete_many([memory_id])[memory_id]


def delete_when_archived(bank: ReasoningBank, memory_id: str) -> None:
    bank.upkeep.archive(memory_id, reason="for now")
    assert bank.delete(memory_id)


def forget(bank: ReasoningBank, memory_id: str) -> None:
    assert memory_id in bank.sources.forget("visitor").memories


def delete_when_expired(bank: ReasoningBank, memory_id: str) -> None:
    bank.update(memory_id, ttl=0.001)
    time.sleep(0.01)
    assert bank.upkeep.maintain(now=datetime.now(UTC) + timedelta(days=1_000)).expired_memories == 1
    assert bank.delete(memory_id)


@pytest.mark.parametrize(
    "act",
    [delete, delete_unmarked, delete_with_its_history, delete_when_archived, delete_when_expired, forget],
    ids=lambda act: act.__name__,
)
def test_of_a_lesson_that_was_deleted_nothing_is_left(
    open_bank: OpenBank, bank_root: Path, tmp_path: Path, words: Words, act: Callable[[ReasoningBank, str], None]
) -> None:
    bank = open_bank()
    others(bank)
    gone = record(bank, words, "gone", source={"session": "visitor"})
    kept = record(bank, words, "kept")
    bank.links.add(kept, gone, "supports")
    bank.report("success", ref=bank.recall("go on with several pages").ref)
    assert words.found_in(bank_root, "gone")

    act(bank, gone)
    bank.upkeep.maintain()

    assert words.found_in(bank_root, "gone") == {}
    bank.upkeep.backup(tmp_path / "backup")
    bank.exchange.export_to(tmp_path / "backup" / "all.jsonl", state=None, expired=None, history=True)
    bank.close()
    assert words.found_in(bank_root, "gone") == {} == words.found_in(tmp_path / "backup", "gone")
    # The files were read as they are: what was not deleted is found.
    assert len(words.found_in(tmp_path / "backup", "kept")) == 2


def test_a_backup_right_after_a_deletion_holds_no_word_of_it(open_bank: OpenBank, tmp_path: Path, words: Words) -> None:
    bank = open_bank()
    others(bank)
    gone, _ = record(bank, words, "gone"), record(bank, words, "kept")

    bank.delete(gone)
    bank.upkeep.backup(tmp_path / "backup")

    assert words.found_in(tmp_path / "backup", "gone") == {}
    assert words.found_in(tmp_path / "backup", "kept")


def test_of_steps_that_were_kept_too_long_nothing_is_left(
    open_bank: OpenBank, bank_root: Path, clock: Clock, words: Words
) -> None:
    bank = open_bank(settings={"keep_trajectories": True, "trajectory_days": 1})
    others(bank)
    with bank.episode("go on with lessons") as run:
        for n in range(60):
            run.step(action=f"open {words(f'gone act {n}')}", result=f"saw {words(f'gone answer {n}')} " * 40)
        run.worked()
    assert words.found_in(bank_root, "gone")

    clock.move(days=3)
    assert bank.upkeep.maintain().forgotten_trajectories == 1

    assert words.found_in(bank_root, "gone") == {}


def test_of_a_node_that_was_deleted_nothing_is_left(open_bank: OpenBank, bank_root: Path, words: Words) -> None:
    bank = open_bank()
    others(bank)
    node = bank.graph.add_node("Event", f"It is about {words('gone text')}").node
    assert words.found_in(bank_root, "gone")

    bank.graph.delete_node(node.id)
    bank.upkeep.maintain()

    assert words.found_in(bank_root, "gone") == {}


def test_a_secret_is_in_no_file_at_any_time(open_bank: OpenBank, bank_root: Path, words: Words) -> None:
    bank = open_bank(settings={"keep_trajectories": True})
    secret = f"password={words('gone secret')}"
    lesson = bank.record(f"Log in with {secret}", f"Use {secret}", outcome="success", metadata={"a": secret}).memory
    bank.update(lesson.id, content=f"Use {secret} again", reason=f"since {secret} is right")
    with bank.episode(f"log in with {secret}") as run:
        run.step(action=f"login {secret}", result=f"{secret} was taken")
        run.report("failure", reason=f"{secret} was refused")
    bank.queue.put(run.trajectory, "failure")

    assert words.found_in(bank_root, "gone") == {}


def test_of_a_deleted_project_there_is_no_file(open_bank: OpenBank, bank_root: Path, words: Words) -> None:
    from reasoningbank import BankRoot

    bank = open_bank()
    record(bank, words, "gone")
    bank.close()

    with BankRoot(bank_root, tenant="acme", embedder="hash") as root:
        root.delete_project("billing")

    assert words.found_in(bank_root, "gone") == {}


def test_of_many_that_were_deleted_nothing_is_left_and_the_others_are_found(
    open_bank: OpenBank, bank_root: Path, words: Words
) -> None:
    bank = open_bank()
    gone = [record(bank, words, f"gone {n}") for n in range(20)]
    kept = [record(bank, words, f"kept {n}") for n in range(5)]

    assert all(bank.upkeep.delete_many(gone).values())
    bank.upkeep.maintain()

    assert words.found_in(bank_root, "gone") == {}
    hits = bank.search(words("kept 3 content"), min_confidence=0.0).hits
    assert hits[0].memory.id == kept[3]
    assert bank.upkeep.doctor(dry_run=True) == []


def test_of_an_erased_run_neither_its_task_nor_its_reasons_are_left(
    open_bank: OpenBank, bank_root: Path, words: Words
) -> None:
    bank = open_bank(settings={"keep_trajectories": True})
    record(bank, words, "kept")
    with bank.episode(f"go on with {words('gone task')}", ref="run-7") as run:
        run.step(action=f"open {words('gone act')}", result="done")
        run.report("failure", reason=f"since {words('gone reason')} was there")
    bank.report("success", ref="run-7", reason=f"after all, {words('gone second reason')} was right")
    assert words.found_in(bank_root, "gone")

    bank.sources.erase("run-7", dry_run=False)
    bank.upkeep.maintain()

    assert words.found_in(bank_root, "gone") == {}

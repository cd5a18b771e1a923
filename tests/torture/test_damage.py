"""A log and files that were damaged, moved or put back by hand: what counts, what is said, what the doctor does."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import ReasoningBank, StorageError
from reasoningbank.storage.project import DATABASE_NAME, SIGNALS_NAME
from reasoningbank.storage.root import project_folder
from tests.torture.life import BEGIN, Known, lessons, open_bank

BOM = b"\xef\xbb\xbf"


def newest(bank: ReasoningBank) -> Path:
    return max((Path(bank.upkeep.status().folder) / SIGNALS_NAME).glob("*.jsonl"))


def voted(bank: ReasoningBank, votes: int = 1) -> str:
    memory = bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory.id
    for number in range(votes):
        bank.vote(memory, True, ref=f"vote {number}")
    return memory


def votes_counted(bank: ReasoningBank) -> int:
    with bank._engine.read() as view:
        found: int = view.execute("SELECT count(*) FROM evidence WHERE kind = 'explicit'").fetchone()[0]
    return found


# What stands in the log after one good line; how many signals of it count, how many lines cannot be read.
DAMAGES: dict[str, tuple[Any, int, int]] = {
    "a byte order mark": (lambda line: BOM + line(1) + b"\n", 1, 0),
    "a byte order mark amid": (lambda line: line(1) + b"\n" + BOM + line(2) + b"\n", 2, 0),
    "carriage returns": (lambda line: line(1) + b"\r\n" + line(2) + b"\r\n", 2, 0),
    "separators that only look like line ends": (lambda line: line(1, reason="a\u2028b\x85c\x0bd") + b"\n", 1, 0),
    "the same, not escaped": (
        lambda line: line(1).replace(b'"explicit"', b'"explicit","x":"\xe2\x80\xa8"') + b"\n",
        1,
        0,
    ),
    "an unknown kind": (lambda line: line(1, kind="quantum") + b"\n" + line(2) + b"\n", 1, 1),
    "a bad type": (lambda line: line(1, at=7) + b"\n" + line(2, polarity="1") + b"\n" + line(3) + b"\n", 1, 2),
    "no time": (lambda line: line(1, at="yesterday") + b"\n", 0, 1),
    "no object": (lambda line: b'[1,2]\nnull\n"str"\n7\n' + line(1) + b"\n", 1, 4),
    "garbage": (lambda line: b"\x00\xff garbage\n" + line(1) + b"\n", 1, 1),
    "blank lines": (lambda line: b"\n\n" + line(1) + b"\n\n", 1, 0),
    "two on one line": (lambda line: line(1) + line(2) + b"\n" + line(3) + b"\n", 1, 1),
    "a torn line before a good one": (lambda line: line(1)[:40] + b"\n" + line(2) + b"\n", 1, 1),
    "a torn line before a blank one": (lambda line: line(1)[:40] + b"\n\n", 0, 1),
    "a torn tail": (lambda line: line(1) + b"\n" + line(2)[:40], 1, 0),
    "a tail without an end": (lambda line: line(1) + b"\n" + line(2), 2, 0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_stands_in_the_log_good_lines_count_and_bad_ones_are_shown(quick_folder: Path, damage: str) -> None:
    bank = open_bank(quick_folder)
    voted(bank)
    first = json.loads(newest(bank).read_bytes())

    def line(number: int, **changes: Any) -> bytes:
        text = json.dumps(first | {"id": f"by hand {number}", "ref": f"by hand {number}"} | changes, ensure_ascii=True)
        return text.encode()

    made, counted, unreadable = DAMAGES[damage]
    with newest(bank).open("ab") as log:
        log.write(made(line))
    before = newest(bank).read_bytes()

    assert "not counted yet" in bank.upkeep.doctor(dry_run=True)[0].what
    assert bank.upkeep.doctor(dry_run=True)[0].remedy == "count them"
    assert (newest(bank).read_bytes(), votes_counted(bank)) == (before, 1)

    bank.upkeep.doctor()
    assert (votes_counted(bank), bank.upkeep.status().unreadable_lines) == (1 + counted, unreadable)
    bank.vote(bank.list().memories[0].id, False, ref="after it")
    bank.upkeep.rebuild()

    assert (votes_counted(bank), bank.upkeep.status().unreadable_lines) == (2 + counted, unreadable)
    assert bool(unreadable) == any("cannot be read" in problem for problem in bank.upkeep.status().problems)
    assert {bool("cannot be read" in r.what or "cut off" in r.what) for r in bank.upkeep.doctor(dry_run=True)} <= {True}
    assert newest(bank).read_bytes().endswith(b"\n")


def test_a_segment_that_is_put_back_is_shown_and_removed_and_counts_nothing(quick_folder: Path) -> None:
    known = Known()
    bank = open_bank(quick_folder, known)
    memory = voted(bank, 3)
    segment, lines = newest(bank), newest(bank).read_bytes()
    known.now += timedelta(days=30)
    bank.vote(memory, True, ref="later")
    bank.upkeep.maintain()
    before = bank.get(memory).confidence
    segment.write_bytes(lines)

    assert bank.upkeep.status().stray_segments == (segment.name,)
    assert segment.name in bank.upkeep.doctor(dry_run=True)[0].what
    assert bank.upkeep.doctor(dry_run=True)[0].remedy == "remove the files"
    assert segment.exists()
    bank.upkeep.doctor()

    assert not segment.exists()
    assert bank.get(memory).confidence == before
    assert bank.upkeep.doctor(dry_run=True) == []


def test_lines_about_a_memory_that_is_gone_are_shown_and_are_no_defect(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    memory = voted(bank, 3)
    bank.delete(memory)
    bank.upkeep.rebuild()

    assert bank.upkeep.status().orphan_lines == 3
    assert bank.upkeep.status().unreadable_lines == 0
    assert bank.upkeep.doctor(dry_run=True) == []


# -- what the database knows is the better witness -----------------------------------------------------------------


def zeroed(log: bytes) -> bytes:
    return log[:200] + bytes(700) + log[900:]


HARMS: dict[str, Any] = {
    "a value that means nothing": lambda log: log.replace(b'"polarity":1', b'"polarity":7'),
    "a value that means the opposite": lambda log: log.replace(b'"polarity":1', b'"polarity":-1'),
    "a block of zeros": zeroed,
    "everything": lambda log: bytes(len(log)),
    "nothing left": lambda log: b"",
    "the first half left": lambda log: log[: len(log) // 2],
}
MENDERS: dict[str, Any] = {
    "doctor": lambda bank: bank.upkeep.doctor(),
    "rebuild": lambda bank: bank.upkeep.rebuild(),
}


@pytest.mark.parametrize("mender", MENDERS)
@pytest.mark.parametrize("harm", HARMS)
def test_a_log_that_was_damaged_lowers_nothing_and_is_seen_before_anyone_repairs(
    quick_folder: Path, harm: str, mender: str
) -> None:
    bank = open_bank(quick_folder)
    memory = voted(bank, 20)
    other = bank.record("Quote globs", "Never.", outcome="failure").memory.id
    ref = bank.recall("quote globs", min_confidence=0.0).ref
    bank.report("failure", ref=ref, reason="the glob was quoted")
    before = [bank.get(one).confidence for one in (memory, other)]
    damaged = HARMS[harm](newest(bank).read_bytes())
    newest(bank).write_bytes(damaged)

    assert any(newest(bank).name in problem and "doctor" in problem for problem in bank.upkeep.status().problems)
    assert newest(bank).read_bytes() == damaged
    MENDERS[mender](bank)

    assert [bank.get(one).confidence for one in (memory, other)] == before
    assert bank.runs.get(ref).verdict == "failure"
    assert bank.upkeep.status().problems == ()
    assert {"kept in" in repair.what for repair in bank.upkeep.doctor(dry_run=True)} <= {True}
    kept_aside = [path.read_bytes() for path in newest(bank).parent.glob("*.damaged")]
    assert kept_aside == ([] if "left" in harm else [damaged])
    bank.vote(memory, True, ref="after it")
    assert bank.get(memory).confidence > before[0]


@pytest.mark.parametrize("left", ["an older copy", "nothing"])
@pytest.mark.parametrize("next_call", ["doctor", "rebuild", "maintain", "vote"])
def test_a_log_of_many_days_that_is_lost_or_older_is_written_again(
    quick_folder: Path, left: str, next_call: str
) -> None:
    known = Known()
    bank = open_bank(quick_folder, known)
    memory = voted(bank)
    signals = newest(bank).parent
    for day in range(12):
        if day == 6:
            shutil.copytree(signals, quick_folder / "copy")
        known.now += timedelta(days=1)
        bank.vote(memory, True, ref=f"day {day}")
    before = bank.get(memory).confidence
    shutil.rmtree(signals)
    if left == "an older copy":
        shutil.copytree(quick_folder / "copy", signals)

    assert any("doctor" in problem for problem in bank.upkeep.status().problems)
    calls: dict[str, Any] = MENDERS | {
        "maintain": lambda bank: bank.upkeep.maintain(),
        "vote": lambda bank: bank.vote(memory, True, ref="day 0"),
    }
    calls[next_call](bank)

    status = bank.upkeep.status()
    assert votes_counted(bank) + status.rolled_segments == 13, "each day has one vote and one segment"
    assert bank.get(memory).confidence == before
    bank.upkeep.doctor()
    assert (bank.get(memory).confidence, bank.upkeep.status().problems) == (before, ())
    assert len(list(signals.glob("*.jsonl"))) == status.log_segments


def test_what_an_older_version_counted_is_not_checked_until_it_is_folded_again(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    voted(bank, 3)
    with bank._engine.write() as edit:
        edit.execute("UPDATE log_positions SET checksum = NULL")
    assert bank.upkeep.status().problems == ()
    bank.upkeep.rebuild()
    newest(bank).write_bytes(newest(bank).read_bytes().replace(b'"polarity":1', b'"polarity":7'))

    assert len(bank.upkeep.status().problems) == 1


# -- files of another time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("older", ["database", "log"])
def test_an_older_copy_of_half_the_files_leaves_no_ghost_and_loses_no_other(quick_folder: Path, older: str) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(3), ids=["a", "b", "c"])
    bank.vote("a", True, ref="early")
    bank.close()
    folder = project_folder(quick_folder, "acme", "billing")
    shutil.copytree(folder, quick_folder / "copy")
    bank = open_bank(quick_folder)
    bank.record_many(lessons(2, "late"), ids=["d", "e"])
    bank.delete("b")
    bank.vote("a", True, ref="late")
    bank.vote("d", True, ref="late")
    bank.close()
    if older == "database":
        shutil.copy(quick_folder / "copy" / DATABASE_NAME, folder / DATABASE_NAME)
    else:
        shutil.rmtree(folder / SIGNALS_NAME)
        shutil.copytree(quick_folder / "copy" / SIGNALS_NAME, folder / SIGNALS_NAME)

    bank = open_bank(quick_folder)
    bank.upkeep.doctor()
    bank.upkeep.maintain()

    there = {"a", "b", "c"} if older == "database" else {"a", "c", "d", "e"}
    assert {memory.id for memory in bank.list().memories} == there
    found = bank.search("lesson 1 or late 1", 10, min_confidence=0.0).memories
    assert {memory.id for memory in found} <= there
    assert votes_counted(bank) == (2 if older == "database" else 3)
    assert bank.upkeep.status().orphan_lines == (1 if older == "database" else 0)
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.close()


def test_a_damaged_database_is_said_to_be_damaged_each_time_and_no_copies_pile_up(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    voted(bank)
    bank.close()
    folder = project_folder(quick_folder, "acme", "billing")
    (folder / DATABASE_NAME).write_bytes((folder / DATABASE_NAME).read_bytes()[:700])
    before = sorted(folder.rglob("*"))

    for _ in range(5):
        with pytest.raises(StorageError, match=f"{DATABASE_NAME}.*(?:damaged|restore a backup)"):
            open_bank(quick_folder).search("quote paths")

    assert sorted(folder.rglob("*")) == before


# -- clocks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("year", [1, 1969, 9999])
def test_a_clock_that_is_wrong_by_centuries_breaks_nothing_and_is_forgiven(quick_folder: Path, year: int) -> None:
    known = Known()
    bank = open_bank(quick_folder, known)
    memory = voted(bank, 2)
    known.now = datetime(year, 12, 31, 23, 59, tzinfo=UTC) if year > 1 else datetime(1, 1, 1, tzinfo=UTC)
    ref = bank.recall("quote paths", min_confidence=0.0).ref
    bank.report("success", ref=ref)
    bank.vote(memory, True, ref="with a wrong clock")
    bank.search("quote paths", policy="four_factor")
    bank.search("quote paths", policy="weighted")
    bank.upkeep.maintain()
    known.now = BEGIN + timedelta(hours=1)
    bank.vote(memory, True, ref="with a right one")
    before = bank.get(memory)

    bank.upkeep.maintain()
    bank.upkeep.rebuild()

    assert bank.get(memory).confidence == before.confidence > 0.8
    assert bank.get(memory).usage_count == 1
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.close()

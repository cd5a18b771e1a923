"""What counts as evidence, what does not, and that it counts once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import BankRoot, Memory, ReasoningBank
from tests.conftest import Clock

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def lesson(bank: ReasoningBank, title: str, content: str = "", **options: Any) -> str:
    return bank.record(title, content or f"{title}.", **({"outcome": "success"} | options)).memory.id


def counted(bank: ReasoningBank) -> dict[str, tuple[int, float, datetime | None]]:
    return {m.id: (m.usage_count, m.confidence, m.last_used) for m in bank.list(state=None).memories}


def test_what_was_shown_often_does_not_stay_on_top(bank: ReasoningBank) -> None:
    often = lesson(bank, "quote paths with blanks")
    seldom = lesson(bank, "quote paths with stars")
    for number in range(200):
        bank.recall("quote paths with blanks", 1, ref=f"run {number}")

    assert bank.get(often).usage_count == 200
    assert bank.search("quote paths with stars", 1).memories[0].id == seldom


def test_being_shown_two_hundred_times_lifts_no_memory_over_one_with_five_successes(bank: ReasoningBank) -> None:
    shown = lesson(bank, "quote paths now")
    proven = lesson(bank, "quote paths then")
    for number in range(200):
        bank.recall("quote paths now", 1, ref=f"run {number}")
    for number in range(5):
        bank.vote(proven, True, ref=f"session {number}", kind="outcome")

    assert bank.get(shown).confidence < bank.get(proven).confidence
    assert bank.search("quote paths", 2).memories[0].id == proven


LOOKS: dict[str, Callable[[ReasoningBank, Memory, Path], object]] = {
    "search": lambda bank, memory, folder: bank.search(memory.title),
    "get": lambda bank, memory, folder: bank.get(memory.id),
    "list": lambda bank, memory, folder: bank.list(),
    "count": lambda bank, memory, folder: bank.count(),
    "status": lambda bank, memory, folder: bank.upkeep.status(),
    "export": lambda bank, memory, folder: bank.exchange.export_to(folder / "out.jsonl"),
    "backup": lambda bank, memory, folder: bank.upkeep.backup(folder / "copy"),
    "doctor": lambda bank, memory, folder: bank.upkeep.doctor(),
    "rebuild": lambda bank, memory, folder: bank.upkeep.rebuild(),
    "maintain": lambda bank, memory, folder: bank.upkeep.maintain(),
    "reembed": lambda bank, memory, folder: bank.upkeep.reembed(),
    "projects": lambda bank, memory, folder: BankRoot(bank.root, tenant="acme").projects(),
    "recording it again": lambda bank, memory, folder: bank.record(memory.title, memory.content, outcome="success"),
}


@pytest.mark.parametrize("look", LOOKS)
def test_looking_at_memories_and_looking_after_them_counts_for_nothing(
    bank: ReasoningBank, tmp_path: Path, look: str
) -> None:
    memory = bank.get(lesson(bank, "Quote paths", "Put paths in quotes."))
    lesson(bank, "Quote all paths", "Put all paths in quotes.")
    bank.report("success", ref=bank.recall("put paths in quotes").ref)
    before = counted(bank)

    LOOKS[look](bank, memory, tmp_path)

    assert counted(bank) == before
    assert bank.upkeep.status().open_episodes == 0


@pytest.mark.folder_only
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-03-01T10:00:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00:00+09:00", datetime(2026, 3, 1, 1, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
    ],
)
def test_times_with_and_without_a_zone_mix_and_mean_utc(bank: ReasoningBank, said: str, meant: datetime) -> None:
    line = {"format": "reasoningbank/1", "id": "m", "title": "Quote paths", "content": "Put paths in quotes."}
    bank.exchange.import_from([line | {"created_at": said, "updated_at": said}], trusted=True)
    bank.vote("m", True, ref="in the log")
    (segment,) = Path(bank.upkeep.status().folder, "signals").iterdir()
    signal = json.loads(segment.read_bytes())
    with segment.open("ab") as log:
        log.write(json.dumps(signal | {"id": "s", "ref": "by hand", "at": said}).encode() + b"\n")

    bank.upkeep.maintain()
    bank.recall("quote paths", policy="four_factor")

    assert bank.get("m").created_at == meant
    assert bank.get("m").created_at.tzinfo is UTC
    assert bank.upkeep.status().unreadable_lines == 0
    assert bank.upkeep.doctor(dry_run=True) == []


def test_a_clock_without_a_zone_is_read_as_utc(open_bank: Callable[..., ReasoningBank]) -> None:
    bank = open_bank(clock=lambda: NOON.replace(tzinfo=None))
    memory = bank.get(lesson(bank, "Quote paths"))
    bank.report("success", ref=bank.recall("quote paths").ref)

    assert memory.created_at == NOON
    assert bank.get(memory.id).last_used == NOON


def test_the_same_outcome_of_one_session_counts_once_and_says_so(bank: ReasoningBank) -> None:
    memory = lesson(bank, "Quote paths")
    told = [bank.vote(memory, True, ref="s1", kind="outcome") for _ in range(3)]

    assert [feedback.recorded for feedback in told] == [True, False, False]
    assert len({feedback.memory.confidence for feedback in told}) == 1
    assert bank.vote(memory, True, ref="s2", kind="outcome").recorded


def test_a_report_that_comes_three_times_counts_once_and_says_so(bank: ReasoningBank) -> None:
    lesson(bank, "Quote paths")
    ref = bank.recall("quote paths").ref

    assert [bank.report("success", ref=ref).recorded for _ in range(3)] == [True, False, False]


def test_of_two_lessons_that_contradict_each_other_the_one_with_the_better_evidence_comes_first(
    bank: ReasoningBank, clock: Clock
) -> None:
    old = lesson(bank, "Install dependencies", "Always use pip to install dependencies")
    clock.move(days=1)
    new = lesson(bank, "Install dependencies here", "Never use pip here: use uv to install dependencies")
    for number in range(6):
        bank.vote(old, False, ref=f"run {number}", kind="outcome")
        bank.vote(new, True, ref=f"run {number}", kind="outcome")

    assert [memory.id for memory in bank.search("install dependencies").memories][:1] == [new]
    assert bank.get(old).confidence < 0.7 < bank.get(new).confidence


@pytest.mark.folder_only
def test_a_reason_that_is_no_text_in_full_costs_no_signal(bank: ReasoningBank) -> None:
    memory = lesson(bank, "Quote paths")

    assert bank.vote(memory, True, reason="odd \udc81 byte", by="x\x00y\ud83d").recorded

    (segment,) = Path(bank.upkeep.status().folder, "signals").iterdir()
    signal = json.loads(segment.read_bytes().decode("utf-8", "strict"))
    assert (signal["reason"], signal["by"]) == ("odd \ufffd byte", "x\ufffdy\ufffd")
    assert bank.upkeep.status().unreadable_lines == 0


def test_a_report_that_must_not_revise_closes_what_is_open_and_leaves_what_is_closed(bank: ReasoningBank) -> None:
    lesson(bank, "Quote paths")
    closed, left_open = bank.recall("quote paths").ref, bank.recall("quote paths").ref
    bank.report("success", ref=closed)

    told = bank.report("unknown", ref=closed, revise=False)

    assert (told.recorded, told.episode.verdict) == (False, "success")
    assert bank.report("unknown", ref=left_open, revise=False).episode.verdict == "unknown"

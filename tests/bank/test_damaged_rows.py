"""One damaged row costs one row."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from reasoningbank import MemoryNotFoundError, ReasoningBank
from reasoningbank.errors import CorruptionError, EmbeddingError
from tests.conftest import OpenBank

DAMAGE = {
    "tags": "tags = '[\"half'",
    "metadata": "metadata = '{'",
    "findings": "findings = 'none'",
    "time": "created_at = 'yesterday'",
    "no time": "updated_at = ''",
    "outcome": "outcome = 'perhaps'",
    "expiry": "expires_at = 'never'",
    "a title of bytes": "title = x'ff00'",
    "revision": "revision = 'x'",
}


@pytest.fixture
def damaged(open_bank: OpenBank, request: pytest.FixtureRequest) -> tuple[ReasoningBank, str, str]:
    """A bank of two memories, one of them with a damaged row, and the ids of the whole and of the damaged one."""
    bank = open_bank()
    ids = [
        bank.record(f"Quote every path {n}", "Or the command breaks", outcome="success", tags=["shell"]).memory.id
        for n in range(2)
    ]
    bank.recall("quote every path", ref="before")
    where = Path(bank.upkeep.status().folder)
    bank.close()
    with sqlite3.connect(where / "bank.sqlite3") as database:
        database.execute(f"UPDATE memories SET {request.param} WHERE id = ?", (ids[1],))
    return open_bank(), ids[0], ids[1]


@pytest.mark.folder_only
@pytest.mark.parametrize("damaged", DAMAGE.values(), ids=DAMAGE, indirect=True)
def test_a_damaged_row_is_left_out_everywhere_and_named_by_doctor(
    damaged: tuple[ReasoningBank, str, str], tmp_path: Path
) -> None:
    bank, whole, lost = damaged

    assert [memory.id for memory in bank.search("quote every path").memories] == [whole]
    assert [memory.id for memory in bank.list().memories] == [whole]
    assert [memory.id for memory in bank.recall("quote every path").memories] == [whole]
    assert bank.exchange.export_to(tmp_path / "out.jsonl")
    assert lost not in (tmp_path / "out.jsonl").read_text("utf-8")
    bank.report("success", ref="before")
    bank.upkeep.maintain()
    bank.upkeep.rebuild()
    with pytest.raises(EmbeddingError, match="its row is damaged"):
        bank.upkeep.reembed()
    assert [finding.what for finding in bank.upkeep.doctor(dry_run=True) if lost in finding.what]
    with pytest.raises((CorruptionError, MemoryNotFoundError)):
        bank.get(lost)


@pytest.mark.folder_only
@pytest.mark.parametrize("damaged", [DAMAGE["metadata"]], indirect=True)
def test_what_is_damaged_can_be_deleted_and_then_all_is_well(damaged: tuple[ReasoningBank, str, str]) -> None:
    bank, whole, lost = damaged

    with pytest.raises(CorruptionError, match="doctor"):
        bank.update(lost, content="Anew", reason="it was damaged")
    assert bank.delete(lost)

    assert bank.upkeep.doctor(dry_run=True) == []
    assert bank.count() == 1
    assert bank.get(whole).id == whole


@pytest.mark.folder_only
def test_a_damaged_tally_costs_its_evidence_until_it_is_made_anew(bank: ReasoningBank, open_bank: OpenBank) -> None:
    known = bank.record("Quote every path", "Or it breaks", outcome="success").memory.id
    bank.vote(known, True, ref="a")
    confidence = bank.get(known).confidence
    where = Path(bank.upkeep.status().folder)
    bank.close()
    with sqlite3.connect(where / "bank.sqlite3") as database:
        database.execute("UPDATE tallies SET last = 'yesterday'")

    again = open_bank()
    assert [memory.id for memory in again.search("quote every path").memories] == [known]
    again.upkeep.doctor()

    assert again.get(known).confidence == confidence
    assert again.upkeep.doctor(dry_run=True) == []


HURT = {
    "a vector that is cut": (
        "UPDATE vectors SET vector = x'00' WHERE memory = 1",
        2,
        "not as long as their embedder's",
    ),
    "what a vote confirms": ("UPDATE evidence SET validates = '['", 2, "evidence differ"),
    "when evidence came": ("UPDATE evidence SET at = 'never' WHERE memory = 1", 2, "evidence differ"),
    "when a run began": ("UPDATE episodes SET opened_at = 'never' WHERE ref = 'one'", 1, "1 runs cannot be read"),
    "how a run ended": ("UPDATE episodes SET verdict = 'odd' WHERE ref = 'one'", 1, "1 runs cannot be read"),
    "the day of a segment, a word": ("UPDATE log_positions SET day = 'x'", 2, "days of the log's segments"),
    "the day of a segment, a blob": ("UPDATE log_positions SET day = x'ff00'", 2, "days of the log's segments"),
    "the day of a segment, a fraction": ("UPDATE log_positions SET day = 0.5", 2, "days of the log's segments"),
    "the day of a segment, beyond all": ("UPDATE log_positions SET day = 9e15", 2, "days of the log's segments"),
    "the day of a segment, another": ("UPDATE log_positions SET day = day + 40", 2, "days of the log's segments"),
    "the day of a segment, a date": ("UPDATE log_positions SET day = '2026-02-31'", 2, "days of the log's segments"),
    "the day of a segment, none": (
        "PRAGMA writable_schema = 1; "
        "UPDATE sqlite_master SET sql = replace(sql, 'day INTEGER NOT NULL', 'day INTEGER') "
        "WHERE name = 'log_positions'; PRAGMA writable_schema = RESET; UPDATE log_positions SET day = NULL",
        2,
        "days of the log's segments",
    ),
    "what was handed out": ("UPDATE served SET confidence = 'x' WHERE ref = 'one'", 1, ""),
}


@pytest.mark.folder_only
@pytest.mark.parametrize(("sql", "runs", "found"), HURT.values(), ids=HURT)
def test_damage_beside_the_memories_costs_what_it_is_about(
    bank: ReasoningBank, open_bank: OpenBank, tmp_path: Path, sql: str, runs: int, found: str
) -> None:
    ids = {bank.record(f"Quote every path {n}", "Or it breaks", outcome="success").memory.id for n in range(2)}
    for ref in ("one", "two"):
        bank.recall("quote every path", ref=ref)
        bank.report("success", ref=ref)
    where = Path(bank.upkeep.status().folder)
    bank.close()
    with sqlite3.connect(where / "bank.sqlite3") as database:
        database.executescript(sql)

    again = open_bank()
    assert {memory.id for memory in again.search("quote every path").memories} == ids
    assert {memory.id for memory in again.recall("quote every path").memories} == ids
    assert again.exchange.export_to(tmp_path / "out.jsonl") == 2
    assert len(again.runs.list().episodes) == runs + 1
    assert again.upkeep.metrics().days
    assert found in "; ".join(finding.what for finding in again.upkeep.doctor(dry_run=True))
    again.upkeep.doctor()
    again.upkeep.rebuild()
    assert "days of" not in "; ".join(finding.what for finding in again.upkeep.doctor(dry_run=True))
    again.upkeep.maintain()
    assert all(again.evidence(memory).pieces for memory in ids)

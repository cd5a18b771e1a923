"""Import and export through the public API."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import AsyncReasoningBank, InvalidInputError, Memory, ReasoningBank, Source, State, StorageError
from reasoningbank.exchange import Imported, Rejected
from tests.conftest import Clock, OpenBank

LESSONS = [
    {"id": "q", "title": "Quote paths", "content": "Put paths in quotes: names hold blanks"},
    {"text": "Read the whole error message before changing anything.", "outcome": "failure"},
]


def everything(bank: ReasoningBank) -> list[Memory]:
    return list(bank.list(state=None, limit=1000).memories)


def exported(bank: ReasoningBank) -> str:
    target = io.StringIO()
    bank.exchange.export_to(target, state=None, expired=None)
    return target.getvalue()


@pytest.fixture
def lived_in(bank: ReasoningBank, clock: Clock) -> ReasoningBank:
    """A bank with history: votes, outcomes, all states, rolled-up evidence."""
    bank.record(
        "Quote paths", "Put paths in quotes", outcome="failure", tags=["shell"], source=Source(by="ada", session="s")
    )
    bank.record("Read errors", "Read the error message", outcome="success", confidence=0.3, metadata={"n": [1, None]})
    bank.record("Pin versions", "Pin every version of a dependency", outcome="success", source={"how": "distilled"})
    for task, verdict in (("quote the paths", "success"), ("read the error message", "failure"), ("pin it", "unknown")):
        recall = bank.recall(task)
        bank.report(verdict, ref=recall.ref)
        clock.move(hours=1)
    first, second, third = everything(bank)
    bank.vote(first.id, True, by="ada")
    bank.vote(second.id, False)
    clock.move(days=40)
    bank.upkeep.maintain()
    bank.vote(first.id, True, by="grace")
    bank.vote(third.id, True, kind="stability")
    bank.update(second.id, description="on messages")
    return bank


def test_good_lines_are_kept_and_bad_ones_are_named(bank: ReasoningBank) -> None:
    lines = ["{bad", json.dumps(LESSONS[0]), "", '{"content": "x", "outcome": "maybe"}', json.dumps(LESSONS[1])]

    imported = bank.exchange.import_from(lines)

    assert imported.created == bank.count() == 2
    assert [(rejected.line, rejected.reason[:8]) for rejected in imported.rejected] == [
        (1, "not JSON"),
        (4, "outcome "),
    ]


def test_importing_again_changes_nothing(bank: ReasoningBank) -> None:
    bank.exchange.import_from(LESSONS)
    before = everything(bank)

    again = bank.exchange.import_from(LESSONS)

    assert again == Imported(existing=2)
    assert everything(bank) == before


def test_an_id_that_says_something_else_here_is_left_and_named(bank: ReasoningBank) -> None:
    bank.exchange.import_from(LESSONS)

    imported = bank.exchange.import_from([{"id": "q", "content": "Something else"}])

    assert (imported.created, imported.existing) == (0, 1)
    (differing,) = imported.differing
    assert differing == Rejected(1, "memory 'q' is there and says something else; it was left as it is")
    assert bank.get("q").content == LESSONS[0]["content"]


def test_the_same_content_under_another_id_is_the_same_lesson(bank: ReasoningBank) -> None:
    bank.exchange.import_from(LESSONS)

    assert bank.exchange.import_from([LESSONS[0] | {"id": "r"}]) == Imported(existing=1)


def test_imported_memories_start_at_0_6_and_untrusted(bank: ReasoningBank) -> None:
    bank.exchange.import_from(LESSONS, by="handbook")

    assert {m.initial_confidence for m in everything(bank)} == {0.6}
    assert {m.source for m in everything(bank)} == {Source(how="imported", by="handbook", trusted=False)}


def test_a_file_names_itself_as_the_source_unless_told_otherwise(bank: ReasoningBank, tmp_path: Path) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text("".join(json.dumps(lesson) + "\n" for lesson in LESSONS), "utf-8")

    assert bank.exchange.import_from(file).created == 2
    assert {m.source.by for m in everything(bank)} == {"lessons.jsonl"}


def test_progress_is_told_in_lines_done_of_lines_in_all(bank: ReasoningBank, tmp_path: Path) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text("".join(json.dumps({"text": f"Lesson number {n}"}) + "\n" for n in range(150)), "utf-8")
    seen: list[tuple[int, int | None]] = []

    bank.exchange.import_from(str(file), progress=lambda done, total: seen.append((done, total)))

    assert seen == [(64, 150), (128, 150), (150, 150)]


def test_lines_without_an_end_have_no_total(bank: ReasoningBank) -> None:
    seen: list[tuple[int, int | None]] = []

    bank.exchange.import_from(iter(LESSONS), progress=lambda done, total: seen.append((done, total)))

    assert seen == [(2, None)]


def test_secrets_are_removed_on_the_way_in_and_counted(bank: ReasoningBank) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"

    imported = bank.exchange.import_from([{"text": f"Log in with {secret} first"}])

    assert sum(imported.redactions.values()) >= 1
    assert secret not in everything(bank)[0].content


def test_an_export_of_nothing_is_nothing(bank: ReasoningBank) -> None:
    assert bank.exchange.export_to(io.StringIO()) == 0
    assert not Path(bank.upkeep.status().folder).exists()


def test_an_export_read_back_is_the_same_bank(lived_in: ReasoningBank, open_bank: OpenBank) -> None:
    copy = open_bank(project="copy")

    imported = copy.exchange.import_from(exported(lived_in).splitlines(), trusted=True)

    assert imported == Imported(created=3)
    assert [replace(m, project="billing", revision=0) for m in everything(copy)] == [
        replace(m, revision=0) for m in everything(lived_in)
    ]
    assert exported(copy) == exported(lived_in)
    assert copy.upkeep.doctor() == []


def test_restored_evidence_survives_a_rebuild_and_goes_on_counting(
    lived_in: ReasoningBank, open_bank: OpenBank
) -> None:
    copy = open_bank(project="copy")
    copy.exchange.import_from(exported(lived_in).splitlines(), trusted=True)
    before = everything(copy)

    copy.upkeep.rebuild()
    assert everything(copy) == before

    copy.vote(before[1].id, True)
    assert copy.get(before[1].id).confidence > before[1].confidence


def test_the_weights_that_votes_taught_come_along(open_bank: OpenBank, clock: Clock) -> None:
    settings = {"confidence_model": "spec"}
    bank = open_bank(settings=settings)
    bank.exchange.import_from(LESSONS, trusted=True)
    recall = bank.recall("quote paths")
    bank.report("success", ref=recall.ref)
    bank.vote("q", True)
    copy = open_bank(project="copy", settings=settings)

    copy.exchange.import_from(exported(bank).splitlines(), trusted=True)

    assert [m.confidence for m in everything(copy)] == [m.confidence for m in everything(bank)]
    # A bank that has memories of its own has weights of its own.
    other = open_bank(project="other", settings=settings)
    other.record("Mine", "My own lesson", outcome="success")
    other.exchange.import_from(exported(bank).splitlines(), trusted=True)
    assert '"taught"' in exported(copy)
    assert '"taught"' not in exported(other)


def test_without_trust_neither_evidence_nor_trust_is_taken_over(lived_in: ReasoningBank, open_bank: OpenBank) -> None:
    copy = open_bank(project="copy")

    copy.exchange.import_from(exported(lived_in).splitlines())

    assert {(m.initial_confidence, m.usage_count, m.source.trusted) for m in everything(copy)} == {(0.6, 0, False)}
    assert [m.id for m in everything(copy)] == [m.id for m in everything(lived_in)]


def own(**fields: Any) -> dict[str, Any]:
    return {"format": "reasoningbank/1", "content": "Put paths in quotes", "title": "Quote paths"} | fields


def test_archived_and_quarantined_memories_stay_so(bank: ReasoningBank) -> None:
    imported = bank.exchange.import_from(
        [own(id="a", state="archived"), own(id="b"), own(id="c", state="quarantined", title="Mind")]
    )

    assert {m.id: m.state for m in everything(bank)} == {
        "a": State.ARCHIVED,
        "b": State.ACTIVE,
        "c": State.QUARANTINED,
    }
    assert (imported.created, imported.quarantined) == (3, 1)
    assert [hit.memory.id for hit in bank.search("quote paths").hits] == ["b"]


def test_an_archived_twin_of_an_active_memory_is_restored_beside_it(bank: ReasoningBank) -> None:
    imported = bank.exchange.import_from([own(id="b"), own(id="a", state="archived")])

    assert imported.created == 2


def test_an_export_appears_whole_or_not_at_all(lived_in: ReasoningBank, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("what was there")

    def fail(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lived_in.exchange.export_to(target, progress=fail)
    assert target.read_text() == "what was there"

    assert lived_in.exchange.export_to(str(target)) == 3
    assert target.read_text("utf-8") == exported(lived_in)
    assert [path.name for path in tmp_path.glob("*.unfinished")] == []


def test_a_file_that_cannot_be_read_or_written_is_named(bank: ReasoningBank, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"nowhere\.jsonl cannot be read: No such file"):
        bank.exchange.import_from(tmp_path / "nowhere.jsonl")
    bank.exchange.import_from(LESSONS)
    with pytest.raises(StorageError, match=r"out\.jsonl cannot be written"):
        bank.exchange.export_to(tmp_path / "no" / "folder" / "out.jsonl")


@pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")
def test_a_refusal_of_the_bank_is_not_blamed_on_the_file(
    lived_in: ReasoningBank, open_bank: OpenBank, tmp_path: Path
) -> None:
    file = tmp_path / "lessons.jsonl"
    lived_in.exchange.export_to(file)
    closed = open_bank(project="other")
    closed.close()

    with pytest.raises(StorageError, match="was closed"):
        closed.exchange.import_from(file)
    with pytest.raises(StorageError, match="was closed"):
        closed.exchange.export_to(tmp_path / "out.jsonl")


async def test_the_async_bank_imports_and_exports(bank: ReasoningBank, tmp_path: Path) -> None:
    facade = AsyncReasoningBank(bank)

    assert (await facade.exchange.import_from(LESSONS)).created == 2
    assert await facade.exchange.export_to(tmp_path / "out.jsonl") == 2


def test_an_archived_memory_of_an_export_can_be_restored(bank: ReasoningBank, open_bank: OpenBank) -> None:
    bank.exchange.import_from([own(id="a"), own(id="q", title="Mind the gap", state="quarantined")])
    bank.upkeep.archive("a")
    bank.upkeep.archive("q")
    trusting, wary = open_bank(project="copy"), open_bank(project="wary")
    trusting.exchange.import_from(exported(bank).splitlines(), trusted=True)
    wary.exchange.import_from(exported(bank).splitlines())

    assert exported(trusting) == exported(bank)
    assert trusting.upkeep.restore("a").state is State.ACTIVE
    assert trusting.upkeep.restore("q").state is State.QUARANTINED
    # Without trust, what it goes back to is the guard's to say.
    assert wary.upkeep.restore("a").state is wary.upkeep.restore("q").state is State.ACTIVE


def test_an_archived_line_that_does_not_say_why_can_be_restored_too(bank: ReasoningBank) -> None:
    bank.exchange.import_from([own(id="a", state="archived")], trusted=True)

    assert bank.upkeep.restore("a").state is State.ACTIVE


def test_a_forgotten_source_stays_forgotten_in_a_copy(bank: ReasoningBank, open_bank: OpenBank) -> None:
    bank.exchange.import_from([own(id="a")])
    bank.record("Mind the gap", "Between train and platform", outcome="failure", source={"by": "mallory"})
    bank.vote("a", True, by="mallory")
    bank.sources.block("mallory")
    copy = open_bank(project="copy")

    copy.exchange.import_from(exported(bank).splitlines(), trusted=True)

    assert exported(copy) == exported(bank)
    before = copy.get("a").confidence
    copy.vote("a", True, ref="later", by="mallory")
    assert copy.get("a").confidence == before
    assert [memory.title for memory in copy.list(state="archived").memories] == ["Mind the gap"]
    copy.sources.unblock("mallory")
    assert copy.count(state="archived") == 0


def test_a_source_that_is_forgotten_here_is_not_served_whatever_a_file_says(bank: ReasoningBank) -> None:
    bank.record("Mind the gap", "Between train and platform", outcome="failure", source={"by": "mallory"})
    bank.sources.block("mallory")
    source = {"how": "manual", "by": "mallory"}

    bank.exchange.import_from(
        [
            own(id="a", state="active", source=source),
            own(id="b", title="Other", state="archived", archived={"from": "active", "why": "by hand"}, source=source),
        ],
        trusted=True,
    )

    assert bank.get("a").state is State.QUARANTINED
    assert bank.upkeep.restore("b").state is State.QUARANTINED

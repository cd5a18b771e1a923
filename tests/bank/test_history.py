"""What a memory said before it was changed is kept, with its evidence, and one memory can take another's place."""

from __future__ import annotations

import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import AsyncReasoningBank, InvalidInputError, LLMDistiller, MemoryNotFoundError, ReasoningBank, State
from tests.conftest import Clock, OpenBank
from tests.processes import in_child

RUN = {"task": "Ship it", "steps": [{"action": "ls", "observation": "a"}], "verdict": "success"}


def lesson(bank: ReasoningBank, content: str = "Run rm -rf /build", **fields: Any) -> str:
    return bank.record("Clean up", content, outcome="success", **fields).memory.id


def drawn(bank: ReasoningBank, content: str) -> Any:
    answer = json.dumps({"memories": [{"title": "Clean up", "content": content}]})
    return bank.distill(RUN, "success", distiller=LLMDistiller(lambda _: answer))


def voted(bank: ReasoningBank, memory_id: str, helpful: bool = True, times: int = 6) -> float:
    for i in range(times):
        bank.vote(memory_id, helpful, ref=f"{helpful}{i}", by=f"judge {i}")
    return bank.get(memory_id).confidence


def test_an_update_keeps_what_it_replaced_and_who_said_why(bank: ReasoningBank, clock: Clock) -> None:
    memory_id = lesson(bank, tags=["shell"], metadata={"n": 1})
    recorded = clock.now
    clock.move(days=1)
    bank.update(memory_id, content="Run rm -rf ./build", reason="the slash was wrong", by="ada")
    bank.update(memory_id, tags=["make"])
    bank.update(memory_id, tags=["make"])

    first, second = bank.revisions(memory_id)

    assert (first.number, first.said.content, first.said.tags) == (1, "Run rm -rf /build", ("shell",))
    assert (first.reason, first.by) == ("the slash was wrong", "ada")
    assert (first.written_at, first.replaced_at) == (recorded, clock.now)
    assert (second.number, second.said.content, second.said.metadata) == (2, "Run rm -rf ./build", {"n": 1})
    assert bank.upkeep.status().corrections == {"revisions": 2}
    with pytest.raises(MemoryNotFoundError):
        bank.revisions("nope")


@pytest.mark.parametrize("rolled_up", [False, True])
def test_a_corrected_text_starts_anew_and_putting_the_old_one_back_brings_its_evidence(
    bank: ReasoningBank, clock: Clock, rolled_up: bool
) -> None:
    memory_id = lesson(bank)
    fresh = bank.get(memory_id).confidence
    recall = bank.recall("clean up the build", min_confidence=0.0)
    bank.report("success", ref=recall.ref)
    proven = voted(bank, memory_id)
    used = bank.get(memory_id)
    if rolled_up:
        clock.move(days=60)
        bank.upkeep.maintain()

    assert bank.update(memory_id, content="Run rm -rf ./build").confidence == fresh
    doubted = voted(bank, memory_id, helpful=False)
    back = bank.upkeep.restore(memory_id, revision=1)

    assert back.content == "Run rm -rf /build"
    assert back.confidence == pytest.approx(proven)
    assert (back.usage_count, back.last_used) == (used.usage_count, used.last_used)
    assert bank.upkeep.doctor(dry_run=True) == []
    bank.upkeep.rebuild()
    assert bank.get(memory_id).confidence == pytest.approx(proven)
    assert not bank.vote(memory_id, True, ref="True0", by="judge 0").recorded
    assert bank.get(memory_id).confidence == pytest.approx(proven)
    assert bank.upkeep.restore(memory_id, revision=2).confidence == pytest.approx(doubted)
    assert [revision.said.content for revision in bank.revisions(memory_id)] == [
        "Run rm -rf /build",
        "Run rm -rf ./build",
        "Run rm -rf /build",
    ]


def test_a_revision_that_is_not_there_or_that_another_says_is_refused(bank: ReasoningBank) -> None:
    memory_id = lesson(bank)
    with pytest.raises(InvalidInputError, match="none yet"):
        bank.upkeep.restore(memory_id, revision=1)
    bank.update(memory_id, content="Run rm -rf ./build")
    with pytest.raises(InvalidInputError, match="no revision 2; there are 1 to 1"):
        bank.upkeep.restore(memory_id, revision=2)
    other = lesson(bank)
    with pytest.raises(InvalidInputError, match=f"{other}.*says this already"):
        bank.upkeep.restore(memory_id, revision=1)
    assert len(bank.revisions(memory_id)) == 1


def test_the_old_text_does_not_come_back_by_distilling_or_importing_but_by_hand(bank: ReasoningBank) -> None:
    memory_id = lesson(bank)
    bank.update(memory_id, content="Run rm -rf ./build", reason="the slash was wrong")

    (held,) = drawn(bank, "Run rm -rf /build").recorded
    imported = bank.exchange.import_from([{"title": "Clean up", "content": "Run rm -rf /build"}])

    assert (held.created, held.held, held.memory.id) == (False, "replaced: the slash was wrong", memory_id)
    assert (imported.created, len(imported.held), bank.count()) == (0, 1, 1)
    assert bank.record("Clean up", "Run rm -rf /build", outcome="success").created


def test_secrets_do_not_stay_in_the_history(bank: ReasoningBank) -> None:
    memory_id = lesson(bank)
    key = "ghp_" + "aB3dE5gH7jK9" * 3
    bank.update(memory_id, content="Run make", reason=f"the key {key} was in it", by=key)

    assert key not in repr(bank.revisions(memory_id))


def test_deleting_takes_the_history_along_and_keeps_no_word(bank: ReasoningBank) -> None:
    memory_id = lesson(bank, "Call Walburga")
    bank.update(memory_id, content="Call Kunigunde")
    assert bank.delete(memory_id)

    for content in ("Call Walburga", "Call Kunigunde"):
        (held,) = drawn(bank, content).recorded
        assert (held.created, held.held, held.memory.id) == (False, "deleted", "")
        assert [line.line for line in bank.exchange.import_from([{"title": "Clean up", "content": content}]).held] == [
            1
        ]
    assert bank.count(state=None) == 0
    assert bank.upkeep.status().corrections == {"held_back": 4}
    assert lesson(bank, "Call Walburga")
    assert drawn(bank, "Call Walburga").recorded == ()


def test_a_lesson_that_was_deleted_without_a_mark_is_like_any_other(bank: ReasoningBank) -> None:
    bank.delete(lesson(bank), mark=False)

    assert drawn(bank, "Run rm -rf /build").recorded[0].created


def test_a_memory_takes_anothers_place_until_that_is_restored(bank: ReasoningBank) -> None:
    old, new, user = lesson(bank), lesson(bank, "Run make clean"), lesson(bank, "Build, then pack")
    bank.links.add(user, old, "requires")

    done = bank.supersede(old, new, reason="make knows the folder", by="ada")

    assert (done.old.state, done.new.id) == (State.ARCHIVED, new)
    assert old not in {memory.id for memory in bank.search("clean up the build", min_confidence=0.0).memories}
    found = bank.recall("build, then pack", 1, expand_links=True, min_confidence=0.0)
    assert old not in {memory.id for memory in found.memories}
    assert {(link.source, link.type, link.target) for link in bank.links.of(new)} == {
        (new, "supersedes", old),
        (user, "requires", new),
    }
    again = bank.record("Clean up", "Run rm -rf /build", outcome="success")
    assert (again.created, again.held) == (False, f"superseded: {new} (make knows the folder)")
    assert bank.upkeep.restore(old).state is State.ACTIVE
    assert "supersedes" not in {link.type for link in bank.links.of(new)}


def test_a_link_that_says_supersedes_does_what_it_says(bank: ReasoningBank) -> None:
    old, new = lesson(bank), lesson(bank, "Run make clean")

    linked = bank.links.add(new, old, "supersedes")

    assert "out of service" in linked.warning
    assert bank.get(old).state is State.ARCHIVED


def test_who_cannot_take_the_place_is_refused(bank: ReasoningBank) -> None:
    old, new = lesson(bank), lesson(bank, "Run make clean")

    with pytest.raises(InvalidInputError, match="reason is empty"):
        bank.supersede(old, new, reason=" ")
    with pytest.raises(InvalidInputError, match="its own place"):
        bank.supersede(old, old, reason="why")
    bank.upkeep.archive(new, reason="not good", by="agent")
    with pytest.raises(InvalidInputError, match="is not served"):
        bank.supersede(old, new, reason="why")
    assert bank.record("Clean up", "Run make clean", outcome="success").held == "retired by agent: not good"
    assert bank.upkeep.status().corrections == {"retired": 1, "held_back": 1}


def test_every_process_serves_a_correction_at_its_next_recall(open_bank: OpenBank) -> None:
    bank = open_bank()
    memory_id, gone = lesson(bank), lesson(bank, "Clean up the build by hand")
    assert len(bank.recall("clean up the build", min_confidence=0.0).hits) == 2

    def correct() -> None:
        other = open_bank()
        other.update(memory_id, content="Run rm -rf ./build")
        other.supersede(gone, memory_id, reason="better")

    assert in_child(correct) == 0
    recalled = bank.recall("clean up the build", min_confidence=0.0)
    assert [memory.content for memory in recalled.memories] == ["Run rm -rf ./build"]
    assert "./build" in recalled.text


async def test_the_async_bank_corrects_too(bank: ReasoningBank) -> None:
    facade = AsyncReasoningBank(bank)
    old, new = lesson(bank), lesson(bank, "Run make clean")

    assert (await facade.supersede(old, new, reason="better")).old.id == old
    assert await facade.revisions(new) == []


def test_a_source_can_be_forgotten_and_unblocked_after_one_of_its_memories_was_deleted(bank: ReasoningBank) -> None:
    first, second = lesson(bank, source={"by": "forum"}), lesson(bank, "Run make clean", source={"by": "forum"})
    bank.sources.block("forum")
    bank.delete(first)
    assert bank.sources.unblock("forum").memories == (second,)
    bank.sources.forget("forum")
    assert bank.sources.unblock("forum").memories == ()


def test_a_link_of_an_import_that_says_supersedes_does_what_it_says(bank: ReasoningBank) -> None:
    links = [{"target": "old", "type": "supersedes", "strength": 1.0}]
    own = {"format": "reasoningbank/1", "title": "Clean up"}
    bank.exchange.import_from(
        [own | {"id": "old", "content": "Run rm"}, own | {"id": "new", "content": "Run make", "links": links}],
        trusted=True,
    )

    assert bank.get("old").state is State.ARCHIVED


# -- out of one bank and into another --------------------------------------------------------------------------------


def exported(bank: ReasoningBank, **options: Any) -> list[str]:
    target = io.StringIO()
    bank.exchange.export_to(target, state=None, expired=None, history=True, **options)
    return target.getvalue().splitlines()


def test_a_copy_knows_what_was_said_before_with_its_evidence_pins_and_merges(
    bank: ReasoningBank, open_bank: OpenBank, clock: Clock
) -> None:
    memory_id = lesson(bank)
    proven = voted(bank, memory_id)
    clock.move(days=1)
    bank.update(memory_id, content="Run rm -rf ./build", reason="the slash was wrong", by="ada")
    again = lesson(bank)  # by hand: what the other one said before
    bank.update(memory_id, tags=["make"])
    bank.upkeep.pin(memory_id)
    bank.upkeep.pin(again, "shell")
    said = "Find every configuration file under the directory /etc/app and {} the ones nobody reads"
    texts = [said.format(verb) for verb in ("delete", "remove")]
    first, second = (bank.record(text[:60], text, outcome="success").memory.id for text in texts)
    voted(bank, first)
    voted(bank, second, helpful=False, times=2)
    (merge,) = bank.upkeep.consolidate(dry_run=False).changes
    copy = open_bank(project="copy")

    imported = copy.exchange.import_from(exported(bank), trusted=True)

    assert (imported.created, imported.held, imported.rejected) == (5, (), ())
    assert exported(copy) == exported(bank)
    assert copy.revisions(memory_id) == bank.revisions(memory_id)
    assert copy.get(str(merge.result)).confidence == pytest.approx(bank.get(str(merge.result)).confidence)
    assert {(pin.memory.id, pin.tag) for pin in copy.upkeep.pins()} == {(memory_id, ""), (again, "shell")}
    assert copy.upkeep.doctor() == bank.upkeep.doctor() == []
    for each in (bank, copy):
        each.delete(again, mark=False)
        assert each.upkeep.restore(memory_id, revision=1).confidence == pytest.approx(proven)
        assert not each.vote(memory_id, True, ref="True0", by="judge 0").recorded
        each.upkeep.undo_merge(str(merge.result))
    assert copy.get(first).confidence == pytest.approx(bank.get(first).confidence)
    assert copy.get(second).confidence == pytest.approx(bank.get(second).confidence)


def test_history_goes_along_where_it_is_asked_for_and_is_taken_from_trusted_files(
    bank: ReasoningBank, open_bank: OpenBank, tmp_path: Path
) -> None:
    memory_id = lesson(bank)
    bank.update(memory_id, content="Run rm -rf ./build")
    bank.upkeep.pin(memory_id)
    wary, pages = open_bank(project="wary"), open_bank(project="pages")
    wary.exchange.import_from(exported(bank))
    bank.exchange.export_to(tmp_path / "pages", format="markdown", history=True)
    pages.exchange.import_from(tmp_path / "pages", trusted=True)
    bank.exchange.export_to(tmp_path / "plain.jsonl", state=None, expired=None)

    assert (wary.revisions(memory_id), wary.upkeep.pins()) == ([], [])
    assert pages.revisions(memory_id) == bank.revisions(memory_id)
    assert "rm -rf /build" not in (tmp_path / "plain.jsonl").read_text()
    with pytest.raises(InvalidInputError, match="holds no history"):
        bank.exchange.export_to(tmp_path / "x", format="skill", history=True)


@pytest.mark.folder_only
def test_a_secret_that_was_unknown_then_is_in_no_history_that_leaves_the_bank(
    bank: ReasoningBank, open_bank: OpenBank
) -> None:
    memory_id = lesson(bank)
    bank.update(memory_id, content="Run rm -rf ./build", reason="the slash was wrong")
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    with sqlite3.connect(Path(bank._engine.where) / "bank.sqlite3") as database:
        database.execute(
            "UPDATE revisions SET scrub_version = 0, draft = replace(draft, '/build', ?), reason = ?, judge = ?",
            (secret, f"the key {secret} was wrong", secret),
        )
    database.close()
    copy = open_bank(project="copy")
    copy.exchange.import_from([json.dumps(json.loads(line)) for line in exported(bank)], trusted=True)

    assert secret not in str(bank.revisions(memory_id))
    assert secret not in "".join(exported(bank))
    assert "Run rm -rf" in copy.revisions(memory_id)[0].said.content


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "'said'"),
        ({"said": {"title": "a"}}, "content"),
        ({"said": {"title": "a", "content": "b", "outcome": "success"}}, "'written_at'"),
        ({"reason": 3}, "reason is a int"),
        ({"evidence": []}, "not an object"),
        ({"evidence": {"told": [{"ref": "r", "kind": "praise"}]}}, "'praise'"),
        ({"evidence": {"tallies": [{"kind": "explicit"}]}}, "'last'"),
    ],
)
def test_a_line_with_a_history_that_is_not_allowed_is_named(
    bank: ReasoningBank, given: dict[str, Any], named: str
) -> None:
    whole = {
        "said": {"title": "a", "content": "b", "outcome": "success"},
        "written_at": "2026-01-01T00:00:00Z",
        "replaced_at": "2026-01-02T00:00:00Z",
    }
    said = given if "said" in given or not given else whole | given
    line = {"format": "reasoningbank/1", "title": "Mind the gap", "content": "Look down", "history": [said]}

    (bad,) = bank.exchange.import_from([line], trusted=True).rejected

    assert named in bad.reason

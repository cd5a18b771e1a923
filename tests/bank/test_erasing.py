"""Erasing a name: all that was recorded under it is gone, from the files too, and all else is as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reasoningbank import InvalidInputError, ReasoningBank
from reasoningbank.upkeep import Erased

ANN = "ann-4711"
SECRET = "zyzzyva"  # what only Ann ever said


def filled(bank: ReasoningBank) -> dict[str, str]:
    """Let Ann and Bob use a bank; return the ids of what stays, of what is Ann's, and of her run."""
    kept = bank.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id
    also = bank.record("Pin versions", "Pin the version of each tool", outcome="success").memory.id
    hers = bank.record(f"Likes {SECRET}", f"Answer with {SECRET}", outcome="success", source={"by": ANN}).memory.id
    of_session = bank.record(f"{SECRET} again", "In her session", outcome="success", source={"session": ANN}).memory.id
    run = bank.recall(f"quote the paths of {SECRET}", thread=ANN)
    bank.runs.add_steps(run.ref, [{"thought": SECRET, "action": "ls", "observation": "ok"}])
    bank.report("success", ref=run.ref, reason=f"{SECRET} said so", by="bob")
    bank.queue.put({"task": f"queued {SECRET}", "steps": []}, "success", key=run.ref)
    bank.queue.put({"task": f"more {SECRET}", "steps": [], "session": ANN}, "success")
    bank.queue.put({"task": "of bob", "steps": []}, "success")
    other = bank.recall("quote the paths", thread="bob")
    bank.report("success", ref=other.ref, by=ANN, reason=f"{SECRET} liked it")
    bank.vote(kept, True, by=ANN, reason=f"{SECRET} works")
    bank.vote(also, False, by=ANN, ref=ANN)
    bank.update(also, content=f"Pin {SECRET}", by=ANN, reason=SECRET)
    bank.update(kept, content="Put every path in quotes", by="bob")
    bank.vote(kept, True, by=ANN, reason=f"{SECRET} works still")
    bank.links.add(kept, also, "related", by=ANN)
    bank.graph.add_node("UserRequest", f"Asks for {SECRET}", conv_id="c1", fields={"user_id": ANN})
    bank.graph.add_node("Event", f"Saw {SECRET}", conv_id=ANN)
    bank.graph.add_node("Event", "Something else", node_id="else")
    return {"kept": kept, "also": also, "hers": hers, "session": of_session, "run": run.ref, "other": other.ref}


@pytest.fixture
def keeping(open_bank: Any) -> ReasoningBank:
    bank: ReasoningBank = open_bank(settings={"keep_trajectories": True})
    return bank


def everything_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


@pytest.mark.folder_only
def test_nothing_that_was_recorded_under_a_name_is_left_in_any_file(keeping: ReasoningBank) -> None:
    ids, folder = filled(keeping), Path(keeping.upkeep.status().folder)
    keeping.upkeep.maintain()
    before = everything_in(folder)
    assert SECRET.encode() in before
    assert ANN.encode() in before

    erased = keeping.sources.erase(ANN)
    keeping.upkeep.maintain()
    assert keeping.upkeep.doctor() == []
    keeping.close()

    assert set(erased.memories) == {ids["hers"], ids["session"]}
    assert (erased.runs, erased.jobs, erased.nodes, erased.judged) == ((ids["run"],), 2, 2, 1)
    left = everything_in(folder)
    assert ANN.encode() not in left
    assert SECRET.encode() not in left


def test_what_others_recorded_stays_and_counts_as_it_did(keeping: ReasoningBank) -> None:
    ids = filled(keeping)
    before = keeping.get(ids["kept"]).confidence

    keeping.sources.erase(ANN)

    assert [revision.said.content for revision in keeping.revisions(ids["kept"])] == ["Put paths in quotes"]
    assert keeping.get(ids["kept"]).confidence == pytest.approx(before)
    assert keeping.get(ids["also"]).content == "Pin the version of each tool"
    assert [episode.ref for episode in keeping.runs.list().episodes] == [ids["other"]]
    assert keeping.runs.get(ids["other"]).verdict == "success"
    assert [job.task for job in keeping.queue.list()] == ["of bob"]
    assert keeping.graph.get_node("else").text == "Something else"
    assert keeping.sources.list() == []
    assert ANN not in {each.source for each in keeping.sources.overview()}
    # Folding the log again gives the same: it says nothing else than the rows.
    keeping.upkeep.rebuild()
    assert keeping.get(ids["kept"]).confidence == pytest.approx(before)


def test_a_dry_run_counts_the_same_and_does_nothing(keeping: ReasoningBank) -> None:
    ids = filled(keeping)

    counted = keeping.sources.erase(ANN, dry_run=True)

    assert counted.dry_run
    assert keeping.get(ids["hers"]).source.by == ANN
    done = keeping.sources.erase(ANN)
    assert (set(counted.memories), counted.runs) == (set(done.memories), done.runs)
    assert (counted.jobs, counted.nodes, counted.judged) == (done.jobs, done.nodes, done.judged)


def test_a_lesson_goes_with_the_only_run_that_it_was_distilled_from(keeping: ReasoningBank) -> None:
    run = keeping.recall("quote the paths", thread=ANN)
    failed = {"task": "quote the paths", "steps": [{"action": "rm a b", "observation": "error: no such file"}] * 2}
    lessons = keeping.distill(failed, "failure", ref=run.ref).memories
    other = keeping.record("Of nobody's run", "It stays", outcome="success").memory.id

    erased = keeping.sources.erase(ANN)

    assert erased.memories == tuple(memory.id for memory in lessons)
    assert [memory.id for memory in keeping.list().memories] == [other]


def test_one_run_is_erased_by_its_reference(bank: ReasoningBank) -> None:
    first, second = bank.recall("a task", ref="run-1").ref, bank.recall("another task").ref

    assert bank.sources.erase(first) == Erased("run-1", runs=("run-1",))
    assert [episode.ref for episode in bank.runs.list().episodes] == [second]


def test_the_evidence_that_was_rolled_up_loses_its_name_too(bank: ReasoningBank, clock: Any) -> None:
    memory = bank.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id
    bank.vote(memory, True, by=ANN)
    bank.vote(memory, True, by="")
    clock.move(days=60)
    bank.vote(memory, True, by="bob")
    bank.upkeep.maintain()
    before = bank.get(memory).confidence

    bank.sources.erase(ANN)

    assert {piece.by for piece in bank.evidence(memory).pieces} == {"", "bob"}
    assert bank.get(memory).confidence == pytest.approx(before)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_name_that_nothing_was_recorded_under_is_an_error(bank: ReasoningBank, dry_run: bool) -> None:
    with pytest.raises(InvalidInputError, match="nothing was recorded under 'nobody'"):
        bank.sources.erase("nobody", dry_run=dry_run)
    assert not bank.upkeep.status().exists

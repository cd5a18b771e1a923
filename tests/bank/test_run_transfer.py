"""Runs go along with an export when they are asked for, and nowhere else."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import Episode, InvalidInputError, ReasoningBank
from tests.conftest import Clock, OpenBank

KEEP = {"keep_trajectories": True}
KEY = "sk-" + "proj-" + "Ab3dE6gH9jK2mN5p" * 3


@pytest.fixture
def source(open_bank: OpenBank, clock: Clock) -> ReasoningBank:
    """A run that succeeded and taught a lesson, one that failed, and one that is open."""
    bank = open_bank(project="source", settings=KEEP)
    bank.record("Count lines", "Count lines with wc", outcome="success")
    with bank.episode("count the lines of app.log", ref="one", thread="t") as run:
        run.step("wc -l app.log", "42 app.log", thought="short")
        run.report("success", reason="42 is right", by="ci")
    bank.distill(run.trajectory)
    clock.move(days=1)
    bank.report("failure", ref=bank.recall("count the lines of big.log", ref="two").ref)
    bank.recall("count the lines with wc", ref="three")
    return bank


def exported(bank: ReasoningBank, **options: Any) -> list[dict[str, Any]]:
    target = io.StringIO()
    bank.exchange.export_to(target, **options)
    return [json.loads(line) for line in target.getvalue().splitlines()]


def said(episode: Episode) -> list[dict[str, Any]]:
    """What was handed out, without the numbers that each project gives its revisions."""
    return [served.model_dump(exclude={"revision"}) for served in episode.memories]


def test_runs_stay_where_they_are_unless_they_are_asked_for(source: ReasoningBank, open_bank: OpenBank) -> None:
    assert not any("run" in line for line in exported(source))
    with_runs = exported(source, runs=True)
    assert [line["run"]["ref"] for line in with_runs if "run" in line] == ["one", "three", "two"]

    copy = open_bank(project="copy")
    imported = copy.exchange.import_from(with_runs, trusted=True)
    assert (imported.runs, imported.runs_left_out, imported.rejected) == (0, 3, ())
    assert copy.runs.list().episodes == ()


def test_a_copy_has_the_same_runs_with_their_steps_and_their_lessons(
    source: ReasoningBank, open_bank: OpenBank, tmp_path: Path
) -> None:
    copy = open_bank(project="copy")
    assert source.exchange.export_to(tmp_path / "all.jsonl", runs=True) == source.count()
    imported = copy.exchange.import_from(tmp_path / "all.jsonl", trusted=True, runs=True)

    assert (imported.runs, imported.runs_left_out) == (3, 0)
    for ref in ("one", "two", "three"):
        ours, theirs = copy.runs.get(ref), source.runs.get(ref)
        assert ours.model_copy(update={"memories": said(ours)}) == theirs.model_copy(update={"memories": said(theirs)})
        assert copy.runs.trajectory(ref) == source.runs.trajectory(ref)
    for memory in source.list(state=None).memories:
        assert copy.runs.of(memory.id) == source.runs.of(memory.id)
        assert copy.get(memory.id).confidence == pytest.approx(memory.confidence)
    assert copy.upkeep.doctor(dry_run=True) == []
    assert exported(copy, runs=True) == exported(source, runs=True)


def test_what_was_said_in_a_run_counts_once_in_a_copy(source: ReasoningBank, open_bank: OpenBank) -> None:
    copy = open_bank(project="copy")
    lines = exported(source, runs=True)
    copy.exchange.import_from(lines, trusted=True, runs=True)
    before = {memory.id: memory.confidence for memory in copy.list().memories}

    assert copy.exchange.import_from(lines, trusted=True, runs=True).runs == 0
    assert copy.report("failure", ref="one").too_late
    assert {memory.id: memory.confidence for memory in copy.list().memories} == before
    assert copy.report("success", ref="three").credited
    copy.upkeep.rebuild()
    assert copy.upkeep.doctor(dry_run=True) == []


def test_steps_are_cleaned_and_no_longer_than_the_setting_lets_them_be(
    source: ReasoningBank, open_bank: OpenBank
) -> None:
    steps = [{"action": f"curl -H 'Authorization: Bearer {KEY}'"}, {"action": "x" * 200}, {"action": "last"}]
    run = {
        "ref": "r",
        "task": f"use {KEY}",
        "opened_at": "2026-03-14T12:00:00Z",
        "kept_at": "2026-03-14T12:00:00Z",
        "steps": steps,
        "left_out": 2,
    }
    bank = open_bank(project="short", settings={"trajectory_limit": 150})
    bank.exchange.import_from([{"format": "reasoningbank/1", "run": run}], trusted=True, runs=True)

    kept = bank.runs.trajectory("r")
    assert KEY not in kept.model_dump_json()
    assert kept.task.startswith("use ")
    assert [step.action[:4] for step in kept.steps] == ["curl"]
    assert kept.metadata["steps_left_out"] == 4


def test_runs_of_an_old_day_expire_as_they_would_have(source: ReasoningBank, open_bank: OpenBank, clock: Clock) -> None:
    copy = open_bank(project="copy")
    copy.exchange.import_from(exported(source, runs=True), trusted=True, runs=True)
    clock.move(days=30)

    assert copy.upkeep.maintain().forgotten_trajectories == 1
    assert copy.runs.trajectory("one").is_empty
    assert copy.runs.get("one").verdict == "success"


def test_runs_of_a_file_that_is_not_trusted_are_refused(source: ReasoningBank, open_bank: OpenBank) -> None:
    with pytest.raises(InvalidInputError, match="trusted"):
        open_bank(project="copy").exchange.import_from(exported(source, runs=True), runs=True)
    with pytest.raises(InvalidInputError, match="jsonl"):
        source.exchange.export_to("pages", format="markdown", runs=True)


def test_what_a_run_was_handed_is_left_out_where_it_is_not_there(source: ReasoningBank, open_bank: OpenBank) -> None:
    lines = exported(source, runs=True)
    first = next(line for line in lines if line.get("title") == "Count lines")
    copy = open_bank(project="copy")
    copy.record_many([{"title": "Other", "content": "Says else", "outcome": "success"}], ids=[first["id"]])
    copy.exchange.import_from(lines, trusted=True, runs=True)

    assert first["id"] not in [served.memory for served in copy.runs.get("one").memories]


def test_a_memory_that_says_something_else_since_is_not_credited_in_a_copy(
    source: ReasoningBank, open_bank: OpenBank
) -> None:
    memory = source.runs.get("three").memories[0].memory
    source.update(memory, content="Count lines with awk")
    copy = open_bank(project="copy")
    copy.exchange.import_from(exported(source, runs=True), trusted=True, runs=True)

    assert memory not in copy.report("success", ref="three").credited


def test_an_export_holds_the_runs_of_its_own_project_only(source: ReasoningBank, open_bank: OpenBank) -> None:
    for options in ({"tenant": "other", "project": "source"}, {"project": "beside"}):
        other = open_bank(settings=KEEP, **options)
        other.record("Another", "Lesson", outcome="success")
        other.recall("lesson", ref="theirs")

        assert [line["run"]["ref"] for line in exported(other, runs=True) if "run" in line] == ["theirs"]
    assert "theirs" not in json.dumps(exported(source, runs=True))


def test_a_bad_run_costs_no_other(source: ReasoningBank, open_bank: OpenBank) -> None:
    bad = {"format": "reasoningbank/1", "run": {"ref": "bad"}}
    imported = open_bank(project="copy").exchange.import_from(
        [bad, *exported(source, runs=True)], trusted=True, runs=True
    )

    assert imported.runs == 3
    assert [line.line for line in imported.rejected] == [1]

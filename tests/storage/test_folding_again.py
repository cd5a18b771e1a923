"""The log is folded again beside the writers: they wait for a step of it, and nothing of what they write is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.signals import SignalKind
from reasoningbank.storage import folding_again
from reasoningbank.storage.fold import batches
from reasoningbank.storage.folding_again import DERIVED
from reasoningbank.storage.project import Project
from tests.storage.files import DAY, NOON, add_memory, differences, log_file, open_project, serve, signal, write

VOTE = SignalKind.EXPLICIT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a project with votes and outcomes of three days about four memories."""
    made = open_project(tmp_path / "p")
    memories = [f"m{n}" for n in range(4)]
    for memory in memories:
        add_memory(made, memory)
    rng = random.Random(7)
    for number in range(40):
        ref = f"e{number % 13}"
        with made.write() as writing:
            if writing.execute("SELECT 1 FROM episodes WHERE ref = ?", (ref,)).fetchone() is None:
                serve(writing, ref, rng.choice(memories))
        said = signal(
            made,
            rng.choice([1, -1, 0]),
            memory=rng.choice(memories),
            kind=rng.choice([VOTE, SignalKind.OUTCOME]),
            ref=ref,
            at=NOON + timedelta(minutes=number),
            validates=(SignalKind.USAGE,),
        )
        write(made, said, now=NOON + DAY * (number // 14))
    made.close()
    return tmp_path / "p"


@pytest.fixture
def project(folder: Path) -> Iterator[Project]:
    opened = open_project(folder)
    yield opened
    opened.close()


def derived(project: Project) -> dict[str, Any]:
    with project.read() as reading:
        return {name: sorted(reading.execute(query).fetchall(), key=repr) for name, query in DERIVED.items()}


def vote_beside(folder: Path, ref: str, polarity: int = 1) -> None:
    """Vote through a handle of its own, which waits for another writer for a second only."""
    beside = open_project(folder)
    assert write(beside, signal(beside, polarity, memory="m1", kind=VOTE, ref=ref)) == ["counted"]
    beside.close()


def test_a_writer_waits_for_nothing_while_the_log_is_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before, find = derived(project), folding_again._find

    def find_and_vote(*given: Any) -> Any:
        vote_beside(project.folder, "meanwhile")
        return find(*given)

    monkeypatch.setattr(folding_again, "_find", find_and_vote)
    project.refold()

    assert len(derived(project)["evidence"]) == len(before["evidence"]) + 1
    assert differences(project) == []


DAMAGE = {
    "evidence that is gone": "DELETE FROM evidence WHERE ref IN ('e1', 'e2', 'e3')",
    "all evidence gone": "DELETE FROM evidence",
    "tallies that are gone": "DELETE FROM tallies",
    "tallies that are wrong": "UPDATE tallies SET positive = positive + 5 WHERE memory = 2",
    "tallies of nothing": "INSERT INTO tallies VALUES (3, 'explicit', 9, '', '', 0, 0, 1, 1, '')",
    "verdicts that are wrong": "UPDATE episodes SET verdict = 'unknown' WHERE verdict = 'success'",
    "weights that are wrong": "UPDATE validations SET confirmed = 99",
    "weights that are gone": "DELETE FROM validations",
    "what superseded it is not noted": "UPDATE evidence SET superseded = 0",
    "lines that were not counted as bad": "UPDATE log_positions SET bad = 3",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_what_differs_is_put_right_in_steps_between_which_others_write(
    project: Project, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    whole = derived(project)
    with project.write() as writing:
        writing.execute(damage)
    assert differences(project)
    monkeypatch.setattr(folding_again, "AT_ONCE", 2)
    votes = iter(range(99))

    def batches_with_votes(*given: Any) -> Any:
        for some in batches(*given):
            vote_beside(project.folder, f"v{next(votes)}")
            yield some

    monkeypatch.setattr("reasoningbank.storage.folding_again.batches", batches_with_votes)
    project.refold()

    assert differences(project) == []
    voted = next(votes)
    now = derived(project)
    assert len(now["evidence"]) == len(whole["evidence"]) + voted
    assert {*whole["evidence"]} <= {*now["evidence"]}
    assert now["verdicts"] == whole["verdicts"]


def test_what_no_line_says_is_written_into_the_log_again(project: Project) -> None:
    with project.write() as writing:
        writing.execute("UPDATE evidence SET polarity = 1, weight = 1000000 WHERE kind = 'explicit'")
    counted = derived(project)["evidence"]
    project.refold()

    assert {row[:5] for row in derived(project)["evidence"]} == {row[:5] for row in counted}
    assert differences(project) == []
    with project.write() as writing:
        project.ledger.refold(writing)
    assert {row[:5] for row in derived(project)["evidence"]} == {row[:5] for row in counted}


def test_a_log_that_is_changed_between_two_steps_is_read_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = derived(project)
    with project.write() as writing:
        writing.execute("DELETE FROM evidence")
    find = folding_again._find
    reworded: list[int] = []
    found: list[int] = []

    def find_and_reword(*given: Any) -> Any:
        differing = find(*given)
        found.append(len(differing.runs))
        if not reworded:
            reworded.append(1)
            with project.write() as writing:
                writing.reword_signals(lambda said: replace(said, by="u"))
        return differing

    monkeypatch.setattr(folding_again, "_find", find_and_reword)
    project.refold()

    assert len(found) == 2
    assert differences(project) == []
    assert len(derived(project)["evidence"]) == len(whole["evidence"])


def test_a_log_that_never_stands_still_is_folded_in_one_transaction(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = derived(project)
    with project.write() as writing:
        writing.execute("DELETE FROM tallies")

    def never(*_: Any) -> None:
        raise folding_again._ChangedError

    monkeypatch.setattr(folding_again, "_put_right", never)
    project.refold()

    assert derived(project) == whole


def test_a_damaged_log_is_completed_from_what_was_counted(project: Project) -> None:
    whole = derived(project)
    damaged = log_file(project)
    damaged.write_bytes(damaged.read_bytes().replace(b'"polarity":1', b'"polarity":7'))
    project.refold()

    assert {row[:5] for row in derived(project)["evidence"]} == {row[:5] for row in whole["evidence"]}
    assert differences(project) == []

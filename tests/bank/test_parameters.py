"""What a bank learns about its own evidence: when it is fitted, where it is kept, and what leaves it alone."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import ReasoningBank, Settings
from reasoningbank.belief.calibrated import STARTING, Parameters
from reasoningbank.belief.fitting import ProjectEvidence, fit
from reasoningbank.belief.worlds import Start
from reasoningbank.services.credit import fitting
from reasoningbank.storage.parameters import Fit
from tests.conftest import Clock, OpenBank

LESSONS = {
    "good": "Quote every path in the shell, since file names hold blanks",
    "bad": "Retry the upload with backoff when the server answers busy",
}


def live(bank: ReasoningBank, runs: int) -> None:
    """Two lessons, one of which always helps and one never, and runs that show it; every third gets a vote."""
    known = {bank.record(name, LESSONS[name], outcome="success").memory.id: name == "good" for name in LESSONS}
    for number in range(runs):
        recall = bank.recall(LESSONS["good" if number % 2 else "bad"], ref=f"run {number}")
        helped = any(known[memory.id] for memory in recall.memories)
        bank.report(helped, ref=recall.ref)
        for memory in recall.memories if number % 3 == 0 else ():
            bank.vote(memory.id, known[memory.id], ref=recall.ref, by="ada")


def confidences(bank: ReasoningBank) -> dict[str, float]:
    return {memory.id: memory.confidence for memory in bank.list(state=None).memories}


def learned(bank: ReasoningBank) -> dict[str, Any]:
    found = bank.upkeep.status().parameters
    assert found is not None
    return found


def rounded(parameters: dict[str, Any]) -> Any:
    """Sums come out the same but for the last digits, since rows of tallies are added in another order."""
    return json.loads(json.dumps(parameters), parse_float=lambda text: round(float(text), 9))


def exported(bank: ReasoningBank) -> list[str]:
    target = io.StringIO()
    bank.exchange.export_to(target)
    return target.getvalue().splitlines()


@pytest.fixture
def taught(bank: ReasoningBank) -> ReasoningBank:
    live(bank, 60)
    fit_now(bank)
    return bank


def fit_now(bank: ReasoningBank) -> None:
    """Fit as if it were due."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fitting, "is_due", lambda changes, fitted: True)
        assert fitting.fit_again(bank._engine)


def test_a_bank_learns_by_itself_how_far_its_evidence_can_be_trusted(bank: ReasoningBank) -> None:
    live(bank, 10)
    assert bank.upkeep.status().parameters is None

    live(bank, 60)

    assert learned(bank)["helped"] > STARTING.helped
    assert learned(bank)["unhelped"] < STARTING.unhelped
    assert [name for name, _ in learned(bank)["judges"]] == ["ada"]


def test_looking_after_a_bank_fits_nothing(bank: ReasoningBank) -> None:
    live(bank, 5)
    bank.upkeep.maintain()

    assert bank.upkeep.status().parameters is None


def test_what_was_learned_survives_a_restart(taught: ReasoningBank, open_bank: OpenBank) -> None:
    again = open_bank()

    assert learned(again) == learned(taught)
    assert confidences(again) == confidences(taught)


def test_folding_again_leaves_parameters_and_confidences_alone_and_teaches_the_same(taught: ReasoningBank) -> None:
    before, beliefs = learned(taught), confidences(taught)

    taught.upkeep.rebuild()
    assert (learned(taught), confidences(taught)) == (before, beliefs)

    fit_now(taught)
    assert learned(taught) == before


def test_rolling_up_leaves_parameters_and_confidences_alone_and_teaches_the_same(
    taught: ReasoningBank, clock: Clock
) -> None:
    before, beliefs = learned(taught), confidences(taught)
    clock.move(days=40)
    other = taught.record("Other", "Something else altogether", outcome="success").memory.id
    taught.vote(other, True, kind="stability")
    taught.delete(other)

    assert taught.upkeep.maintain().rolled_up
    assert (learned(taught), confidences(taught)) == (before, beliefs)

    fit_now(taught)
    assert rounded(learned(taught)) == rounded(before)


@pytest.mark.folder_only
def test_a_backup_has_what_was_learned(taught: ReasoningBank, open_bank: OpenBank, tmp_path: Any) -> None:
    taught.upkeep.backup(tmp_path / "copy" / taught.upkeep.status().folder.removeprefix(f"{taught.root}/"))

    assert learned(open_bank(root=tmp_path / "copy")) == learned(taught)


@pytest.mark.parametrize("model", ["spec", "ema"])
def test_the_other_models_are_never_fitted(open_bank: OpenBank, model: Any) -> None:
    bank = open_bank(settings=Settings(confidence_model=model))
    live(bank, 60)

    assert bank.upkeep.status().parameters is None


def test_a_fit_that_another_process_overtook_is_dropped(taught: ReasoningBank, clock: Clock) -> None:
    before = learned(taught)
    other = Fit(replace(STARTING, helped=0.99), 1, clock())

    assert not fitting.put_into_force(taught._engine, other, after=0)
    assert learned(taught) == before


@pytest.mark.folder_only
def test_a_fit_that_cannot_be_stored_costs_no_report(
    open_bank: OpenBank, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = open_bank(settings=Settings(busy_timeout=0.01))
    live(bank, 10)
    recall = bank.recall(LESSONS["good"])
    monkeypatch.setattr(fitting, "is_due", lambda changes, fitted: True)
    path = next(Path(str(bank.root)).rglob("bank.sqlite3"))
    blocker = sqlite3.connect(path, isolation_level=None)

    def fit_while_another_process_writes(evidence: ProjectEvidence, start: Start) -> Parameters:
        blocker.execute("BEGIN IMMEDIATE")
        return fit(evidence, start)

    monkeypatch.setattr(fitting, "fit", fit_while_another_process_writes)
    with caplog.at_level(logging.WARNING):
        reported = bank.report("success", ref=recall.ref)
    blocker.close()

    assert reported.recorded
    assert bank.runs.get(recall.ref).verdict == "success"
    assert "not fitted this time" in caplog.text
    assert bank.upkeep.status().parameters is None


def test_the_first_line_of_an_export_says_what_was_learned_or_that_nothing_was(
    taught: ReasoningBank, open_bank: OpenBank
) -> None:
    fresh = open_bank(project="fresh")
    fresh.record("Quote paths", LESSONS["good"], outcome="success")

    first, second = map(json.loads, exported(taught))
    assert first["parameters"] == json.loads(json.dumps(learned(taught)))
    assert "parameters" not in second
    assert json.loads(exported(fresh)[0])["parameters"] is None


def test_a_copy_takes_over_what_was_learned_and_a_bank_with_memories_does_not(
    taught: ReasoningBank, open_bank: OpenBank
) -> None:
    copy, other, stranger = (open_bank(project=name) for name in ("copy", "other", "stranger"))
    other.record("Pin versions", "Pin every version of a dependency", outcome="success")
    for bank, trusted in ((copy, True), (other, True), (stranger, False)):
        bank.exchange.import_from(exported(taught), trusted=trusted)

    assert learned(copy) == learned(taught)
    assert confidences(copy) == pytest.approx(confidences(taught))
    assert other.upkeep.status().parameters is None
    assert stranger.upkeep.status().parameters is None


@pytest.mark.parametrize("wrong", [[], {"accuracy": 2}, {**STARTING.record(), "helped": 0.1}])
def test_parameters_that_cannot_be_used_are_a_bad_line(
    taught: ReasoningBank, open_bank: OpenBank, wrong: object
) -> None:
    first, second = exported(taught)
    copy = open_bank(project="copy")

    done = copy.exchange.import_from([json.dumps(json.loads(first) | {"parameters": wrong}), second], trusted=True)

    assert [bad.line for bad in done.rejected] == [1]
    assert "parameters" in done.rejected[0].reason
    assert copy.count() == 1

"""Commands of consolidation."""

from __future__ import annotations

import json

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli
from tests.llm.endpoint import ANSWERS, completion, serving

SAID = "Find every configuration file under the directory /etc/app and delete the ones nobody reads"
REWORDED = "Find every configuration file under the directory /etc/app and remove the ones nobody reads"


def test_consolidate_proposes_then_merges_and_undo_merge_takes_it_apart(cli: Cli, bank: ReasoningBank) -> None:
    one = bank.record(SAID[:40], SAID, outcome="success").memory
    assert cli("consolidate").out == "No two memories say the same.\n"
    other = bank.record(REWORDED[:40], REWORDED, outcome="success").memory

    assert f"merge: {one.id}, {other.id}: 2 memories say the same" in " ".join(cli("consolidate").out.split())
    assert bank.count() == 2
    (change,) = cli("consolidate", "--apply", "--json").json["changes"]
    assert bank.count() == 1
    assert "less than a day ago" in cli("consolidate", "--apply").out
    assert f"Restored: {one.id}, {other.id}" in " ".join(cli("undo-merge", change["result"]).out.split())
    assert bank.count() == 2
    assert cli("consolidate", "--apply", "--force", "--json").json["changes"] == []


def test_consolidate_asks_about_other_words_and_merge_carries_it_out(cli: Cli, bank: ReasoningBank) -> None:
    for content in (SAID, SAID.replace("Find", "Search for")):
        bank.record(content[:40], content, outcome="success")

    said = " ".join(cli("consolidate", "--apply").out.split())
    command = said.partition("if so: reasoningbank ")[2]

    assert said.startswith("The same? merge: ")
    assert bank.count() == 2
    assert cli(*command.split()).out.startswith("Merged into merged-")
    assert bank.count() == 1


def test_consolidate_says_what_it_could_not_merge(cli: Cli, bank: ReasoningBank) -> None:
    import io

    from reasoningbank.cli.merging import consolidated
    from reasoningbank.cli.terminal import PipeConsole
    from reasoningbank.upkeep import Change, Consolidated

    out = io.StringIO()
    consolidated(PipeConsole(file=out), Consolidated(skipped=(Change("merge", ("a", "b"), "no answer"),)))

    assert out.getvalue() == "Not merged: a, b: no answer\n"


def test_prune_proposes_then_archives_and_restore_undoes_it(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("Guess", "Guess the port", outcome="success", confidence=0.4).memory
    assert cli("prune").out == "Nothing is to be pruned.\n"

    proposed = " ".join(cli("prune", "--unused-days", "0").out.split())
    assert proposed.startswith(f"archive: {memory.id}: not used for 0 days, and doubted")
    assert cli("prune", "--unused-days", "0", "--apply", "--json").json["done"]
    assert bank.count() == 0
    assert cli("restore", memory.id).out.startswith("Restored: Guess")


def test_maintain_says_what_it_would_do_and_what_could_be_done(cli: Cli, bank: ReasoningBank) -> None:
    for content in (SAID, REWORDED):
        bank.record(content[:40], content, outcome="success")

    said = " ".join(cli("maintain", "--dry-run").out.split())

    assert said.startswith("Would roll up 0 segments, close 0 old episodes, archive 0 memories whose time is over")
    assert "merge: " in said
    assert "suggested: " in said
    assert cli("maintain", "--dry-run", "--json").json["dry_run"] is True
    assert bank.count() == 2


def test_recommend_shows_the_strategy_its_evidence_and_the_runner_up(cli: Cli, bank: ReasoningBank) -> None:
    bank.record("Sourdough", "Feed it each morning", outcome="failure")
    assert cli("recommend", "pin", "versions").out == "No strategy fits.\n"
    bank.record("Pin versions", "Pin each version in the lock file", outcome="success")
    bank.record("Pin versions loosely", "Pin major versions only", outcome="success", confidence=0.5)

    said = cli("recommend", "pin", "versions").out
    assert said.startswith("Pin versions  (confidence 0.80")
    assert "Evidence: used 0 times" in said
    assert "Runner-up: Pin versions loosely" in said
    assert cli("recommend", "pin versions", "--json").json["strategy"]["memory"]["title"] == "Pin versions"
    assert "Nothing is clearly relevant" in cli("recommend", "loosely", "baked", "bread", "of", "major", "towns").out


def test_a_model_may_write_the_merged_lesson(cli: Cli, bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch) -> None:
    item = {"title": "Tidy /etc/app", "content": "Delete what nobody reads.", "outcome": "success"}
    monkeypatch.setitem(ANSWERS, "merging", completion("merging", json.dumps({"memories": [item]})))
    for content in (SAID, REWORDED):
        bank.record(content[:40], content, outcome="success")

    with serving() as url:
        done = cli("consolidate", "--apply", "--model", "merging", "--base-url", url, "--json").json

    (merged,) = done["changes"]
    assert bank.get(merged["result"]).title == "Tidy /etc/app"


def test_the_help_of_maintain_says_what_is_off_and_how_to_switch_it_on(cli: Cli) -> None:
    said = " ".join(cli("maintain", "--help").out.split())

    for name in ("auto_suggest=false", "auto_consolidate=true", "auto_prune=true", "max_memories=N"):
        assert name in said
    assert "Off by default" in said

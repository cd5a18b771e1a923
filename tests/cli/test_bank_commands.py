"""Commands about the bank as a whole, and memories in and out."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from reasoningbank import BankRoot, ReasoningBank, State
from reasoningbank.cli import session
from reasoningbank.services.credit import fitting
from tests.cli.conftest import Cli


@pytest.fixture
def memory_id(bank: ReasoningBank) -> str:
    return bank.record("Quote paths", "Put paths in quotes", outcome="failure", tags=["shell"]).memory.id


# -- the bank ------------------------------------------------------------------------------------------------------


def test_status_names_folder_scope_and_where_each_value_came_from(
    cli: Cli, memory_id: str, bank: ReasoningBank
) -> None:
    out = cli("status", "--project", "billing").out
    lines = {line.partition(":")[0]: line for line in out.splitlines()}

    assert bank.upkeep.status().folder in out
    assert "(REASONINGBANK_TENANT)" in lines["tenant"]
    assert "(--project)" in lines["project"]
    assert "1 active" in lines["memories"]
    assert lines["open episodes"] == "open episodes: 0"
    assert cli("status", "--json").json["memories"] == {"active": 1}


def test_status_of_nothing_makes_nothing(cli: Cli, scope: dict[str, str]) -> None:
    assert "Nothing was recorded yet" in cli("status").out
    assert not Path(scope["REASONINGBANK_ROOT"]).exists()


def test_metrics_show_criteria_bars_rates_and_weights(
    cli: Cli, bank: ReasoningBank, memory_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nothing to compare yet" in cli("metrics").out
    monkeypatch.setattr(fitting, "is_due", lambda changes, fitted: True)
    for number in range(31):
        ref = bank.recall("put paths in quotes", ref=f"run {number}").ref
        bank.vote(memory_id, number > 0, ref=ref)
        bank.report(number > 0, ref=ref)

    out = cli("metrics", "--days", "7").out

    assert "✓ SC-001 0.968 (goal >= 0.75; 31 seen)" in out
    assert "? SC-003 –" in out
    assert "too few: needs 20" in out
    assert "Confidences against votes: 31, ECE " in out
    assert "with lessons" in out
    assert "Weights since" in out
    assert cli("metrics", "--json").json["votes"]["count"] == 31
    assert "of votes are right" in cli("status").out
    assert cli("metrics", "--days", "0").code == 2


def test_upkeep_commands_say_what_they_did(cli: Cli, memory_id: str, tmp_path: Path) -> None:
    assert cli("maintain").out.startswith("Rolled up 0 segments")
    assert cli("maintain", "--json").json["expired"] == 0
    assert cli("doctor").out == "All is as it should be.\n"
    assert cli("doctor", "--dry-run", "--json").json == {"repairs": []}
    assert cli("rebuild").out == "Rebuilt what is derived.\n"
    assert cli("reembed", "--json").json == {"embedded": 1, "embedder": "hash"}
    assert cli("reembed").out == "Embedded 1 memories with hash.\n"
    assert cli("backup", str(tmp_path / "copy")).code == 0
    assert cli("backup", str(tmp_path / "copy2"), "--json").json == {"backup": str(tmp_path / "copy2")}
    assert (tmp_path / "copy" / "bank.sqlite3").is_file()


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["maintain"], "Keeping the bank good"),
        (["doctor"], "Looking through the bank"),
        (["rebuild"], "Rebuilding"),
        (["backup", "{tmp}/copy"], "Copying"),
        (["reembed"], "Embedding"),
    ],
)
def test_upkeep_that_takes_longer_than_a_moment_shows_a_bar_in_a_terminal(
    cli: Cli, memory_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], shown: str
) -> None:
    arguments = [argument.replace("{tmp}", str(tmp_path)) for argument in command]
    monkeypatch.setenv("FORCE_COLOR", "1")
    with monkeypatch.context() as patched:
        patched.setattr(session, "MOMENT", 0.0)
        patched.setattr(threading.Timer, "cancel", lambda timer: None)
        ran = cli(*arguments, "--json")

    assert shown in ran.err
    assert ran.code == 0
    assert "\x1b" not in ran.out
    quick = cli("doctor")
    assert "Looking" not in quick.err


def test_doctor_says_what_it_mended(cli: Cli, bank: ReasoningBank, memory_id: str) -> None:
    bank.vote(memory_id, True)
    (segment,) = Path(bank.upkeep.status().folder, "signals").iterdir()
    segment.write_bytes(segment.read_bytes() + b"not a signal\n")

    assert "to do" in cli("doctor", "--dry-run").out
    assert "done" in cli("doctor").out
    assert "Problem: 1 lines of the signal log cannot be read" in cli("status").out


def test_projects_lists_and_delete_project_deletes_one(cli: Cli, scope: dict[str, str], memory_id: str) -> None:
    cli("record", "Other", "Another lesson", "--project", "other")
    assert cli("projects").out == "billing  1 active memories, 0 runs\nother  1 active memories, 0 runs\n"

    assert cli("delete-project", "other", stdin="n\n").code == 130
    assert [each["project"] for each in cli("projects", "--json").json["projects"]] == ["billing", "other"]

    ran = cli("delete-project", "other", stdin="y\n")
    assert "Delete project 'other' of tenant 'acme' with 1 memories, for good?" in ran.err
    assert ran.out == "Deleted project 'other'.\n"
    assert cli("delete-project", "billing", "--yes", "--json").json == {"project": "billing", "deleted": True}
    assert cli("projects").out == f"Tenant 'acme' has no projects in {scope['REASONINGBANK_ROOT']}.\n"
    assert BankRoot(scope["REASONINGBANK_ROOT"], tenant="acme").projects() == []


# -- in and out ----------------------------------------------------------------------------------------------------


def test_import_keeps_good_lines_and_says_which_were_bad(cli: Cli, bank: ReasoningBank, tmp_path: Path) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text('{"text": "Quote paths"}\n{bad\n{"text": "Read errors", "outcome": "maybe"}\n', "utf-8")

    ran = cli("import", str(file))

    assert ran.code == 1
    assert ran.out.startswith("Imported: 1 new, 0 there already, 2 bad.\nline 2: not JSON")
    assert "line 3: outcome 'maybe'" in ran.out
    assert bank.count() == 1
    assert [bad["line"] for bad in cli("import", str(file), "--json").json["rejected"]] == [2, 3]


def test_import_says_what_else_happened(cli: Cli, bank: ReasoningBank) -> None:
    lines = [
        {"id": "a", "text": "Use AKIA" + "IOSFODNN7EXAMPLQ to log in"},
        {"id": "a", "text": "Something else"},
        {"format": "reasoningbank/1", "text": "x", "state": "quarantined"},
        *({"text": ""} for _ in range(25)),
    ]

    out = cli("import", "-", "--by", "handbook", stdin="".join(json.dumps(line) + "\n" for line in lines)).out

    assert "Removed what looked like secrets" in out
    assert "line 2: memory 'a' is there and says something else" in out
    assert "1 are quarantined and not served" in out
    assert "line 4 and 24 more" in out
    assert {memory.source.by for memory in bank.list(state=None).memories} == {"handbook"}


def test_export_writes_what_import_reads(cli: Cli, bank: ReasoningBank, tmp_path: Path, memory_id: str) -> None:
    bank.vote(memory_id, True)
    file = tmp_path / "out.jsonl"

    assert cli("export", str(file)).out.replace("\n", " ").startswith("Wrote 1 memories to")
    assert cli("export").out == file.read_text("utf-8")
    assert cli("export", str(file), "--json").json == {"exported": 1, "file": str(file), "withheld": {}}
    ran = cli("import", str(file), "--trusted", "--project", "copy", "--json")
    assert ran.json["created"] == 1
    assert cli("export", "--project", "copy").out == file.read_text("utf-8")


def test_export_says_what_stayed_behind(cli: Cli, bank: ReasoningBank, tmp_path: Path, memory_id: str) -> None:
    other = bank.record("Mind the gap", "Between train and platform", outcome="failure", tags=["rail"]).memory
    bank.upkeep.archive(memory_id)
    file = tmp_path / "out.jsonl"

    assert "Stayed behind: 1 archived; --all" in cli("export", str(file)).out.replace("\n", " ")
    assert cli("export", str(file), "--json").json["withheld"] == {"archived": 1}
    assert cli("export", str(file), "--tag", "rail", "--json").json["withheld"] == {}
    assert cli("export", str(file), "--state", "archived", "--json").json["withheld"] == {"active": 1}
    assert memory_id in file.read_text("utf-8")
    assert other.id not in file.read_text("utf-8")
    assert cli("export", str(file), "--all", "--expired", "--json").json["exported"] == 2


def test_states_are_shown_where_they_are_not_the_usual_one(cli: Cli, bank: ReasoningBank) -> None:
    bank.exchange.import_from([{"format": "reasoningbank/1", "id": "q", "text": "x", "state": "quarantined"}])

    assert "quarantined" in cli("list", "--state", "quarantined").out
    assert "quarantined" in cli("show", "q").out
    assert bank.get("q").state is State.QUARANTINED


def test_export_writes_a_folder_of_pages(cli: Cli, bank: ReasoningBank, tmp_path: Path, memory_id: str) -> None:
    folder = tmp_path / "pages"

    assert cli("export", str(folder), "--format", "markdown", "--json").json["exported"] == 1
    assert cli("import", str(folder), "--trusted", "--project", "copy", "--json").json["created"] == 1
    assert cli("show", memory_id, "--project", "copy").code == 0
    assert "name a FILE" in cli("export", "--format", "markdown").err


# -- pins ----------------------------------------------------------------------------------------------------------


def test_a_pin_is_set_shown_and_removed(cli: Cli, bank: ReasoningBank, memory_id: str) -> None:
    assert cli("pins").out == "Nothing is pinned.\n"
    assert cli("pin", memory_id).out == "Pinned: Quote paths\n"
    assert cli("pin", memory_id, "--tag", "ops").out == "Pinned: Quote paths (for #ops)\n"

    assert [pin["tag"] for pin in cli("pins", "--json").json["pins"]] == ["", "ops"]
    assert "for #ops" in cli("pins").out
    assert "pinned" in cli("list").out
    assert "always, for #ops" in cli("show", memory_id).out
    assert cli("show", memory_id, "--json").json["pinned"] == ["", "ops"]
    assert "pinned" in cli("recall", "bake a cake").out

    assert cli("unpin", memory_id).out == "Not pinned any more.\n"
    unpinned = cli("unpin", memory_id)
    assert (unpinned.code, unpinned.out) == (1, "There was no such pin.\n")
    assert "pinned" not in cli("list").out

"""Putting a memory right from the command line."""

from __future__ import annotations

from tests.cli.conftest import Cli


def recorded(cli: Cli, content: str) -> str:
    return str(cli("record", "Clean up", content, "--json").json["memory"]["id"])


def test_history_shows_each_change_and_a_revision_can_be_put_back(cli: Cli) -> None:
    memory_id = recorded(cli, "Run rm -rf /build")
    assert "It was never changed." in cli("show", memory_id, "--history").out

    cli("update", memory_id, "--content", "Run rm -rf ./build", "--tag", "shell", "--reason", "wrong", "--by", "ada")

    shown = cli("show", memory_id, "--history").out
    assert "Revision 1, changed" in shown
    assert "by ada: wrong" in shown
    assert "-content: Run rm -rf /build" in shown
    assert "+content: Run rm -rf ./build" in shown
    assert cli("show", memory_id, "--history", "--json").json["revisions"][0]["reason"] == "wrong"
    assert cli("restore", memory_id, "--revision", "1").code == 0
    assert cli("show", memory_id, "--json").json["content"] == "Run rm -rf /build"
    assert cli("restore", memory_id, "--revision", "9").code == 1


def test_one_memory_takes_anothers_place(cli: Cli) -> None:
    old, new = recorded(cli, "Run rm -rf /build"), recorded(cli, "Run make clean")

    assert cli("supersede", old, new, "--reason", "make knows the folder").code == 0
    assert cli("show", old, "--json").json["state"] == "archived"
    assert cli("archive", new, "--reason", "no longer").code == 0
    assert "by hand: no longer" in cli("record", "Clean up", "Run make clean").out
    assert cli("delete", new, "--no-mark").code == 0
    assert "Recorded" in cli("record", "Clean up", "Run make clean").out

"""claude-flow's five commands on a bank."""

from __future__ import annotations

from pathlib import Path

from reasoningbank import BankRoot
from tests.cli.conftest import Cli


def test_what_is_stored_is_found_listed_and_deleted(cli: Cli, scope: dict[str, str]) -> None:
    stored = cli("memory", "store", "api/limits", "Wait a second between calls", "--namespace", "ops")
    assert stored.out.startswith("Stored api/limits in ops: ")

    assert "Wait a second" in cli("memory", "query", "wait", "between", "calls", "--namespace", "ops").out
    assert "api/limits" in cli("memory", "list", "--ns", "ops").out
    assert "1 active" in cli("memory", "status", "-n", "ops").out
    assert BankRoot(scope["REASONINGBANK_ROOT"], tenant="acme").projects() == ["ops"]

    assert cli("memory", "delete", "api/limits", "--namespace", "ops").out == "Deleted api/limits from ops.\n"
    gone = cli("memory", "delete", "api/limits", "--namespace", "ops")
    assert (gone.code, gone.out) == (1, "Nothing is stored under api/limits in ops.\n")


def test_the_namespace_is_default_unless_given_whatever_the_environment_says(cli: Cli, scope: dict[str, str]) -> None:
    cli("memory", "store", "style", "Write short sentences")

    assert BankRoot(scope["REASONINGBANK_ROOT"], tenant="acme").projects() == ["default"]


def test_a_key_holds_one_value(cli: Cli) -> None:
    first = cli("memory", "store", "style", "Write short sentences", "--json").json
    cli("memory", "store", "style guide", "Something else")
    second = cli("memory", "store", "style", "-", "--json", stdin="Write shorter sentences").json

    assert second["id"] == first["id"]
    listed = cli("memory", "list", "--json").json["memories"]
    assert [(m["title"], m["content"]) for m in listed] == [
        ("style", "Write shorter sentences"),
        ("style guide", "Something else"),
    ]
    assert cli("memory", "delete", "style", "--json").json == {"deleted": [first["id"]]}


def test_looking_makes_nothing(cli: Cli, scope: dict[str, str]) -> None:
    assert cli("memory", "query", "anything").out == "Nothing fits.\n"
    assert cli("memory", "list").out == "No memories.\n"
    assert cli("memory", "delete", "key").code == 1
    assert cli("memory", "status", "--json").json["exists"] is False
    assert not Path(scope["REASONINGBANK_ROOT"]).exists()


def test_without_a_command_the_group_shows_its_help(cli: Cli) -> None:
    ran = cli("memory")

    assert (ran.code, ran.err) == (2, "")
    assert "store" in ran.out
    assert cli().code == 2

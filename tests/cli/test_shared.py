"""Shared banks on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def org(cli: Cli) -> Cli:
    assert cli("shared", "create", "org", "--writes", "billing", "--approves", "sales", "--approver", "ann").code == 0
    assert cli("record", "Quote paths", "Put paths in quotes: names hold blanks.", "--outcome", "failure").code == 0
    return cli


def memory_of(cli: Cli) -> str:
    found: str = cli("list", "--json").json["memories"][0]["id"]
    return found


def memory_in(cli: Cli) -> str:
    found: str = cli("shared", "review", "org", "--project", "sales", "--json").json["memories"][0]["id"]
    return found


def test_a_lesson_goes_from_one_project_to_another_by_way_of_a_review(org: Cli) -> None:
    said = org("promote", memory_of(org), "--to", "org", "--shared", "org", "--json").json

    assert said["waits"]
    assert org("shared", "approve", said["memory"]["id"], "--shared", "org").code != 0
    waiting = org("shared", "review", "org", "--shared", "org", "--person", "ann")
    assert "Quote paths" in waiting.out
    assert org("shared", "approve", said["memory"]["id"], "--shared", "org", "--person", "ann").code == 0

    recalled = org("recall", "put paths in quotes", "--project", "sales", "--shared", "org", "--json").json
    assert [hit["level"] for hit in recalled["hits"]] == ["org"]
    assert org("report", "success", "--last", "--project", "sales", "--shared", "org").code == 0
    status = org("status", "--project", "sales", "--shared", "org", "--json").json["shared"]
    assert [(each["name"], each["may"], each["due"]) for each in status] == [("org", "approve", 0)]
    assert org("metrics", "--project", "sales", "--json").json["shared"] == {"org": 1}
    assert org("demote", said["memory"]["id"], "--project", "sales", "--shared", "org").code == 0
    assert org("recall", "put paths in quotes", "--project", "sales", "--shared", "org", "--json").json["hits"] == []


def test_a_command_that_names_its_shared_bank_needs_no_option_for_it(org: Cli) -> None:
    waiting = org("promote", memory_of(org), "--to", "org")

    assert "it waits for a review" in waiting.out
    assert "Quote paths" in org("shared", "review", "org").out
    assert "nothing new is worth sharing" in org("suggest-promotions", "--to", "org").out.lower()
    closed = org("shared", "review", "org", "--project", "stranger")
    assert (closed.code, "no shared bank 'org' is open to this project" in closed.err) == (1, True)
    for verb in (("shared", "approve"), ("demote",), ("shared", "correct")):
        told = org(*verb, "00")
        assert (told.code, "--shared BANK" in told.err) == (2, True)


def test_a_recall_says_where_a_lesson_is_from_and_a_report_that_it_was_credited(org: Cli) -> None:
    copy = org("promote", memory_of(org), "--to", "org", "--project", "billing").out
    assert copy
    assert org("shared", "approve", memory_in(org), "--shared", "org", "--project", "sales").code == 0

    shown = org("recall", "put paths in quotes", "--project", "sales", "--shared", "org").out
    assert "from org" in shown.splitlines()[0]
    assert "1 memories credited" in org("report", "success", "--last", "--project", "sales", "--shared", "org").out
    assert "Nothing new" in org("report", "success", "--last", "--project", "sales", "--shared", "org").out


def test_deleting_a_lesson_says_that_its_shared_copy_stays(org: Cli) -> None:
    own = memory_of(org)
    copy = org("promote", own, "--to", "org", "--shared", "org", "--json").json["memory"]["id"]

    assert f"The shared copy stays: {copy} in org" in org("delete", own, "--shared", "org").out


def test_what_is_specific_stops_a_promotion_and_is_named(org: Cli) -> None:
    org("record", "Deploy", "Deploy by /srv/files/deploy.sh", "--outcome", "success")
    own = org("list", "--json").json["memories"][1]["id"]

    stopped = org("promote", own, "--to", "org", "--shared", "org")

    assert stopped.code == 1
    assert "/srv/files/deploy.sh" in stopped.out
    assert org("promote", own, "--to", "org", "--shared", "org", "--content", "Deploy by the script").code == 0


def test_members_come_and_go(org: Cli) -> None:
    assert org("shared", "add", "org", "--member", "late").code == 0
    assert "project late may read" in org("shared", "list").out
    assert org("shared", "remove", "org", "--member", "late").code == 0
    assert org("shared", "remove", "org", "--member", "late").code == 1
    assert org("shared", "delete", "org").code == 2
    assert org("shared", "delete", "org", "--yes").code == 0
    assert org("shared", "list", "--json").json == {"shared": []}
    assert "no shared bank" in org("shared", "status").out.lower()


def test_a_closed_bank_is_no_error_of_a_recall(org: Cli) -> None:
    said = org("recall", "put paths in quotes", "--shared", "secret", "--json")

    assert said.code == 0
    assert "is left out" in said.json["degraded"][0]


def test_the_beginning_of_an_id_does_for_shared_lessons_too(org: Cli) -> None:
    org("promote", memory_of(org), "--to", "org", "--shared", "org")
    (waiting,) = org("shared", "review", "org", "--shared", "org", "--person", "ann", "--json").json["memories"]
    begins, known = waiting["id"][:8], ("--shared", "org", "--person", "ann")

    assert waiting["id"] in org("shared", "review", "org", *known).out
    assert org("shared", "approve", begins, *known).code == 0
    assert waiting["title"] in org("show", begins, *known).out
    assert org("vote", begins, "--helpful", *known).code == 0
    assert begins in org("shared", "links", begins, *known).out
    assert org("demote", begins, *known).code == 0
    assert "no memory" in org("show", begins).err


def test_moving_all_takes_the_shared_banks_along(org: Cli, tmp_path: Path) -> None:
    moved = org("move", "--all", "--to", str(tmp_path / "elsewhere"))

    assert moved.code == 0
    assert "shared bank org:" in moved.out
    assert org("shared", "list", "--json").json["shared"] == []
    there = org("shared", "list", "--json", "--root", str(tmp_path / "elsewhere")).json["shared"]
    assert [(bank["name"], len(bank["members"])) for bank in there] == [("org", 3)]

"""Commands link, unlink and links."""

from __future__ import annotations

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli


@pytest.fixture
def ids(bank: ReasoningBank) -> list[str]:
    texts = {"Deploy": "Run deploy-blue for production", "Tunnel": "Connect with wireguard first"}
    return [bank.record(title, content, outcome="success").memory.id for title, content in texts.items()]


def test_a_link_is_set_shown_changed_and_removed(cli: Cli, ids: list[str]) -> None:
    one, other = ids
    assert cli("link", one, "requires", other, "--strength", "0.9", "--evidence", "internal hosts").out == (
        f"Linked: {one} requires {other}  0.90\n"
    )
    assert cli("link", one, "requires", other).out.startswith("Changed: ")
    assert cli("link", one, "requires", other, "--evidence", "why", "--json").json["created"] is False
    assert cli("links", other).out == f"{one} requires {other}  1.00\n    'Deploy' requires 'Tunnel'\n    why\n"
    assert [link["type"] for link in cli("links", one, "--json").json["links"]] == ["requires"]
    assert cli("unlink", one, other, "--type", "requires").out == "Removed 1 links.\n"
    ran = cli("unlink", one, other, "--json")
    assert (ran.code, ran.json) == (1, {"removed": 0})
    assert cli("links", one).out == "No links.\n"


def test_an_unknown_type_is_noted(cli: Cli, ids: list[str]) -> None:
    assert "Note: link type 'entails' is not a known one" in cli("link", ids[0], "entails", ids[1]).out


def test_links_wants_a_memory_or_asks_for_suggestions(cli: Cli, ids: list[str]) -> None:
    assert cli("links").code == 2
    assert cli("links", ids[0], "--suggest").code == 2
    assert cli("links", "--suggest", "--json").json == {"links": []}


def test_recall_shows_what_came_along_and_what_conflicts(cli: Cli, ids: list[str]) -> None:
    cli("link", ids[0], "requires", ids[1])
    cli("link", ids[0], "conflicts", ids[1], "--evidence", "one at a time")
    out = cli("recall", "run deploy-blue for production", "-n", "1", "--expand-links").out

    assert "Tunnel  required" in out
    assert "'Tunnel' cannot both be followed: one at a time." in " ".join(out.split())
    found = cli("recall", "run deploy-blue for production", "-n", "1", "--expand-links", "--json").json
    assert found["required"] == [ids[1]]

"""Whose memories a server serves, and under whose name it records."""

from __future__ import annotations

import json

import pytest

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.mcp_server import ManyProjects, Offer, OneProject
from tests.mcp_server.conftest import RECORD, call, refusal


def test_a_server_of_one_project_takes_no_project(offer: Offer, bank: ReasoningBank) -> None:
    said = refusal(offer, "memory_record", **RECORD, project_id="other")

    assert said == "memory_record failed: this server is bound to project 'billing': leave project_id out"
    assert "project_id" not in json.dumps(offer.tools())


@pytest.fixture
def several(scope: dict[str, str]) -> Offer:
    banks = BankRoot(scope["REASONINGBANK_ROOT"], tenant="acme", embedder="hash")
    return Offer(ManyProjects(banks, ("billing", "sales")))


def test_a_server_of_several_projects_keeps_them_apart(several: Offer) -> None:
    memory_id = call(several, "memory_record", **RECORD, project_id="sales")["memory_id"]

    assert call(several, "memory_search", query="quote paths", project_id="billing")["memories"] == []
    (hit,) = call(several, "memory_search", query="quote paths", project_id="sales")["memories"]
    assert hit["project"] == "sales"
    assert "no memory" in refusal(several, "memory_feedback", memory_id=memory_id, helpful=True, project_id="billing")
    assert json.loads(several.read(f"memory://sales/{memory_id}")[0]["text"])["memory_id"] == memory_id


@pytest.mark.parametrize("project", ["secret", "", None, 5, "../sales"])
def test_a_project_that_is_not_served_is_refused(several: Offer, project: object) -> None:
    said = refusal(several, "memory_search", query="x", project_id=project)

    assert "give one of billing, sales" in said
    with pytest.raises(Exception, match=r"not served here|not of the form"):
        several.read("memory://secret/status")


def test_a_project_that_is_nearly_right_is_named(several: Offer) -> None:
    assert "did you mean 'sales'?" in refusal(several, "memory_search", query="x", project_id="sale")
    schema = several.tools()[0]["inputSchema"]
    assert schema["properties"]["project_id"]["enum"] == ["billing", "sales"]
    assert "project_id" in schema["required"]


def test_what_is_recorded_names_its_source_and_its_trust(bank: ReasoningBank) -> None:
    call(Offer(OneProject(bank), by="claude", trusted=False), "memory_record", **RECORD)

    source = bank.list().memories[0].source
    assert (source.by, source.trusted) == ("claude", False)


def test_a_read_only_server_only_looks(bank: ReasoningBank) -> None:
    bank.record(**RECORD)
    offer = Offer(OneProject(bank), read_only=True)

    assert "ref" not in call(offer, "memory_search", query="quote paths")
    assert "there is no tool 'memory_record'" in refusal(offer, "memory_record", **RECORD)
    assert bank.list().memories[0].usage_count == 0
    assert bank.upkeep.status().open_episodes == 0

"""Exports of other tools come in, each in the form it really has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reasoningbank import InvalidInputError, Memory, ReasoningBank, Verdict
from reasoningbank.exchange import Imported
from tests.formats.conftest import PAPER_ITEMS, Written, database


def by_title(bank: ReasoningBank) -> dict[str, Memory]:
    return {memory.title: memory for memory in bank.list(state=None, limit=1000).memories}


def test_agentic_flow_and_claude_flow(bank: ReasoningBank, swarm: Path) -> None:
    before = swarm.read_bytes()

    imported = bank.exchange.import_from(swarm)

    assert imported.created == 4
    assert [(bad.line, bad.reason[:8]) for bad in imported.rejected] == [(3, "not JSON")]
    login, pages = by_title(bank)["Handle login flows with CSRF tokens"], by_title(bank)["Avoid endless pagination"]
    assert (login.id, login.outcome, login.tags) == ("rm-1", Verdict.SUCCESS, ("web", "auth"))
    assert login.description == "Fetch the token before the POST."
    assert login.content.startswith("1) Load the login page")
    assert login.metadata == {"domain": "webarena.admin", "task_id": "task-7", "agent_id": "web"}
    assert pages.outcome is Verdict.FAILURE
    limits = by_title(bank)["api/limits"]
    assert (limits.id, limits.content) == ("ops/api/limits", "Wait a second between calls")
    assert limits.metadata == {"namespace": "ops", "by": "ada"}
    assert {m.initial_confidence for m in by_title(bank).values()} == {0.6}
    assert swarm.read_bytes() == before
    assert bank.exchange.import_from(swarm).existing == 4


def test_claude_flow_3_without_what_it_deleted(bank: ReasoningBank, swarm_3: Path) -> None:
    assert bank.exchange.import_from(swarm_3) == Imported(created=1, source="memory.db", untrusted=1)
    assert by_title(bank)["deploy"].tags == ("deploy",)


def test_the_json_that_claude_flow_exports(bank: ReasoningBank, written: Written) -> None:
    entry = {"key": "style", "value": "Write short sentences", "namespace": "docs", "timestamp": 1760000000000}

    assert bank.exchange.import_from(written("memory.json", json.dumps({"docs": [entry]}, indent=2))).created == 1
    assert bank.get("docs/style").metadata == {"namespace": "docs"}


def test_pypi_reasoning_bank(bank: ReasoningBank, written: Written) -> None:
    item = {
        "id": "mem_0a1b2c3d4e",
        "title": "Quote paths",
        "description": "Blanks split words.",
        "content": "Put paths in quotes.",
        "source": "failure",
        "task_signature": "rename the scans in a folder",
        "scope": "global",
        "embedding": [0.1] * 384,
        "created_at": "2026-01-02T03:04:05",
        "last_used_at": None,
        "use_count": 2,
        "confidence": 1.0,
        "related_ids": [],
    }

    bank.exchange.import_from(written("bank.jsonl", json.dumps(item) + "\n"))

    memory = bank.get("mem_0a1b2c3d4e")
    assert (memory.title, memory.outcome) == ("Quote paths", Verdict.FAILURE)
    assert memory.applies_when == "rename the scans in a folder"
    assert memory.metadata == {"scope": "global"}


def test_the_paper_s_code_gives_each_item_of_a_run(bank: ReasoningBank, written: Written) -> None:
    run = {
        "task_id": "47",
        "query": "What did I spend in March?",
        "think_list": ["I look at the orders."],
        "action_list": ["click('12')"],
        "status": "fail",
        "memory_items": PAPER_ITEMS,
        "template_id": 4,
    }
    nothing = run | {"memory_items": "I could not find anything worth keeping."}
    listed = run | {"memory_items": PAPER_ITEMS.split("\n\n")}

    imported = bank.exchange.import_from(
        written("runs.jsonl", "".join(json.dumps(r) + "\n" for r in (run, nothing, listed)))
    )

    memories = by_title(bank)
    assert list(memories) == ["Check the filters first", "Verify the total"]
    assert memories["Check the filters first"].content.startswith("Before searching, look which filters")
    assert memories["Verify the total"].description == "Compare sums."
    assert {m.outcome for m in memories.values()} == {Verdict.FAILURE}
    assert memories["Verify the total"].metadata == {
        "task_id": "47",
        "template_id": 4,
        "query": "What did I spend in March?",
    }
    assert (imported.created, imported.existing) == (2, 2)
    assert [(bad.line, bad.reason) for bad in imported.rejected] == [(2, "it holds no lesson")]


@pytest.mark.parametrize("key", ["results", "memories"])
@pytest.mark.parametrize("indent", [None, 2])
def test_mem0(bank: ReasoningBank, written: Written, key: str, indent: int | None) -> None:
    memory = {
        "id": "b1f7a3e4",
        "memory": "Prefers short answers in reviews",
        "hash": "d41d8cd9",
        "metadata": {"type": "preference"},
        "categories": ["style"],
        "user_id": "ada",
        "created_at": "2026-01-02T03:04:05-08:00",
        "updated_at": None,
        "score": 0.4,
    }

    bank.exchange.import_from(written("mem0.json", json.dumps({key: [memory], "count": 1}, indent=indent)))

    found = bank.get("b1f7a3e4")
    assert (found.title, found.content) == ("Prefers short answers in reviews",) * 2
    assert (found.tags, found.metadata) == (("style",), {"type": "preference", "user_id": "ada"})


def test_reme_s_memories(bank: ReasoningBank, written: Written) -> None:
    memory = {
        "workspace_id": "bfcl",
        "memory_id": "4cf250d6",
        "memory_type": "task",
        "when_to_use": "When an API call needs several steps.",
        "content": "Check the documentation for required parameters first.",
        "score": 0.8,
        "author": "qwen3-8b",
        "metadata": {"tags": ["api"], "step_type": "planning"},
    }

    bank.exchange.import_from(written("library.jsonl", json.dumps(memory) + "\n"))

    found = bank.get("4cf250d6")
    assert found.applies_when == "When an API call needs several steps."
    assert found.content.startswith("Check the documentation")
    assert found.tags == ("api",)
    assert found.metadata["author"] == "qwen3-8b"


def test_reme_s_vector_store(bank: ReasoningBank, written: Written) -> None:
    node = {
        "unique_id": "4cf250d6",
        "workspace_id": "bfcl",
        "content": "When an API call needs several steps.",
        "vector": [0.1] * 1024,
        "metadata": {"memory_type": "task", "content": "Check the documentation first.", "author": "qwen3-8b"},
    }
    other = {"unique_id": "x", "workspace_id": "bfcl", "content": "Only a text.", "metadata": {}}

    bank.exchange.import_from(written("store.jsonl", json.dumps(node) + "\n" + json.dumps(other) + "\n"))

    found = bank.get("4cf250d6")
    assert (found.content, found.applies_when) == (
        "Check the documentation first.",
        "When an API call needs several steps.",
    )
    assert "Only a text" in by_title(bank)


def test_texts_that_are_too_long_for_a_title_are_cut_and_lost_nowhere(bank: ReasoningBank) -> None:
    bank.exchange.import_from([{"key": "k" * 500, "value": "v"}])

    (title,) = by_title(bank)
    assert len(title) == 200
    assert title.endswith("…")
    assert by_title(bank)[title].content == f"{'k' * 500}\n\nv"


@pytest.mark.parametrize(
    ("content", "count"),
    [
        ('[{"text": "One lesson"}, {"text": "Another lesson"}]', 2),
        ('{\n  "text": "One lesson"\n}', 1),
        ('{"text": "One lesson"}', 1),
        ('{"text": "One lesson", "steps": [{"n": 1}]}\n{"text": "Another lesson"}\n', 2),
        ('\n\n{"text": "One lesson"}\n\n', 1),
        ("", 0),
    ],
)
def test_json_comes_as_lines_or_as_one_document(
    bank: ReasoningBank, written: Written, content: str, count: int
) -> None:
    assert bank.exchange.import_from(written("lessons.json", content)) == Imported(
        created=count, source="lessons.json", untrusted=count
    )


def test_a_document_that_is_torn_is_named_by_its_lines(bank: ReasoningBank, written: Written) -> None:
    imported = bank.exchange.import_from(written("lessons.json", '[\n  {"text": "One"},\n'))

    assert imported.created == 0
    assert [bad.line for bad in imported.rejected] == [1, 2]


def test_a_database_of_something_else_says_so(bank: ReasoningBank, tmp_path: Path) -> None:
    other = database(tmp_path / "other.db", "CREATE TABLE things (a);")
    torn = tmp_path / "torn.db"
    torn.write_bytes(other.read_bytes()[:100] + b"\xff" * 5000)

    with pytest.raises(InvalidInputError, match="neither patterns nor memory_entries"):
        bank.exchange.import_from(other)
    with pytest.raises(InvalidInputError, match="cannot be read as a database"):
        bank.exchange.import_from(torn)

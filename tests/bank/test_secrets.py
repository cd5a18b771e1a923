"""No secret gets into a bank, and one that was there before the rules were does not come out."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from reasoningbank import EmbedderIdentity, LLMDistiller, ReasoningBank
from reasoningbank.adapters import memory_tools
from reasoningbank.screening.scrub import Rule
from reasoningbank.vectors.base import Float32
from tests.conftest import OpenBank

PASSWORD = "maple-Xy9-kettle"
KEY = "sk-" + "a1B2" * 12
TOKEN = "ghp_" + "Ab3" * 12
SAID = f"prod password is {PASSWORD} and key {KEY}; rotate both before the first of May"


class Listening:
    """An embedder that keeps what it is shown."""

    identity = EmbedderIdentity("listening", "1", 2, "none", normalised=False)

    def __init__(self) -> None:
        self.heard: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(len(texts), 2)

    def embed_query(self, text: str) -> Float32:
        self.heard.append(text)
        return np.array([1.0, len(text) % 5], dtype=np.float32)


@pytest.mark.folder_only
def test_a_secret_reaches_no_file_no_log_no_embedder_and_no_model(
    open_bank: OpenBank, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder, asked = Listening(), list[str]()

    def model(messages: list[dict[str, str]]) -> str:
        asked.extend(message["content"] for message in messages)
        return json.dumps({"memories": [{"title": "Keys", "content": SAID}]})

    with caplog.at_level(logging.DEBUG):
        bank = open_bank(embedder=embedder)
        memory = bank.record("Keys", SAID, outcome="success", description=SAID, metadata={"note": SAID}).memory
        bank.search(SAID)
        ref = bank.recall(SAID).ref
        bank.report("failure", ref=ref, reason=SAID)
        bank.vote(memory.id, True, reason=SAID)
        bank.distill({"task": SAID, "steps": [SAID], "verdict": "success"}, distiller=LLMDistiller(model))
        bank.queue.put({"task": SAID, "steps": [SAID]}, "success")
        bank.exchange.export_to(tmp_path / "out.jsonl")
        bank.close()

    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert asked
    assert embedder.heard
    for secret in (PASSWORD, KEY):
        assert not any(secret.encode() in content for content in files)
        assert not any(secret in said for said in [*asked, *embedder.heard, caplog.text])
    assert "rotate both before the first of May" in memory.content


def search_tool(bank: ReasoningBank) -> object:
    return memory_tools(bank, read_only=True)[0]({"query": "log in to the server"})


def exported(bank: ReasoningBank) -> str:
    into = io.StringIO()
    bank.exchange.export_to(into)
    return into.getvalue()


READS: dict[str, Callable[[ReasoningBank], object]] = {
    "get": lambda bank: bank.get("m"),
    "list": lambda bank: bank.list(),
    "search": lambda bank: bank.search("log in to the server"),
    "recall": lambda bank: bank.recall("log in to the server"),
    "a tool": search_tool,
    "export": exported,
}


@pytest.mark.folder_only
@pytest.mark.parametrize("read", READS)
def test_a_secret_that_was_stored_before_its_rule_existed_does_not_come_out(open_bank: OpenBank, read: str) -> None:
    bank = open_bank()
    bank.record_many([{"title": "Log in", "content": "Log in to the server", "outcome": "success"}], ids=["m"])
    with sqlite3.connect(Path(bank.upkeep.status().folder) / "bank.sqlite3") as by_older_rules:
        by_older_rules.execute("UPDATE memories SET content = content || ?, scrub_version = 0", (f" with {TOKEN}",))
    by_older_rules.close()

    shown = repr(READS[read](open_bank()))

    assert "Log in to the server" in shown
    assert TOKEN not in shown


def test_who_judged_under_older_rules_is_shown_and_exported_through_the_present_ones(
    open_bank: OpenBank, tmp_path: Path
) -> None:
    bank = open_bank()
    known = bank.record("Quote every path", "Or it breaks", outcome="success").memory.id
    bank.vote(known, True, by="bot PROJ-4711-XYZZY")
    bank.update(known, content="Or it will break", reason="clearer")
    bank.vote(known, True, by="bot PROJ-4711-XYZZY")
    bank.close()

    again = open_bank(scrub_rules=[Rule("project", (), r"PROJ-\d+-[A-Z]+")])
    assert again.evidence(known).pieces[-1].by.startswith("bot ")
    assert "XYZZY" not in str(again.evidence(known))
    again.exchange.export_to(tmp_path / "all.jsonl", state=None, expired=None, history=True)
    assert "XYZZY" not in (tmp_path / "all.jsonl").read_text("utf-8")

"""Banks with a snapshot, and what they answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reasoningbank import ReasoningBank
from tests.conftest import OpenBank

TOPICS = ("promotions", "rollbacks", "timezones", "certificates", "caches", "encodings", "retries", "quotas")


def fill(bank: ReasoningBank) -> dict[str, str]:
    """Record a lesson on each topic; return their ids."""
    return {topic: record(bank, f"About {topic}", f"What to do: {topic}") for topic in TOPICS}


def record(bank: ReasoningBank, title: str, content: str) -> str:
    return bank.record(title, content, outcome="success").memory.id


def closed(open_bank: OpenBank) -> dict[str, str]:
    """Fill a bank, search it and close it: there is a snapshot then."""
    bank = open_bank()
    ids = fill(bank)
    bank.search("promotions")
    bank.close()
    assert path(bank).exists()
    return ids


def path(bank: ReasoningBank, table: str = "vectors") -> Path:
    return Path(bank._engine.where) / f"{table}.index"


def found(bank: ReasoningBank, query: str) -> list[str]:
    return [memory.title for memory in bank.search(query, min_confidence=0.0).memories]


def answers(bank: ReasoningBank) -> list[Any]:
    return [[(hit.memory.id, hit.score, hit.similarity) for hit in bank.search(topic).hits] for topic in TOPICS]


def files(bank: ReasoningBank) -> set[str]:
    return {entry.name for entry in Path(bank._engine.where).iterdir() if "index" in entry.name}

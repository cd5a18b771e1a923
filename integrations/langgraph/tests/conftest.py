"""A bank with lessons, and what its episodes were told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank


@pytest.fixture
def open_bank(tmp_path: Path) -> Iterator[Callable[..., ReasoningBank]]:
    opened: list[ReasoningBank] = []

    def open_one(tenant: str = "acme", project: str = "billing") -> ReasoningBank:
        opened.append(ReasoningBank(tmp_path / "root", tenant=tenant, project=project, embedder="hash"))
        return opened[-1]

    yield open_one
    for bank in opened:
        bank.close()


@pytest.fixture
def bank(open_bank: Callable[..., ReasoningBank]) -> ReasoningBank:
    bank = open_bank()
    bank.record("Pin the timezone", "Pass tz=UTC to parse the dates of the invoices", outcome="success")
    bank.record("Never delete invoices", "Void invoices; never delete the invoices", outcome="failure")
    return bank


@pytest.fixture
def verdicts() -> Callable[[ReasoningBank], list[str | None]]:
    """Returns the verdicts of a bank's episodes, in the order they were opened; None for one that is open."""

    def read(bank: ReasoningBank) -> list[str | None]:
        return [episode.verdict for episode in reversed(bank.runs.list().episodes)]

    return read


@pytest.fixture
def signals() -> Callable[[ReasoningBank, str], int]:
    """Returns how many pieces of evidence of a kind a bank has counted."""

    def count(bank: ReasoningBank, kind: str) -> int:
        with bank._engine.read() as connection:
            assert connection is not None
            rows = connection.execute("SELECT count(*) FROM evidence WHERE kind = ? AND polarity <> 0", (kind,))
            return int(rows.fetchone()[0])

    return count

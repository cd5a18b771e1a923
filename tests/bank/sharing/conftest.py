"""Shared banks of a tenant, and handles that look through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import BankRoot, ReasoningBank
from tests.conftest import Clock, OpenBank

PATHS: dict[str, Any] = {
    "title": "Quote paths with blanks",
    "content": "Put paths in quotes: names may hold blanks.",
    "outcome": "failure",
}
LEDGER: dict[str, Any] = {
    "title": "Lock the ledger",
    "content": "Take the ledger's lock before you write to it.",
    "outcome": "success",
}
ASKED = "put paths in quotes"
BANKS = ("team:payments", "org")


@pytest.fixture
def root(bank_root: Path | str, clock: Clock) -> Iterator[BankRoot]:
    with BankRoot(bank_root, tenant="acme", embedder="hash", clock=clock) as opened:
        opened.shared.create("org", readers=["billing", "late"], approvers=["sales"])
        opened.shared.create("team:payments", writers=["billing"], readers=["sales"])
        yield opened


@pytest.fixture
def open_with(open_bank: OpenBank, root: BankRoot) -> Callable[..., ReasoningBank]:
    def opened(project: str, shared: tuple[str, ...] = ("org",), **options: Any) -> ReasoningBank:
        return open_bank(project=project, shared=shared, **options)

    return opened


OpenWith = Callable[..., ReasoningBank]


def shared_lesson(open_with: OpenWith, lesson: dict[str, Any] = PATHS, **more: Any) -> str:
    """Have `sales`, which may approve in `org`, share a lesson; return its id there."""
    sales = open_with("sales")
    promoted = sales.sharing.promote(sales.record(**lesson, **more).memory.id, to="org")
    assert promoted.memory is not None
    return promoted.memory.id

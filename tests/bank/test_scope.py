"""A handle is bound to one project, and sees what others do to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reasoningbank import MemoryNotFoundError, ReasoningBank, ReasoningBankError
from tests.conftest import OpenBank

QUOTE = {"title": "Quote paths", "content": "Put paths in quotes: names may hold blanks", "outcome": "failure"}


def record(bank: ReasoningBank, **changes: Any) -> Any:
    return bank.record(**(QUOTE | changes))


def test_reading_never_makes_a_project(bank: ReasoningBank, tmp_path: Path) -> None:
    assert bank.search("anything").hits == ()
    assert bank.list().memories == ()
    assert bank.count() == 0
    assert not bank.upkeep.status().exists
    assert not bank.delete("x")
    bank.upkeep.maintain()
    for call in (bank.get, lambda i: bank.vote(i, True)):
        with pytest.raises(ReasoningBankError):
            call("x")

    assert not (tmp_path / "root").exists()


def test_another_project_sees_nothing(bank: ReasoningBank, open_bank: OpenBank) -> None:
    memory = record(bank).memory
    other = open_bank(project="other")

    assert other.search("quote paths").hits == ()
    with pytest.raises(MemoryNotFoundError):
        other.get(memory.id)


def test_another_handle_sees_every_change_at_its_next_call(bank: ReasoningBank, open_bank: OpenBank) -> None:
    other = open_bank()
    memory = record(bank).memory
    assert other.search("quote paths").memories == (memory,)

    changed = bank.update(memory.id, content="Put every path in double quotes")
    assert other.search("quote paths").memories == (changed,)

    bank.delete(memory.id)
    assert other.search("quote paths").hits == ()

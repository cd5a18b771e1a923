"""What was read once is kept: nobody may ever see that."""

from __future__ import annotations

from pathlib import Path

import pytest

from reasoningbank import MemoryNotFoundError, ReasoningBank


def opened(root: Path) -> ReasoningBank:
    return ReasoningBank(root, tenant="t", project="p", embedder="hash")


def test_what_another_handle_changes_is_seen_by_the_next_call(tmp_path: Path) -> None:
    with opened(tmp_path) as here, opened(tmp_path) as there:
        memory = here.record("Run migrations first", "Before the tests.", outcome="success").memory
        assert here.get(memory.id) == memory

        there.update(memory.id, tags=["db"])
        assert here.get(memory.id).tags == ("db",)

        there.feedback(memory.id, False)
        assert here.get(memory.id).confidence < memory.confidence
        assert here.get(memory.id) == there.get(memory.id)

        there.delete(memory.id)
        with pytest.raises(MemoryNotFoundError):
            here.get(memory.id)
        assert not here.search("run migrations").hits


def test_what_a_caller_does_to_the_metadata_stays_theirs(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        memory = bank.record("Run migrations first", "Before.", outcome="success", metadata={"seen": [1]}).memory

        for shown in (bank.get(memory.id), bank.search("run migrations").memories[0]):
            shown.metadata["seen"].append(2)  # type: ignore[union-attr]

        assert bank.get(memory.id).metadata == {"seen": [1]}

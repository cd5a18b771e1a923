"""The vector index of nodes follows the rows, and starts anew after a fork."""

from __future__ import annotations

import numpy as np

from reasoningbank import ReasoningBank
from reasoningbank.services.node_index import NodeIndex
from reasoningbank.vectors.exact import ExactIndex


def test_it_follows_what_is_added_and_deleted_and_starts_anew_after_a_fork(bank: ReasoningBank) -> None:
    index = NodeIndex(ExactIndex)
    bank.record("Something", "else", outcome="success")
    with bank._engine.read() as connection:
        assert connection is not None
        dim = connection.execute("SELECT dim FROM generations").fetchone()[0]
        query = np.full(dim, 1.0 / dim**0.5, dtype=np.float32)
        assert index.nearest(connection, query, 5) == []
    for name in ("a", "b"):
        bank.add_node("Event", f"event {name}", node_id=name)

    def found() -> list[int]:
        with bank._engine.read() as connection:
            assert connection is not None
            return sorted(index.nearest(connection, query, 5))

    assert found() == [1, 2]
    bank.delete_node("a")
    assert found() == [2]
    index.after_fork()
    assert found() == [2]


def test_without_any_vectors_nothing_is_near(bank: ReasoningBank) -> None:
    bank.recall("opens the project")
    query = np.full(4, 0.5, dtype=np.float32)
    with bank._engine.read() as connection:
        assert connection is not None
        assert NodeIndex(ExactIndex).nearest(connection, query, 3) == []

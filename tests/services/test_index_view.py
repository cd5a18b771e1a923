"""What this process knows of the vectors, beside what a transaction sees."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from reasoningbank.services.index_view import IndexView
from reasoningbank.storage.database import apply_migrations
from reasoningbank.vectors.exact import ExactIndex


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    made = sqlite3.connect(tmp_path / "bank.sqlite3", isolation_level=None)
    apply_migrations(made)
    made.execute("INSERT INTO generations VALUES (1, 'stub', '1', 2, 'none', 1, 'current')")
    for number, row in enumerate(np.eye(2, dtype=np.float32), 1):
        made.execute("INSERT INTO vectors VALUES (?, ?, 'lesson', 1, ?)", (number, number, row.tobytes()))
        made.execute("INSERT INTO changes(op, memory, vector) VALUES ('put', ?, ?)", (number, number))
    return made


def test_vectors_that_the_index_does_not_have_come_from_the_table(connection: sqlite3.Connection) -> None:
    view, index = IndexView(lambda dim: index), ExactIndex(2)
    assert view.vectors(connection, [2, 1]).tolist() == [[0.0, 1.0], [1.0, 0.0]]

    view.sync(connection)
    assert view.vectors(connection, [2, 1]).tolist() == [[0.0, 1.0], [1.0, 0.0]]

    index.remove(np.array([1]))
    assert view.vectors(connection, [2, 1]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    connection.close()


def test_the_scale_of_cosines_is_measured_anew_after_a_change(connection: sqlite3.Connection) -> None:
    view = IndexView(ExactIndex)
    assert view.scale(connection).unrelated == 0.0

    for number in range(3, 30):
        row = np.array([1.0, 0.0], dtype=np.float32).tobytes()
        connection.execute("INSERT INTO vectors VALUES (?, ?, 'lesson', 1, ?)", (number, number, row))
    assert view.scale(connection).unrelated == 0.0

    connection.execute("INSERT INTO changes(op, memory, vector) VALUES ('put', 29, 29)")
    assert view.scale(connection).unrelated > 0.0
    connection.close()

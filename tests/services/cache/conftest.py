"""Small banks that have snapshots, written when a test says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from reasoningbank.services.cache.index_snapshot import SnapshotWriter

from reasoningbank.services.cache import index_snapshot, index_view
from reasoningbank.storage.stored_vectors import StoredVectors


@pytest.fixture
def small_banks_have_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_snapshot, "FROM", 4)
    monkeypatch.setattr(index_view, "FROM", 4)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Writes what would be written beside the requests, when it is called and not before."""
    begun: list[Callable[[], None]] = []
    monkeypatch.setattr(SnapshotWriter, "start", lambda _, keep: begun.append(keep))

    def write() -> None:
        while begun:
            begun.pop()()

    return write


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables from which an index was built whole."""
    tables: list[str] = []
    every = StoredVectors.every

    def noted(stored: StoredVectors, connection: sqlite3.Connection, generation: int) -> Iterator[Any]:
        tables.append(stored.table)
        return every(stored, connection, generation)

    monkeypatch.setattr(StoredVectors, "every", noted)
    return tables

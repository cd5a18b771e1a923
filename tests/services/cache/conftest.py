"""Small banks that have snapshots, written when a test says so; and a project with a few vectors put there by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.services.cache import snapshots, vectors
from reasoningbank.services.cache.snapshots import SnapshotWriter
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.project import Project
from reasoningbank.storage.stored_vectors import StoredVectors
from tests.conftest import Clock
from tests.services.cache.stored import generation, put


@pytest.fixture
def small_banks_have_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "FROM", 4)
    monkeypatch.setattr(vectors, "FROM", 4)
    monkeypatch.setattr(vectors, "FLAT", 3)


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

    def noted(stored: StoredVectors, reading: Reading, generation: int) -> Iterator[Any]:
        tables.append(stored.table)
        return every(stored, reading, generation)

    monkeypatch.setattr(StoredVectors, "every", noted)
    return tables


@pytest.fixture
def project(tmp_path: Path, clock: Clock) -> Iterator[Project]:
    """Two memories, each with a vector along an axis."""
    made = Project.open(
        tmp_path / "p", tenant="t", project="p", durability="normal", busy_timeout=1.0, create_at=clock()
    )
    assert made is not None
    with made.write() as writing:
        generation(writing, 1)
        for number, row in enumerate(([1.0, 0.0], [0.0, 1.0]), 1):
            put(writing, number, row)
    yield made
    made.close()

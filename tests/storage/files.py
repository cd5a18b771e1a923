"""One project's files for the tests of storage, and short ways to write to them and to look at them."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reasoningbank import (
    Draft,
    Outcome,
    Signal,
    SignalKind,
)
from reasoningbank.storage import check, recording, records
from reasoningbank.storage.project import SIGNALS_NAME, Project

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def open_project(folder: Path, *, create: bool = True, tenant: str = "acme", project: str = "billing") -> Project:
    opened = Project.open(
        folder,
        tenant=tenant,
        project=project,
        durability="normal",
        busy_timeout=1.0,
        create_at=NOON if create else None,
    )
    assert opened is not None
    return opened


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p")
    yield opened
    opened.close()


def add_memory(project: Project, memory_id: str = "m") -> int:
    with project.write() as connection:
        draft = Draft(title=memory_id, content=f"what {memory_id} says", outcome=Outcome.SUCCESS)
        indexed = records.Indexed(vectors=(), generation=1, terms=memory_id)
        new = recording.NewMemory(memory_id, draft, records.fingerprint(draft.title, draft.content), indexed)
        counters = recording.Counters.of(connection)
        (row,) = recording.insert(connection, [new], counters, project="p", scrub_version=1, now=NOON)
        return row.n


@contextmanager
def transaction_of_another_thread(project: Project) -> Iterator[threading.Event]:
    """Hold a transaction open in another thread until the event is set, or the block ends."""
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with project.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('x', 'y')")
            entered.set()
            leave.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait()
    try:
        yield leave
    finally:
        leave.set()
        holder.join()


def revision(project: Project, memory_id: str) -> int:
    with project.database.read() as connection:
        found: int = connection.execute("SELECT revision FROM memories WHERE id = ?", (memory_id,)).fetchone()[0]
        return found


def signal(
    project: Project,
    polarity: int = 1,
    *,
    memory: str = "m",
    kind: SignalKind = SignalKind.OUTCOME,
    ref: str = "e",
    at: datetime = NOON,
    validates: tuple[SignalKind, ...] = (),
) -> Signal:
    return Signal(
        id=f"{memory}-{kind}-{ref}-{polarity}",
        at=at,
        memory=memory,
        revision=revision(project, memory),
        kind=kind,
        polarity=polarity,
        ref=ref,
        validates=validates,
    )


def write(project: Project, *signals: Signal, now: datetime = NOON) -> list[str]:
    with project.write() as connection:
        return [str(folded) for folded in project.write_signals(connection, signals, now)]


def weights(project: Project, memory: str = "m") -> dict[str, tuple[float, float]]:
    """Return positive and negative weight by kind, superseded ones apart."""
    with project.database.read() as connection:
        n = records.find(connection, memory)
        assert n is not None
        tallies = records.load(connection, [n], "billing")[n].tallies
    found: dict[str, tuple[float, float]] = {}
    for tally in tallies:
        key = f"{tally.kind}{' (superseded)' if tally.superseded else ''}"
        positive, negative = found.get(key, (0.0, 0.0))
        found[key] = (positive + tally.positive, negative + tally.negative)
    return found


def differences(project: Project) -> list[str]:
    with project.database.read() as connection:
        return check.refold_differences(project, connection)


def log_file(project: Project) -> Path:
    return max((project.folder / SIGNALS_NAME).glob("*.jsonl"))


def count(project: Project) -> int:
    """Return how many memories there are."""
    with project.database.read() as connection:
        found: int = connection.execute("SELECT count(*) FROM memories").fetchone()[0]
        return found


def refusing(times: int) -> Callable[[Path, Path], None]:
    """Return an `os.replace` that is refused a few times, as Windows does while somebody has the file open."""
    left = iter(range(times))

    def replace(source: Path, target: Path) -> None:
        if next(left, None) is not None:
            raise PermissionError(errno.EACCES, "Access is denied")
        Path(source).rename(target)

    return replace

"""One project's files for the tests of storage, and short ways to write to them and to look at them."""

from __future__ import annotations

import errno
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reasoningbank import Draft, State, Verdict
from reasoningbank.episode import Served
from reasoningbank.filters import Filters
from reasoningbank.signals import Signal, SignalKind, Tally, time_text
from reasoningbank.storage import database, episodes, folding_again, meta, migrations, records
from reasoningbank.storage.contract import Writing
from reasoningbank.storage.ledger import LogHealth
from reasoningbank.storage.lifecycle import create_database
from reasoningbank.storage.project import DATABASE_NAME, SIGNALS_NAME, Project

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


# As the first version wrote a memory.
_FIRST = """
INSERT INTO memories(id, title, content, description, applies_when, outcome, tags, state, initial_confidence,
    source_how, trusted, metadata, fingerprint, revision, scrub_version, findings, created_at, updated_at)
VALUES (:id, :title, :content, '', '', 'success', '[]', :state, 0.8, 'manual', 1, '{}', x'00', 1, 1, '[]',
    '2026-03-14T12:00:00.000000Z', '2026-03-14T12:00:00.000000Z')
"""


@contextmanager
def made_by_version(
    newest: int, folder: Path, *, tenant: str = "acme", project: str = "billing"
) -> Iterator[sqlite3.Connection]:
    """Make a project with the migrations up to `newest` only, and give a connection to its database.

    It is not opened as a project: who does that asks what newer tables hold.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(database, "scripts", lambda: [each for each in migrations.scripts() if each[0] <= newest])
        facts = {"tenant": tenant, "project": project, "created_at": time_text(NOON)}
        create_database(folder / DATABASE_NAME, facts)
    with closing(sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)) as connection:
        yield connection


def put_as_first(
    connection: sqlite3.Connection, memory_id: str, title: str, content: str, state: str = "active"
) -> int:
    """Put a memory into such a database, and return its row number."""
    row = {"id": memory_id, "title": title, "content": content, "state": state}
    n = connection.execute(_FIRST, row).lastrowid
    connection.execute("INSERT INTO terms(rowid, text) VALUES (?, ?)", (n, content))
    assert n is not None
    return n


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p")
    yield opened
    opened.close()


def add_memory(project: Project, memory_id: str = "m") -> int:
    with project.write() as writing:
        return put_memory(writing, memory_id)


def put_memory(writing: Writing, memory_id: str = "m") -> int:
    draft = Draft(title=memory_id, content=f"what {memory_id} says", outcome=Verdict.SUCCESS)
    new = records.NewMemory(
        memory_id, draft, records.fingerprint(draft.title, draft.content), vectors=(), terms=memory_id
    )
    n = writing.number("memories")
    records.insert(writing, {n: new}, generation=1, project="p", scrub_version=1, now=NOON)
    return n


def serve(writing: Writing, ref: str = "e", memory: str = "m") -> None:
    """Open an episode in which a memory was handed out."""
    n = records.find(writing, memory)
    assert n is not None
    served = Served(
        memory=memory, position=0, revision=0, confidence=0.8, deviation=0.1, provisional=False, similarity=1.0,
        keyword=0.0, score=1.0,
    )  # fmt: skip
    episodes.open_episode(writing, ref=ref, task="t", thread=None, served=[(n, served)], tokens=9, now=NOON)


@contextmanager
def transaction_of_another_thread(project: Project) -> Iterator[threading.Event]:
    """Hold a transaction open in another thread until the event is set, or the block ends."""
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with project.write() as writing:
            meta.put(writing, "x", "y")
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
    with project.read() as reading:
        found = records.find_revision(reading, memory_id)
    assert found is not None
    return found[1]


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
    with project.write() as writing:
        return [str(folded) for folded in writing.write_signals(signals, now)]


def tallies(project: Project, memory: str = "m") -> tuple[Tally, ...]:
    with project.read() as reading:
        n = records.find(reading, memory)
        assert n is not None
        return records.load(reading, [n], "billing")[n].tallies


def weights(project: Project, memory: str = "m") -> dict[str, tuple[float, float]]:
    """Return positive and negative weight by kind, superseded ones apart."""
    found: dict[str, tuple[float, float]] = {}
    for tally in tallies(project, memory):
        key = f"{tally.kind}{' (superseded)' if tally.superseded else ''}"
        positive, negative = found.get(key, (0.0, 0.0))
        found[key] = (positive + tally.positive, negative + tally.negative)
    return found


def differences(project: Project) -> list[str]:
    with project.read() as reading:
        return folding_again.refold_differences(project, reading)


def log_health(project: Project) -> LogHealth:
    with project.read() as reading:
        return project.ledger.health(reading)


def log_file(project: Project) -> Path:
    return max((project.folder / SIGNALS_NAME).glob("*.jsonl"))


def count(project: Project) -> int:
    """Return how many memories there are."""
    with project.read() as reading:
        return records.count(reading, Filters(states=tuple(State)))


def refusing(times: int) -> Callable[[Path, Path], None]:
    """Return an `os.replace` that is refused a few times, as Windows does while somebody has the file open."""
    left = iter(range(times))

    def replace(source: Path, target: Path) -> None:
        if next(left, None) is not None:
            raise PermissionError(errno.EACCES, "Access is denied")
        Path(source).rename(target)

    return replace

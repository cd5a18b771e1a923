"""What is in a project, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from reasoningbank.storage.contract import Reading


@dataclass(frozen=True, slots=True)
class Overview:
    """How much there is of everything.

    Attributes:
        format: of the database.
        memories, nodes: by state.
    """

    format: int
    memories: dict[str, int]
    nodes: dict[str, int]
    links: int
    edges: int
    kept_runs: int


def overview(reading: Reading) -> Overview:
    """Count what is in a project."""
    return Overview(
        format=reading.execute("PRAGMA user_version").fetchone()[0],
        memories=_by_state(reading, "memories"),
        nodes=_by_state(reading, "nodes"),
        links=_count(reading, "links"),
        edges=_count(reading, "edges"),
        kept_runs=_count(reading, "trajectories"),
    )


def _by_state(reading: Reading, table: str) -> dict[str, int]:
    return dict(reading.execute(f"SELECT state, count(*) FROM {table} GROUP BY state ORDER BY state").fetchall())


def _count(reading: Reading, table: str) -> int:
    found: int = reading.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return found

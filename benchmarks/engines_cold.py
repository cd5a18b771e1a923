"""Vectors searched by the server, beside a process that keeps them: how soon, and how many of the ten nearest."""

from __future__ import annotations

import math
import statistics
import time
from contextlib import closing
from typing import Any

import numpy as np
import psycopg

from benchmarks.engines_server import Postgres
from reasoningbank import ReasoningBank
from reasoningbank import server as servers
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.storage.postgres import server as connections
from reasoningbank.storage.postgres.schema import SCHEMA
from reasoningbank.vectors.base import Float32

DIM, TOPICS, FOUND, WIDTH, QUERIES = 384, 200, 10, 50, 30
SMALL = 1_000


def vectors(many: int, seed: int) -> Float32:
    """Return unit vectors in topics, as those of an embedder are."""
    random = np.random.default_rng(seed)
    topics = random.normal(size=(TOPICS, DIM))
    return _unit(topics[random.integers(0, TOPICS, many)] + 0.7 * random.normal(size=(many, DIM)))


def _unit(rows: Any) -> Float32:
    unit: Float32 = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def opened(server: Postgres, project: str, where: str) -> ReasoningBank:
    settings = {"vectors": where, "busy_timeout": 60.0}
    return ReasoningBank(
        server.application, tenant="cold", project=project, embedder=HashEmbedder(dim=DIM), settings=settings
    )


def fill(server: Postgres, project: str, rows: Float32) -> None:
    """Put vectors in place of a project's own: no lessons are needed to look for the nearest."""
    with opened(server, project, "kept") as bank:
        bank.record("Quote the paths", "Names may hold blanks.", outcome="success")
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute(f"SET search_path = {SCHEMA}, public; SET session_replication_role = replica")
        (number,) = connection.execute("SELECT number FROM projects WHERE name = %s", (project,)).fetchone() or (0,)
        connection.execute("DELETE FROM vectors WHERE project = %s", (number,))
        connection.execute("DELETE FROM searchable WHERE project = %s", (number,))
        columns = "(project, id, memory, generation, vector"
        ids = range(1, len(rows) + 1)
        with connection.cursor().copy(f"COPY vectors{columns}, role) FROM STDIN") as copy:
            for n, row in zip(ids, rows, strict=True):
                copy.write_row((number, n, n, 1, row.tobytes(), "lesson"))
        with connection.cursor().copy(f"COPY searchable{columns}) FROM STDIN") as copy:
            for n, row in zip(ids, rows, strict=True):
                copy.write_row((number, n, n, 1, str(row.tolist())))
        counted = "UPDATE counters SET last = %s WHERE project = %s AND name = 'vectors'"
        connection.execute(counted, (len(rows), number))


def first(server: Postgres, project: str, query: Float32) -> tuple[float, list[int]]:
    """Return the seconds that a new process's first search takes once it is connected, and the ten nearest."""
    connections._servers.clear()  # noqa: SLF001 - as a new process begins
    with opened(server, project, "server") as bank:
        bank.count()
        seconds, found = _timed(bank, query)
    return seconds, found


def _timed(bank: ReasoningBank, query: Float32) -> tuple[float, list[int]]:
    with bank._engine.read() as view:  # noqa: SLF001 - the one leg of a search
        begun = time.perf_counter()
        found, _ = bank._engine.cache.vectors.nearest(view, query, WIDTH, None, -math.inf)  # noqa: SLF001
        return time.perf_counter() - begun, found[:FOUND].tolist()


def measured(server: Postgres, large: int) -> dict[str, Any]:
    """Return `{"cold": {"1000": …, "100000": …}, "recall@10": {…}, "recall@10_small": …, "cold_ms": …}`.

    `cold` are medians of first searches, as ratios to those of a process that keeps the vectors; the small project is
    one among as many foreign vectors.
    """
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    servers.init(server.owner, role="application", vectors=True)
    sizes = {"small": SMALL, "large": large}
    rows = {project: vectors(many, seed) for seed, (project, many) in enumerate(sizes.items())}
    for project, stored in rows.items():
        fill(server, project, stored)
    begun = time.perf_counter()
    servers.index(server.owner)
    built = time.perf_counter() - begun
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    found: dict[str, Any] = {
        "cold": {},
        "recall@10": {},
        "cold_ms": {},
        "warm_ms": {},
        "index_seconds": round(built, 1),
    }
    for project, stored in rows.items():
        name = str(len(stored))
        random = np.random.default_rng(7)
        queries = _unit(0.7 * stored[random.integers(0, len(stored), QUERIES)] + 0.3 * vectors(QUERIES, 9))
        cold, warm, same = [], [], 0
        with closing(opened(server, project, "kept")) as kept:
            _timed(kept, queries[0])
            for query in queries:
                seconds, served = first(server, project, query)
                cold.append(seconds)
                warm.append(_timed(kept, query)[0])
                nearest = set((np.argsort(-(stored @ query))[:FOUND] + 1).tolist())
                same += len(nearest & set(served))
        found["recall@10"][name] = round(same / QUERIES / FOUND, 4)
        found["cold_ms"][name], found["warm_ms"][name] = (round(statistics.median(of) * 1e3, 2) for of in (cold, warm))
        found["cold"][name] = round(statistics.median(cold) / statistics.median(warm), 2)
    return found | {"recall@10_small": found["recall@10"][str(SMALL)]}

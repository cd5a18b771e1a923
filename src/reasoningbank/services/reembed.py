"""Moving a bank to another embedder: the next generation is filled beside the current one, then swapped in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from itertools import islice

from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.errors import EmbeddingError, ProjectNotFoundError
from reasoningbank.services import reembed_nodes
from reasoningbank.services.engine import Engine, add_generation
from reasoningbank.services.lesson_vectors import lesson_vectors
from reasoningbank.storage import records

BATCH = 64

Progress = Callable[[int, int], None]


def reembed(engine: Engine, embedder: str | Embedder | None, progress: Progress | None) -> int:
    """Fill a generation of vectors with an embedder, and swap it in; return how many memories were embedded.

    Interrupted, it goes on where it stopped; two processes at it with the same embedder share the work. Others read
    and write the current generation meanwhile; what they record is embedded before the swap. A memory that cannot be
    embedded is found by keyword only.

    Raises:
        EmbeddingError: another process began to re-embed with another embedder; its run is the one that counts.
    """
    project = engine.project()
    if project is None:
        raise ProjectNotFoundError(engine.project_name, engine.tenant)
    chosen = engine.embedder if embedder is None else engine.know(embedder)
    with project.write() as connection:
        generation = _filling(connection, chosen.identity)
    done, failed, failed_nodes = 0, set[int](), set[int]()
    while True:
        with project.database.read() as connection:
            missing = _missing(connection, generation, failed)
            rows = records.load(connection, missing[:BATCH], engine.project_name)
            texts = dict(islice(reembed_nodes.missing(connection, generation, failed_nodes).items(), BATCH))
        embedded, nodes = _embed(chosen, rows), reembed_nodes.embed(chosen, texts)
        failed |= rows.keys() - embedded.keys()
        failed_nodes |= texts.keys() - nodes.keys()
        with project.write() as connection:
            left = 0
            if not _is_swapped_in(connection, generation, chosen.identity):
                done += _store(connection, generation, rows, embedded)
                reembed_nodes.store(connection, generation, texts, nodes)
                left = len(_missing(connection, generation, failed))
                left += len(reembed_nodes.missing(connection, generation, failed_nodes))
                if not left:
                    _swap(connection, generation)
        if progress is not None:
            progress(done, done + left)
        if not left:
            # Only now: should the new embedder fail half-way, this handle goes on with the old one.
            engine.use_embedder(chosen)
            return done


def _filling(connection: sqlite3.Connection, identity: EmbedderIdentity) -> int:
    """Return the generation to fill: the one that an interrupted run began with the same embedder, or a new one."""
    row = connection.execute(
        "SELECT generation, name, revision, dim, pooling, normalised FROM generations WHERE state = 'filling'"
    ).fetchone()
    if row is not None:
        if _identity(row) == identity:
            return int(row[0])
        connection.execute("DELETE FROM vectors WHERE generation = ?", (row[0],))
        connection.execute("DELETE FROM node_vectors WHERE generation = ?", (row[0],))
        connection.execute("DELETE FROM generations WHERE generation = ?", (row[0],))
    return add_generation(connection, identity, "filling")


def _identity(row: tuple[int, str, str, int, str, int]) -> EmbedderIdentity:
    return EmbedderIdentity(row[1], row[2], row[3], row[4], bool(row[5]))


def _is_swapped_in(connection: sqlite3.Connection, generation: int, identity: EmbedderIdentity) -> bool:
    """Tell whether another process finished the generation that we fill.

    Raises:
        EmbeddingError: another process dropped it for one of its own.
    """
    row = connection.execute(
        "SELECT generation, name, revision, dim, pooling, normalised, state FROM generations WHERE generation = ?",
        (generation,),
    ).fetchone()
    if row is None or _identity(row) != identity:
        raise EmbeddingError(
            f"the re-embedding with {identity.name} was given up for one that another process began: "
            "let that one finish, or run this one again"
        )
    return bool(row[6] == "current")


def _missing(connection: sqlite3.Connection, generation: int, failed: set[int]) -> list[int]:
    rows = connection.execute(
        "SELECT n FROM memories WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.memory = memories.n "
        "AND v.generation = ? AND v.role = 'lesson') ORDER BY n",
        (generation,),
    )
    return [n for (n,) in rows if n not in failed]


def _embed(embedder: Embedder, rows: dict[int, records.Stored]) -> dict[int, list[tuple[str, bytes]]]:
    """Return role and vector bytes of every memory whose lesson could be embedded."""
    made = lesson_vectors(embedder, [stored.memory for stored in rows.values()])
    return {
        n: [(role, vector.tobytes()) for role, vector in vectors.roles]
        for n, vectors in zip(rows, made, strict=True)
        if vectors.roles
    }


def _store(
    connection: sqlite3.Connection,
    generation: int,
    rows: dict[int, records.Stored],
    embedded: dict[int, list[tuple[str, bytes]]],
) -> int:
    done = 0
    for n, vectors in embedded.items():
        now = connection.execute("SELECT revision FROM memories WHERE n = ?", (n,)).fetchone()
        # Changed or deleted while it was being embedded: the next round takes it up again.
        if now is None or now[0] != rows[n].memory.revision:
            continue
        connection.execute("DELETE FROM vectors WHERE memory = ? AND generation = ?", (n, generation))
        connection.executemany(
            "INSERT INTO vectors(memory, role, generation, vector) VALUES (?, ?, ?, ?)",
            [(n, role, generation, vector) for role, vector in vectors],
        )
        done += 1
    return done


def _swap(connection: sqlite3.Connection, generation: int) -> None:
    connection.execute("DELETE FROM generations WHERE state = 'current'")
    connection.execute("UPDATE generations SET state = 'current' WHERE generation = ?", (generation,))
    connection.execute("DELETE FROM vectors WHERE generation <> ?", (generation,))
    connection.execute("DELETE FROM node_vectors WHERE generation <> ?", (generation,))

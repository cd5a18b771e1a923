"""Approximate indexes (HNSW) over the vectors of one large project each; one over all would lose small ones'."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from reasoningbank.address import ServerAddress
from reasoningbank.errors import StorageError
from reasoningbank.storage.postgres.failures import reported
from reasoningbank.storage.postgres.schema import EXTENSION, SCHEMA

LARGE = 20_000
"""Vectors of a project from which an index of its own pays."""

MOST_WIDE = 2_000
"""Numbers of a vector beyond which pgvector makes no such index."""

_PATIENCE = "5s"
_NAME = "own_{}_{}_{}"
# Numbers that were given are as many as there are vectors, or more.
_LARGE = (
    "SELECT p.number, p.tenant FROM counters AS c JOIN projects AS p ON p.number = c.project "
    "WHERE c.name = 'vectors' AND c.last >= %s ORDER BY c.last DESC"
)
_THERE = (
    "SELECT c.relname, i.indisvalid FROM pg_class AS c JOIN pg_index AS i ON i.indexrelid = c.oid "
    "WHERE c.relnamespace = %s::regnamespace AND c.relname LIKE 'own\\_%%'"
)
_CURRENT = (
    "SELECT g.generation, g.dim, count(*), min(s.tableoid::regclass::text) FROM generations AS g "
    "JOIN searchable AS s ON s.generation = g.generation WHERE g.state = 'current' GROUP BY g.generation, g.dim"
)


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    project: int
    generation: int
    dim: int
    part: str


def index_large(address: ServerAddress, *, least: int, most: int) -> tuple[int, int, int, int]:
    """Give the `most` largest projects with at least so many vectors an index each, and drop those that none needs.

    Nobody waits meanwhile but for moments. Stopped anywhere, what is half made is made anew by the next.

    Returns:
        How many projects have one, how many indexes were made and how many dropped now, and how many projects are
        large enough and have none: beyond the most that there may be, or with vectors that are too wide.

    Raises:
        StorageError: the server does not search vectors, or refuses.
    """
    with reported(address), psycopg.connect(address.dsn, autocommit=True) as connection:
        connection.execute("SELECT set_config('search_path', %s, false)", (SCHEMA,))
        (extension,) = connection.execute(EXTENSION).fetchone() or (None,)
        searchable = connection.execute("SELECT to_regclass('searchable') IS NOT NULL").fetchone()
        if extension is None or searchable != (True,):
            hint = "run `reasoningbank server migrate --vectors`"
            raise StorageError(f"{address} does not search vectors: {hint}", path=address)
        large = list(_large(connection, least))
        wanted = {one.name: one for one in [one for one in large if one.dim <= MOST_WIDE][:most]}
        there: dict[str, bool] = dict(connection.execute(_THERE, (SCHEMA,)).fetchall())
        gone = [name for name, valid in there.items() if not (valid and name in wanted)]
        for name in gone:
            connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))
        new = [one for one in wanted.values() if not there.get(one.name)]
        for one in new:
            connection.execute(_statement(one, str(extension)))
        return len(wanted), len(new), len(gone), len(large) - len(wanted)


def _large(connection: psycopg.Connection[Any], least: int) -> Iterator[_Wanted]:
    for number, tenant in _candidates(connection, least):
        with connection.transaction():
            connection.execute(f"SELECT * FROM {SCHEMA}.enter(%s, %s, %s, '')", (tenant, number, _PATIENCE))
            row = connection.execute(_CURRENT).fetchone()
        if row is not None and row[2] >= least:
            generation, dim, _, part = row
            yield _Wanted(_NAME.format(number, generation, dim), number, generation, dim, part)


def _candidates(connection: psycopg.Connection[Any], least: int) -> list[tuple[int, str]]:
    """Return the numbers and tenants of projects that may be large, the largest first."""
    found: list[tuple[int, str]] = []
    with suppress(psycopg.Rollback), connection.transaction():
        connection.execute("SELECT set_config('lock_timeout', %s, true)", (_PATIENCE,))
        # For a moment the owner of the tables sees every project; it is undone, not committed.
        for table in ("counters", "projects"):
            connection.execute(sql.SQL("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY").format(sql.Identifier(table)))
        found = connection.execute(_LARGE, (least,)).fetchall()
        raise psycopg.Rollback
    return found


def _statement(wanted: _Wanted, extension: str) -> sql.Composed:
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY {name} ON {part} USING hnsw ((vector::{type}({dim})) {operators}) "
        "WHERE project = {project} AND generation = {generation}"
    ).format(
        name=sql.Identifier(wanted.name),
        part=sql.Identifier(wanted.part),
        type=sql.Identifier(extension, "vector"),
        dim=sql.Literal(wanted.dim),
        operators=sql.Identifier(extension, "vector_ip_ops"),
        project=sql.Literal(wanted.project),
        generation=sql.Literal(wanted.generation),
    )

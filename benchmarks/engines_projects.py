"""A search in one of many projects on a server, beside a search in one that is alone with the process."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import psycopg

from benchmarks.engines_server import Postgres
from benchmarks.speed_lessons import Texts
from reasoningbank import ReasoningBank
from reasoningbank.storage.postgres.schema import SCHEMA

_COLUMNS = (
    "SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), "
    "string_agg('t.' || quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_class AS c "
    "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attgenerated = '' AND NOT a.attisdropped "
    "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace "
    "AND a.attname <> 'project' AND EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'project') "
    "GROUP BY c.relname"
)


def multiply(server: Postgres, project: str, many: int) -> None:
    """Put the rows of a project into others, `many 1` and so on: what fills them is not what is measured."""
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute(f"SET search_path = {SCHEMA}, public; SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO projects(tenant, name) SELECT tenant, 'many ' || n FROM projects, generate_series(1, %s) AS n "
            "WHERE name = %s",
            (many, project),
        )
        for table, columns, sources in connection.execute(_COLUMNS).fetchall():
            connection.execute(
                f"INSERT INTO {table}(project, {columns}) SELECT p.number, {sources} FROM {table} AS t, projects AS p "  # noqa: S608 - names of our own schema
                "WHERE t.project = (SELECT number FROM projects WHERE name = %s) AND p.name LIKE 'many %%'",
                (project,),
            )
        connection.execute(
            "UPDATE meta SET value = p.name FROM projects AS p WHERE project = p.number AND key = 'project'"
        )
        connection.execute("VACUUM ANALYZE")


def p95(
    server: Postgres,
    made: Texts,
    opened: Callable[..., ReasoningBank],
    timed: Callable[[Callable[[], object]], float],
    projects: int,
    of_each: int,
) -> dict[str, Any]:
    """Return `{"projects_p95": …, "projects_median": …}`: of a warm search over many projects, as ratios to one's."""
    query = made.queries[1]
    with opened(server.application, "alone") as alone:
        alone.record_many(made.lessons[:of_each])
        multiply(server, "alone", projects)
        alone.search(query)
        one = [timed(lambda: alone.search(query)) for _ in range(projects)]
    banks = [opened(server.application, f"many {n}") for n in range(1, projects + 1)]
    for _ in range(2):
        for bank in banks:
            bank.search(query)
    many = [timed(lambda bank=bank: bank.search(query)) for bank in banks]  # type: ignore[misc]
    for bank in banks:
        bank.close()
    ends = [statistics.quantiles(times, n=20)[-1] for times in (many, one)]
    return {
        "projects_p95": round(ends[0] / ends[1], 2),
        "projects_median": round(statistics.median(many) / statistics.median(one), 2),
    }

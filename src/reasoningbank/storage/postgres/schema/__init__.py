"""The schema on a server: numbered scripts, run once by its owner; a newer version only adds scripts."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import psycopg
from psycopg import sql

from reasoningbank.address import ServerAddress
from reasoningbank.storage.postgres.failures import reported

SCHEMA = "reasoningbank"
_SCRIPT = re.compile(r"(\d{4})_\w+\.sql")
_LOOK = """
    SELECT (SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass(%(schema)s || '.memories')),
        NOT (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
        (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c
            WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(%(schema)s))
"""
EXTENSION = (
    "SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace "
    "WHERE e.extname = 'vector'"
)
CHANNEL = "reasoningbank_jobs"  # on which the server tells of jobs that were put
EVERY_TENANT = "every_tenant"  # the policy of roles that may look for work of all tenants
_ADVISORY = 0x52424E4B  # a number of our own for the lock of those who migrate at once


@cache
def scripts() -> tuple[tuple[int, str], ...]:
    """Return the scripts in their order, each with its number."""
    folder = files(__package__)
    found = [(int(match[1]), entry) for entry in folder.iterdir() if (match := _SCRIPT.fullmatch(entry.name))]
    return tuple((number, entry.read_text("utf-8")) for number, entry in sorted(found, key=lambda each: each[0]))


NEWEST = scripts()[-1][0]


def migrate(
    address: ServerAddress,
    *,
    role: str | None,
    partitions: int,
    vectors: bool = False,
    fleet: str | None = None,
) -> tuple[int, int]:
    """Bring a server's schema to this version's format, in one transaction; return the format before and after.

    Safe to run twice and by several at once. `role` is granted what banks need; the large tables are split into so many
    partitions when they are made. With `vectors` the server can search vectors from then on. `fleet` is a role that is
    granted the same, and sees in which projects of any tenant something is due.
    """
    with reported(address), psycopg.connect(address.dsn) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ADVISORY,))
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
        connection.execute("SELECT set_config('search_path', %s, true)", (SCHEMA,))
        connection.execute("SELECT set_config('reasoningbank.partitions', %s, true)", (str(partitions),))
        before = format_of(connection)
        for number, script in scripts():
            if number > before:
                connection.execute(script)
                connection.execute("INSERT INTO versions(number) VALUES (%s)", (number,))
        if vectors:
            _make_searchable(connection)
        for granted in filter(None, (role, fleet)):
            _grant(connection, granted)
        if fleet is not None:
            _show_every_tenant(connection, fleet)
        return before, format_of(connection)


def _make_searchable(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    (made,) = connection.execute("SELECT to_regclass('searchable') IS NOT NULL").fetchone() or (False,)
    if not made:
        # It may have been there before, in a schema of its own.
        (schema,) = connection.execute(EXTENSION).fetchone() or ("",)
        vector = sql.Identifier(str(schema), "vector").as_string(connection)
        script = (files(__package__) / "searchable.sql").read_text("utf-8")
        connection.execute(script.replace("{vector}", vector).encode())


def look(address: ServerAddress) -> tuple[str, int, int, bool, int]:
    """Return the server's version, the schema's format and partitions, whether policies bind the role, and the size."""
    with reported(address), psycopg.connect(address.dsn) as connection:
        version = connection.info.server_version
        found = format_of(connection)
        partitions, bound, size = connection.execute(_LOOK, {"schema": SCHEMA}).fetchone() or (0, False, 0)
    return f"{version // 10_000}.{version % 10_000}", found, partitions, bound, int(size)


def format_of(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    """Return the format of the schema, 0 before there is one."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.versions",)).fetchone()
    if row is None or not row[0]:
        return 0
    newest = connection.execute(f"SELECT coalesce(max(number), 0) FROM {SCHEMA}.versions").fetchone()
    return int(str(newest[0])) if newest else 0


def _grant(connection: psycopg.Connection[tuple[object, ...]], role: str) -> None:
    names = {"schema": sql.Identifier(SCHEMA), "role": sql.Identifier(role)}
    whole = connection.execute(
        "SELECT c.relname FROM pg_class AS c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition "
        "AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'versions'"
    ).fetchall()
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {schema} TO {role}").format(**names))
    connection.execute(sql.SQL("GRANT SELECT ON {schema}.versions TO {role}").format(**names))
    for (table,) in whole:
        rights = sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.{table} TO {role}")
        connection.execute(rights.format(**names, table=sql.Identifier(str(table))))


def _show_every_tenant(connection: psycopg.Connection[tuple[object, ...]], role: str) -> None:
    before = connection.execute(
        "SELECT r.rolname FROM pg_policy, unnest(polroles) AS of_role JOIN pg_roles AS r ON r.oid = of_role "
        "WHERE polrelid = 'projects'::regclass AND polname = %s",
        (EVERY_TENANT,),
    ).fetchall()
    names = sorted({role, *(str(name) for (name,) in before)})
    policy = {"policy": sql.Identifier(EVERY_TENANT), "roles": sql.SQL(", ").join(map(sql.Identifier, names))}
    connection.execute(sql.SQL("DROP POLICY IF EXISTS {policy} ON projects").format(**policy))
    # Without a tenant they see all projects; what they then do is done in a tenant's name.
    unset = "current_setting('reasoningbank.tenant') = ''"
    made = sql.SQL("CREATE POLICY {policy} ON projects TO {roles} USING ({unset}) WITH CHECK (false)")
    connection.execute(made.format(**policy, unset=sql.SQL(unset)))

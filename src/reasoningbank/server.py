"""A PostgreSQL server as the place of banks: set up once by its owner, brought up to date, looked at.

A bank on a server is opened by its address in place of a folder: `ReasoningBank("postgresql://…", tenant=…,
project=…)`. Needs `pip install 'reasoningbank-core[postgres]'`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reasoningbank import arguments
from reasoningbank.address import ServerAddress
from reasoningbank.errors import InvalidInputError, MissingExtraError


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What stands at an address.

    Attributes:
        address: without its password.
        version: of PostgreSQL, such as "18.4".
        format: of the schema; 0 before `init`.
        newest: the format that this version of the library needs.
        partitions: into how many parts the large tables are split.
        bound: row-level security binds the role that logged in: only then banks can be opened with it.
        size: bytes on the disk of all tables and indexes together.
    """

    address: str
    version: str
    format: int
    newest: int
    partitions: int
    bound: bool
    size: int


@dataclass(frozen=True, slots=True)
class OwnIndexes:
    """Indexes of single projects over their vectors.

    Attributes:
        there: how many projects have one now.
        made: of these, now.
        dropped: those that none needs any more, or that were half made.
        left_out: projects that are large enough and have none: beyond the most that there may be, or with vectors of
            more than 2,000 numbers.
    """

    there: int
    made: int
    dropped: int
    left_out: int


def init(
    dsn: str, *, role: str | None = None, partitions: int = 4, vectors: bool = False, fleet: str | None = None
) -> tuple[int, int]:
    """Make the schema, or bring it up to this version's format; return the format before and after.

    In one transaction, and safe to run twice and by several at once. It needs a role that may make a schema in that
    database. Banks are opened with one that row-level security binds: neither a superuser nor BYPASSRLS.

    Args:
        dsn: the address, `postgresql://user:password@host:port/database`.
        role: an existing role to let read and write rows; by default only the one that logs in may.
        partitions: into how many parts the large tables are split by project, 1 to 1,000; only the first time counts.
        vectors: keep the vectors once more as pgvector searches them (setting `vectors`). The extension has to be
            there: a superuser runs CREATE EXTENSION vector once.
        fleet: an existing role for workers of every tenant: it may do what `role` may, and see the names of all tenants
            and projects, to find those in which something is due.

    Raises:
        InvalidInputError: no address of a server, no name of a role, or no whole number of partitions in that range.
        ScopeError, StorageError: the server refuses, or cannot be reached; nothing was changed.
    """
    parts = arguments.whole("partitions", partitions, 1, 1_000)
    granted = {
        name: None if given is None else arguments.identifier(name, given)
        for name, given in (("role", role), ("fleet", fleet))
    }
    schema = _schema()
    found: tuple[int, int] = schema.migrate(_address(dsn), partitions=parts, vectors=vectors, **granted)
    return found


def index(dsn: str, *, least: int = 20_000, most: int = 100) -> OwnIndexes:
    """Give large projects an index of their own (HNSW) over their vectors, for searches that the server makes.

    Run it as the role that owns the schema, again when projects grew or were embedded anew. It takes minutes for each
    100,000 vectors; nobody waits meanwhile. A search with such an index is fast and nearly exact; without it every
    vector of the project is looked at.

    Args:
        least: vectors from which a project gets one, at least 1; below 20,000 no search asks for it.
        most: how many there may be, the largest projects first, 0 to 1,000. Each costs every statement a lock.

    Raises:
        StorageError: the server does not search vectors (`init` with `vectors`), refuses, or cannot be reached.
    """
    few, many = arguments.whole("least", least, 1), arguments.whole("most", most, 0, 1_000)
    address = _address(dsn)
    _schema()
    from reasoningbank.storage.postgres.indexes import index_large

    return OwnIndexes(*index_large(address, least=few, most=many))


def status(dsn: str) -> ServerStatus:
    """Look at a server without changing anything; raises what `init` does."""
    address, schema = _address(dsn), _schema()
    version, found, partitions, bound, size = schema.look(address)
    return ServerStatus(str(address), version, found, schema.NEWEST, partitions, bound, size)


def _address(dsn: str) -> ServerAddress:
    address = ServerAddress.of(dsn)
    if address is None:
        raise InvalidInputError(
            f"{str(ServerAddress(str(dsn)))!r} is no address of a server: give postgresql://user@host/database"
        )
    return address


def _schema() -> Any:
    try:
        from reasoningbank.storage.postgres import schema
    except ImportError as error:
        raise MissingExtraError("a bank on PostgreSQL", "postgres") from error
    return schema

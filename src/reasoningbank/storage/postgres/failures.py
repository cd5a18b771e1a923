"""What a server refuses, in the library's own terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from reasoningbank.address import ServerAddress
from reasoningbank.errors import BusyError, ReadOnlyError, ScopeError, StorageError

_NOT_SET_UP = (errors.UndefinedTable, errors.UndefinedFunction, errors.InvalidSchemaName)
_FULL = (errors.DiskFull, errors.OutOfMemory, errors.ConfigurationLimitExceeded)

# What it refuses with; our error; in which words. The first that fits.
_SAID: tuple[tuple[type[Exception] | tuple[type[Exception], ...], type[StorageError], str], ...] = (
    (errors.LockNotAvailable, BusyError, "stayed locked by another writer: try again, or raise busy_timeout"),
    (errors.ReadOnlySqlTransaction, ReadOnlyError, "takes no writes ({what}): name the primary server"),
    (_NOT_SET_UP, StorageError, "holds no bank ({what}): run `reasoningbank server init` once"),
    (_FULL, StorageError, "has no space left ({what}); nothing was changed"),
    (psycopg.OperationalError, StorageError, "cannot be reached, or broke off ({what}): try again"),
)
_OTHER = (StorageError, "could not be used: {what}")


def storage_error(error: psycopg.Error, address: ServerAddress) -> Exception:
    """Say in the library's own terms what the server refused."""
    said = (error.diag.message_primary or str(error)).strip().splitlines()
    what = said[0] if said else type(error).__name__
    if isinstance(error, errors.InsufficientPrivilege):
        own = "let its owner run `reasoningbank server init` with this role as --role"
        hint = "let a superuser run `CREATE EXTENSION vector` once" if "extension" in what else own
        return ScopeError(f"{address}: {what}: {hint}")
    kind, said_of_it = next(((kind, text) for refused, kind, text in _SAID if isinstance(error, refused)), _OTHER)
    return kind(f"{address} {said_of_it.format(what=what)}", path=address)


@contextmanager
def reported(address: ServerAddress) -> Iterator[None]:
    """Raise what the server refuses inside the block as an error of ours that names the address."""
    try:
        yield
    except psycopg.Error as error:
        raise storage_error(error, address) from error

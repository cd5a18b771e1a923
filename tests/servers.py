"""A PostgreSQL server of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks import engines_server
from benchmarks.engines_server import Postgres

__all__ = ["Postgres", "running"]


@contextmanager
def running() -> Iterator[Postgres]:
    """Start a server with a bank's schema, and stop it at the end; where there is no wheel of it, skip and say so."""
    missing = "no PostgreSQL for this machine: its wheel does not exist here"
    pytest.importorskip(engines_server.WHEEL, reason=missing)
    with engines_server.running() as server:
        yield server

"""Views of a project beside each other, and what is asked of the database while they look."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reasoningbank import ReasoningBank
from reasoningbank.services.cache.project import ProjectCache
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.services.view import View
from reasoningbank.storage.transaction import SqliteReading


def no_snapshot(_: VectorCache) -> None:
    """Write none."""


def project_cache() -> ProjectCache:
    return ProjectCache(no_snapshot)


@contextmanager
def looking(bank: ReasoningBank, cache: ProjectCache) -> Iterator[View]:
    """Give a view of the project as it is now, which the cache followed to."""
    with bank._engine.read() as view:
        cache.follow(view)
        yield view


@contextmanager
def statements(view: View) -> Iterator[list[str]]:
    """Give what is asked of the database inside the block."""
    reading, asked = view._reading, list[str]()
    assert isinstance(reading, SqliteReading)
    reading.connection.set_trace_callback(asked.append)
    yield asked
    reading.connection.set_trace_callback(None)


@contextmanager
def in_another_thread(act: Callable[[], object]) -> Iterator[None]:
    """Begin an act in another thread before the block, which may have to wait until the block is done."""
    thread = threading.Thread(target=act)
    thread.start()
    thread.join(0.2)
    yield
    thread.join()

"""A readers-writer lock: many searches at once, or one change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriterLock:
    """Any number of readers, or one writer, in turns: neither side can starve the other.

    A waiting writer lets no new reader in; after it has written, the readers that waited go before the next writer.
    Neither side may be taken twice by one thread.
    """

    def __init__(self) -> None:
        # Taken by itself: a condition takes it in a step of Python's, and a signal's handler may raise behind that.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._readers = 0
        self._readers_waiting = 0
        self._readers_next = 0
        self._writers_waiting = 0
        self._writing = False
        self._written = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock beside other readers."""
        with self._lock:
            written = self._written
            self._readers_waiting += 1
            try:
                while self._writing or (self._writers_waiting and written == self._written):
                    self._changed.wait()
                self._readers += 1
            finally:
                self._readers_waiting -= 1
                if written != self._written:
                    self._readers_next -= 1
                    self._changed.notify_all()
        try:
            yield
        finally:
            with self._lock:
                self._readers -= 1
                if not self._readers:
                    self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock alone."""
        with self._lock:
            self._writers_waiting += 1
            try:
                while self._writing or self._readers or self._readers_next:
                    self._changed.wait()
                self._writing = True
            finally:
                self._writers_waiting -= 1
                if not self._writing:
                    # Interrupted while waiting: readers were held back for a writer that will not come.
                    self._changed.notify_all()
        try:
            yield
        finally:
            with self._lock:
                self._writing = False
                self._written += 1
                self._readers_next = self._readers_waiting
                self._changed.notify_all()

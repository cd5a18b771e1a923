"""A process that kills itself at its n-th step, wherever that is."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
from collections.abc import Callable
from typing import Any

# Instructions of SQLite's virtual machine between two steps: a step may fall into the middle of a statement.
INSTRUCTIONS = 60

_WATCHED = ("ftruncate", "truncate", "unlink", "link", "replace", "rename", "fsync", "mkdir", "open", "rmdir")


class Trap:
    """Counts steps (statements, parts of statements, calls that change files) and ends the process at the last one.

    Args:
        steps: how many are left.
        seed: for the length of a write that is cut short.
    """

    def __init__(self, steps: int, seed: int) -> None:
        self._left = steps
        self._random = random.Random(seed)

    def step(self, *_: object) -> int:
        """Take a step; the last one does not return."""
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def arm(self) -> None:
        """Watch everything that this process does from now on."""
        for name in _WATCHED:
            setattr(os, name, self._watched(getattr(os, name)))
        self._write = os.write
        os.write = self._torn_write
        connect = sqlite3.connect

        def watched_connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*args, **kwargs)
            connection.set_progress_handler(self.step, INSTRUCTIONS)
            connection.set_trace_callback(self.step)
            return connection

        sqlite3.connect = watched_connect  # type: ignore[assignment]

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.step()
            result = call(*args, **kwargs)
            self.step()
            return result

        return watched

    def _torn_write(self, descriptor: int, data: Any) -> int:
        if self._left <= 1:
            self._write(descriptor, bytes(data)[: self._random.randrange(len(data) + 1)])
        self.step()
        return self._write(descriptor, data)

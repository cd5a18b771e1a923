"""Processes that live with a bank until they are killed."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

from tests.processes import exit_code, start
from tests.torture.life import Known


class Doomed:
    """A process that lives with a bank, as `live` says, until it is killed, and says what it does.

    Args:
        at: at which step or trip of its life it dies; when it is killed from outside, None.
    """

    def __init__(self, root: Path | str, known: Known, name: str, seed: int, at: int | None = None) -> None:
        self.known = known
        self._read, write = os.pipe()
        self.process = start(partial(self._run, root, name, seed, write, at))
        os.close(write)

    def _run(self, root: Path | str, name: str, seed: int, pipe: int, at: int | None) -> None:
        os.close(self._read)
        self.live(root, name, seed, pipe, at)

    def live(self, root: Path | str, name: str, seed: int, pipe: int, at: int | None) -> None:
        """Live, in the process."""
        raise NotImplementedError

    def said(self) -> bytes:
        """Return all it said until it was killed."""
        with os.fdopen(self._read, "rb") as pipe:
            said = pipe.read()
        assert exit_code(self.process) == -signal.SIGKILL
        return said

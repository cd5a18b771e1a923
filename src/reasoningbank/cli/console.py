"""Rich's console, without its own idea of a closed pipe."""

from __future__ import annotations

from typing import NoReturn

from rich.console import Console


class PipeConsole(Console):
    """A console that says when its pipe was closed, in place of ending the process with exit code 1."""

    def on_broken_pipe(self) -> NoReturn:
        """Tell it to the caller. Called while the BrokenPipeError is handled."""
        raise BrokenPipeError

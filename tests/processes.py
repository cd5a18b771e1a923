"""Child processes of tests."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable


def fork() -> int:
    """Fork as `os.fork` does, without Python's warning that other threads may hold locks: that is what is tested."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def start(act: Callable[[], object]) -> int:
    """Fork a child that runs `act`, and return its process id; its exit code is 0 when `act` returned."""
    child = fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        except BaseException:  # noqa: BLE001 - a child must never go on as the test run
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def exit_code(child: int) -> int:
    """Wait for a child and return its exit code, negative for the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(act: Callable[[], object]) -> int:
    """Run `act` in a forked child, and return its exit code."""
    return exit_code(start(act))

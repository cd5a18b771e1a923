"""Native threads and locks do not survive a fork; this is where objects that hold some are told about it."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class ForkAware(Protocol):
    """What holds a lock, a native session or a thread."""

    def after_fork(self) -> None:
        """Put fresh locks in place and let go of what cannot be used in this process; runs in the child only."""


_aware: weakref.WeakSet[ForkAware] = weakref.WeakSet()


def renew_after_fork(held: ForkAware) -> None:
    """Call `held.after_fork()` in every child forked from now on, for as long as `held` lives."""
    _aware.add(held)


def _renew() -> None:
    for held in list(_aware):
        held.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)

"""Native threads, locks and database connections do not survive a fork; objects that hold some are told about it.

Hooks run for `os.fork` and for multiprocessing's fork; a `subprocess` starts another program and needs none.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class ForkAware(Protocol):
    """What holds a lock, a native session or a thread."""

    def after_fork(self) -> None:
        """Put fresh locks in place and let go of what cannot be used in this process; runs in the child only."""


class ForkSensitive(ForkAware, Protocol):
    """What a fork must not meet in the middle of something."""

    def before_fork(self) -> None:
        """Finish what is under way, and begin nothing new; runs in the thread that forks."""

    def after_fork_in_parent(self) -> None:
        """Go on."""


class _Registry:
    """The living objects that want to be told. A weak set may not grow while it is read, hence the lock."""

    def __init__(self) -> None:
        self._aware: weakref.WeakSet[ForkAware] = weakref.WeakSet()
        self._sensitive: weakref.WeakSet[ForkSensitive] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._told: list[ForkSensitive] = []

    def renew(self, held: ForkAware) -> None:
        """Call `held.after_fork()` in every child forked from now on, for as long as `held` lives."""
        with self._lock:
            self._aware.add(held)

    def settle(self, held: ForkSensitive) -> None:
        """Tell `held` before every fork, after it, and in the child, for as long as `held` lives."""
        with self._lock:
            self._aware.add(held)
            self._sensitive.add(held)

    def before(self) -> None:
        # Nobody may join between the list and the fork: it would not be told.
        self._lock.acquire()
        self._told = list(self._sensitive)
        for held in self._told:
            held.before_fork()

    def after_in_parent(self) -> None:
        told, self._told = self._told, []
        self._lock.release()
        for held in told:
            held.after_fork_in_parent()

    def after_in_child(self) -> None:
        self._told = []
        self._lock = threading.Lock()
        for held in list(self._aware):
            held.after_fork()


_registry = _Registry()
renew_after_fork, settle_before_fork = _registry.renew, _registry.settle

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_registry.before, after_in_parent=_registry.after_in_parent, after_in_child=_registry.after_in_child
    )

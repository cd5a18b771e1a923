"""Which episodes belong to which run of a framework, by the run ids that its callbacks give.

Frameworks report runs as a tree of ids. The first run that is seen is the root, even inside somebody else's chain.
What was recalled anywhere below it belongs to it, and ends with it.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(slots=True)
class RootRun:
    """A run whose end closes episodes.

    Attributes:
        thread: the conversation or checkpoint thread, if any.
        refs: the episodes opened in it, in order, each once.
        resumed: it goes on with what an earlier run, perhaps of another process, began.
    """

    thread: str | None = None
    refs: list[str] = field(default_factory=list)
    resumed: bool = False


class RunTree:
    """Keeps the runs that are under way; safe for threads. Nothing is left of a run that has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parents: dict[Hashable, Hashable | None] = {}
        self._roots: dict[Hashable, RootRun] = {}

    def begin(self, run: Hashable, parent: Hashable | None, *, thread: str | None = None) -> None:
        """A run begins; it is a root when its parent is not known here."""
        with self._lock:
            if parent is not None and self._root_of(parent) is not None:
                self._parents[run] = parent
            else:
                self._roots[run] = RootRun(thread=thread)

    def note(self, run: Hashable | None, ref: str) -> bool:
        """An episode was opened in a run, or in one below it; False when no such run is known."""
        with self._lock:
            root = self._root_of(run)
            if root is not None and ref not in root.refs:
                root.refs.append(ref)
            return root is not None

    def resume(self, run: Hashable | None) -> None:
        """A run turns out to go on with an earlier one."""
        with self._lock:
            root = self._root_of(run)
            if root is not None:
                root.resumed = True

    def end(self, run: Hashable) -> RootRun | None:
        """A run ends: return it when it is a root, and None when it is not."""
        with self._lock:
            self._parents.pop(run, None)
            root = self._roots.pop(run, None)
            if root is not None:
                # Runs below it whose end nobody reported, such as cancelled ones, end with it.
                for below in [run for run in self._parents if self._root_of(run) is None]:
                    del self._parents[below]
            return root

    def __len__(self) -> int:
        """Return how many runs are under way, roots and others."""
        return len(self._roots) + len(self._parents)

    def _root_of(self, run: Hashable | None) -> RootRun | None:
        while run is not None and run not in self._roots:
            run = self._parents.get(run)
        return None if run is None else self._roots[run]

"""What local models share: how texts are grouped, how many threads run, and when a model is loaded."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from reasoningbank.embed.headroom import LOADING, headroom
from reasoningbank.forks import renew_after_fork

Model = TypeVar("Model")

# Of a batch, padding included. It bounds the memory of a run, which is as texts x tokens^2, to that of one text of so
# many tokens; and larger batches are slower on a CPU.
BATCH_TOKENS = 512
THREADS = 4  # at most: one text is too little work for more


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group positions of texts of about equal length, each group at most `BATCH_TOKENS` when padded to its longest.

    Texts of no tokens are in none; a text that is longer by itself is a group of its own.
    """
    batch: list[int] = []
    for position in sorted((at for at, length in enumerate(lengths) if length), key=lambda at: (lengths[at], at)):
        if batch and (len(batch) + 1) * lengths[position] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def usable_threads() -> int:
    """Return how many threads a run should use: the cores this process may use, `THREADS` at most."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(THREADS, cores)


class LocalEmbedder(ABC, Generic[Model]):
    """An embedder whose model is loaded at the first use, once in a process."""

    def __init__(self, threads: int | None) -> None:
        self._threads = threads or usable_threads()
        self._lock = threading.Lock()
        self._model: Model | None = None
        self._abandoned: list[Model | None] = []
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Let a new session be made: the threads of the old one are not in this process."""
        # Kept, not freed: its destructor would wait for threads that are gone.
        self._abandoned.append(self._model)
        self._model, self._lock = None, threading.Lock()

    @abstractmethod
    def _load(self) -> Model: ...

    def _loaded(self) -> Model:
        if self._model is None:
            with self._lock:
                if self._model is None:
                    with headroom.hold(LOADING):
                        self._model = self._load()
        return self._model

"""How texts are grouped for a local model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

BATCH_TOKENS = 512
"""Tokens of a batch, padding included. It bounds the memory of a run, and larger batches are slower on a CPU."""

THREADS = 4
"""At most: one text is too little work for more."""


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

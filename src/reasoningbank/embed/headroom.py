"""Room for a local model's work: looked for before, where this process was given a limit, and given back after.

A native library that runs out of memory half-way may end the process. What a run needs can be foreseen, so room for it
is looked for first. What it leaves are gaps in the C library's heap, which keeps them unless it is told to let them go.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from reasoningbank.errors import EmbedderUnavailableError
from reasoningbank.forks import renew_after_fork

resource = importlib.import_module("resource") if os.name == "posix" else None
# Of glibc; other C libraries have no such call, and give back by themselves.
trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None

MIB = 1 << 20
# Weights of some 100 MB once they are unpacked, twice for a moment, the threads' stacks and the allocator's arenas.
LOADING = 400 * MIB
# Attention holds three tables of tokens x tokens for each of up to 16 heads, four bytes a number: 36 MB were measured
# for a text of 512 tokens and 12 heads.
BYTES_A_PAIR = 200
# What the other layers, the allocator's arenas and the threads take beside it.
RUNNING = 64 * MIB
# What needs less leaves gaps of a few MB; a query is not kept waiting for those.
WORTH_TRIMMING = 80 * MIB


def of_run(texts: int, tokens: int) -> int:
    """Return how many bytes a model may need to embed so many texts, each padded to so many tokens."""
    return RUNNING + BYTES_A_PAIR * texts * tokens**2


class Headroom:
    """Lets work begin that fits into what the process may still take; one at a time where there is a limit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, needed: int) -> Iterator[None]:
        """Keep `needed` bytes for the block, and give back what it leaves.

        Raises:
            EmbedderUnavailableError: the process's own limit (`ulimit -v`, `ulimit -d`) leaves less.
        """
        with self._lock if _limits() else nullcontext():
            for name, limit, used in _limits():
                if limit - used < needed:
                    raise EmbedderUnavailableError(
                        f"the embedder needs {needed // MIB} MB to work in, and this process may take "
                        f"{(limit - used) // MIB} MB more ({name} is {limit // MIB} MB): raise the limit, or choose "
                        f"the embedder 'hash'"
                    )
            yield
        if trim is not None and needed >= WORTH_TRIMMING:
            trim(0)


headroom = Headroom()


def _limits() -> list[tuple[str, int, int]]:
    """Return the name, bytes and use of each limit that this process has; nothing where none can be read."""
    if resource is None:
        return []
    kinds = (("RLIMIT_AS", resource.RLIMIT_AS, 0), ("RLIMIT_DATA", resource.RLIMIT_DATA, 5))
    limits = [(name, resource.getrlimit(kind)[0], column) for name, kind, column in kinds]
    limited = [each for each in limits if each[1] != resource.RLIM_INFINITY]
    try:
        pages = [int(count) for count in Path("/proc/self/statm").read_text("ascii").split()] if limited else []
    except OSError:  # only Linux tells it there
        return []
    return [(name, limit, pages[column] * resource.getpagesize()) for name, limit, column in limited]

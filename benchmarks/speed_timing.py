"""How long calls take: every call is timed alone, so that medians and 95th percentiles can be told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def each_ms(call: Callable[[T], object], arguments: Iterable[T]) -> list[float]:
    """Call once for each argument, and return the milliseconds that each call took."""
    taken = []
    for argument in arguments:
        start = time.perf_counter()
        call(argument)
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


def median(taken: list[float]) -> float:
    """Return the median, to the microsecond."""
    return round(float(np.median(taken)), 4)


def p95(taken: list[float]) -> float:
    """Return the 95th percentile, to the microsecond."""
    return round(float(np.percentile(taken, 95)), 4)


def fsync_ms(folder: Path, times: int = 50) -> float:
    """Return what it costs to append one page to a file in this folder and wait for the disk."""
    path = folder / "fsync-probe"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:

        def append(_: int) -> None:
            os.write(descriptor, bytes(4096))
            os.fsync(descriptor)

        return median(each_ms(append, range(times)))
    finally:
        os.close(descriptor)
        path.unlink()


def disk_bytes(folder: Path) -> int:
    """Return how much the files below a folder hold."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

"""What calls take that are made at once: many threads that recall, and readers beside a writer."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.speed_lessons import K, opened
from benchmarks.speed_timing import each_ms, median, p95
from reasoningbank import ReasoningBank

THREADS = 50
REPEATS = 2
# Readers are agents: each thinks for a moment between its searches.
PAUSE = 0.02
READERS = 4
READ = 100


def threads_ratio(root: Path, tasks: Sequence[str]) -> float:
    """Return how many times longer recalls take that 50 threads make at once than the same ones one after another.

    Both are done in turns, each by a handle that was not asked for these tasks before; the median is returned.
    """
    shares = [tasks[first::THREADS] for first in range(min(THREADS, len(tasks)))]
    ratios = [_recalled(root, shares, len(shares)) / _recalled(root, shares, 1) for _ in range(REPEATS)]
    return round(median(ratios), 2)


def _recalled(root: Path, shares: Sequence[Sequence[str]], threads: int) -> float:
    """Return the seconds that the recalls of all shares took together."""
    with opened(root) as bank, ThreadPoolExecutor(threads) as pool:
        bank.search("warm up", K)
        start = time.perf_counter()
        # Taken from the iterator, a failure in a thread is raised here.
        list(pool.map(lambda share: each_ms(bank.recall, share), shares))
        return time.perf_counter() - start


def readers_p95_ratio(bank: ReasoningBank, queries: Sequence[str], lessons: Sequence[dict[str, Any]]) -> float:
    """Return how many times longer the slowest reader's p95 is with three other readers and a writer than alone.

    The queries were asked before, alone and together; the writer writes as long as anyone reads.
    """
    asked = queries[:READ]
    for query in asked:
        bank.search(query, K)
    alone = p95(_read(bank, asked))
    done = threading.Event()
    with ThreadPoolExecutor(READERS + 1) as pool:
        writer = pool.submit(_write, bank, _without_end(lessons), done)
        try:
            readers = [pool.submit(_read, bank, asked) for _ in range(READERS)]
            slowest = max(p95(reader.result()) for reader in readers)
        finally:
            done.set()
        writer.result()
    return round(slowest / alone, 2)


def _read(bank: ReasoningBank, queries: Sequence[str]) -> list[float]:
    taken = []
    for query in queries:
        taken += each_ms(lambda q: bank.search(q, K), [query])
        time.sleep(PAUSE)
    return taken


def _write(bank: ReasoningBank, lessons: Iterator[dict[str, Any]], done: threading.Event) -> None:
    while not done.is_set():
        bank.record(**next(lessons))
        time.sleep(PAUSE)


def _without_end(lessons: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lessons again and again; in each round they say something else."""
    for turn in itertools.count():
        for lesson in lessons:
            yield lesson | {"content": f"{lesson['content']} Turn {turn}."}

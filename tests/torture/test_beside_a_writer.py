"""How long a search takes while another process writes without a pause."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import pytest

from tests.processes import exit_code, start
from tests.torture.life import lessons, open_bank


@pytest.mark.perf
def test_a_search_beside_a_writer_takes_no_more_than_three_times_as_long(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    bank.record_many(lessons(2_000))

    def p95() -> float:
        times = []
        for i in range(300):
            # Its own time: readers wait for nobody, and what else the machine does is not the writer's doing.
            begin = time.thread_time()
            bank.search(f"lesson {i}", limit=5, min_confidence=0.0)
            times.append(time.thread_time() - begin)
        return statistics.quantiles(times, n=20)[-1]

    p95()
    alone = p95()

    def write() -> None:
        mine = open_bank(quick_folder)
        memory = mine.record("Busy", "Always writing.", outcome="success").memory.id
        for i in range(1_000_000):
            mine.vote(memory, True, ref=str(i))
            mine.record(f"busy {i}", f"busy {i}", outcome="success")

    writer = start(write)
    try:
        time.sleep(0.5)
        beside = p95()
    finally:
        os.kill(writer, 9)
        exit_code(writer)
    assert beside <= 3 * alone, f"p95 {alone * 1e3:.1f} ms alone, {beside * 1e3:.1f} ms beside a writer"

"""Bursts, adapters and tenants: `python -m benchmarks.frameworks --json`.

How many runs get their lessons when many begin at once, with default settings; what an adapter takes beside the bank's
own calls; and what many tenants cost of whom few are active.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.frameworks_doors import DOORS, Door, task
from reasoningbank import ReasoningBank, Tenants

AT_ONCE = (5, 20, 50, 100)
RUNS_EACH = 1
REPEATS = 60
OPENED, ACTIVE, CALLS_EACH = 1_000, 50, 3
BEGUN_AT_ONCE = 8
LESSONS = 300


def filled(root: Path) -> ReasoningBank:
    """Return a bank with lessons, of which some fit what the runs ask."""
    bank = ReasoningBank(root, tenant="acme", project="frameworks")
    bank.record_many(
        {"title": f"Lesson {n}", "content": f"When you {task(n)}, pass option {n}.", "outcome": "success"}
        for n in range(LESSONS)
    )
    return bank


# -- bursts ------------------------------------------------------------------------------------------------------------


def in_threads(run: Callable[[int], bool], count: int) -> list[bool]:
    """Begin so many threads at once, and return for each run whether its model was shown lessons."""
    start = threading.Barrier(count)

    def worker(number: int) -> list[bool]:
        start.wait(60)
        return [run(number * RUNS_EACH + n) for n in range(RUNS_EACH)]

    with ThreadPoolExecutor(count) as threads:
        return [shown for runs in threads.map(worker, range(count)) for shown in runs]


def in_tasks(run: Callable[[int], Any], count: int) -> list[bool]:
    """Begin so many tasks of one event loop at once, and return for each run whether its model was shown lessons."""

    async def worker(number: int) -> list[bool]:
        return [await run(number * RUNS_EACH + n) for n in range(RUNS_EACH)]

    async def every() -> list[bool]:
        return [shown for runs in await asyncio.gather(*map(worker, range(count))) for shown in runs]

    return asyncio.run(every())


def delivered(doors: Sequence[Door], at_once: Sequence[int]) -> dict[str, dict[str, float]]:
    """Return by door and number at once the share of runs whose model was shown lessons."""
    shares: dict[str, dict[str, float]] = {}
    for door in doors:
        for count in at_once:
            for how, shown in (("threads", in_threads(door.run, count)), ("tasks", in_tasks(door.arun, count))):
                shares.setdefault(f"{door.name}, {how}", {})[str(count)] = round(statistics.fmean(shown), 4)
    return shares


# -- an adapter beside the bank ----------------------------------------------------------------------------------------


def adapter_ratio(door: Door, bank: ReasoningBank, repeats: int) -> float:
    """Return what the adapter adds to a run, as a multiple of the bank's own calls for it.

    A run without the adapter, one with it, and one without it that is followed by a recall and a report are taken in
    turns, each for a task of its own: so the bank's calls, too, come after what the framework does. Medians of the
    differences in processor time are compared, so that what else the machine does counts for little.
    """
    taken: dict[str, list[float]] = {"bare": [], "with": [], "bank": []}

    def calls(number: int) -> None:
        door.bare(number)
        bank.report("unknown", ref=bank.recall(task(number + LESSONS), timeout=0.5).ref)

    ways = {"bare": door.bare, "with": door.timed, "bank": calls}
    for number in range(-5, repeats):
        for name, way in ways.items():
            begun = time.process_time()
            way(number + 5)
            if number >= 0:
                taken[name].append(time.process_time() - begun)

    def added(name: str) -> float:
        return statistics.median(took - bare for took, bare in zip(taken[name], taken["bare"], strict=True))

    return round(added("with") / added("bank"), 2)


# -- tenants -----------------------------------------------------------------------------------------------------------


def tenants(root: Path, opened: int, active: int) -> dict[str, float]:
    """Return what a process holds after it opened banks of many tenants, while some of them are at work."""
    kept = Tenants(root, embedder="hash")
    before = _held()
    handles = [kept.open(f"tenant {n}", "support") for n in range(opened)]

    def begin(bank: ReasoningBank) -> None:
        bank.record("Quote paths", "Put paths in quotes: names hold blanks.", outcome="failure")

    with ThreadPoolExecutor(BEGUN_AT_ONCE) as threads:
        list(threads.map(begin, handles))
    most: dict[str, float] = {}

    def work(bank: ReasoningBank) -> None:
        for n in range(CALLS_EACH):
            bank.report("success", ref=bank.recall(f"quote the paths of {task(n)}", timeout=0.5).ref or None)
            for name, held in _held().items():
                most[name] = max(most.get(name, 0), held)

    with ThreadPoolExecutor(active) as threads:
        list(threads.map(work, handles[:active]))
    kept.close()
    grown = round(most["rss_mb"] - before["rss_mb"], 1)
    return {
        "opened": opened,
        "active": active,
        "descriptors": most["descriptors"],
        "threads": most["threads"] - active,
        "grown_mb": grown,
    }


def _held() -> dict[str, float]:
    resident = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "rss_mb": int(resident.split()[1]) / 1024,
    }


# -- all of it ---------------------------------------------------------------------------------------------------------


def run(
    *, at_once: Sequence[int] = AT_ONCE, repeats: int = REPEATS, opened: int = OPENED, active: int = ACTIVE
) -> dict[str, Any]:
    """Measure everything."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        # First, while the process has neither a model nor the threads of the frameworks.
        many = tenants(root / "tenants", opened, active)
        with filled(root / "bank") as bank:
            doors = [make(bank) for make in DOORS]
            shares = delivered(doors, at_once)
            ratios = {door.name: adapter_ratio(door, bank, repeats) for door in doors}
            late = bank.upkeep.status().late_recalls
            for door in doors:
                door.close()
    return {
        "delivered": {str(n): min(found[str(n)] for found in shares.values()) for n in at_once},
        "adapter_ratio": max(ratios.values()),
        "tenants": many,
        "late_recalls": late,
        "doors": shares,
        "adapters": ratios,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--tenants", type=int, default=OPENED, help="how many tenants to open")
    options = parser.parse_args(argv)
    figures = run(opened=options.tenants, active=min(ACTIVE, options.tenants))
    if options.json:
        print(json.dumps(figures))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("", *figures["delivered"], title="runs that got their lessons, by how many began at once")
    for name, found in figures["doors"].items():
        table.add_row(name, *(f"{share:.1%}" for share in found.values()))
    console = Console()
    console.print(table)
    for name, ratio in figures["adapters"].items():
        console.print(f"{name}: the adapter takes {ratio:.2f} times what the bank's own calls take")
    console.print("tenants:", ", ".join(f"{name} {value:g}" for name, value in figures["tenants"].items()))


if __name__ == "__main__":
    main()

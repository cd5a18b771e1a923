"""How fast is the bank, beside raw FAISS, beside the least that is possible here, and beside what others install?

    python -m benchmarks.speed [--sizes 1000,10000,100000] [--data FOLDER] [--peers] [--json]

All use one stub embedder, the same texts and the same vectors, in one run: on a busy machine trust the ratios, not the
milliseconds. With --json the last line is one JSON object; without, a table.

What is imported in bulk are real lessons: those in the corpus.jsonl of --data, or passages of this repository's docs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.speed_bank import measure
from benchmarks.speed_bulk import real_lessons
from benchmarks.speed_peers import measure_peers
from benchmarks.speed_timing import fsync_ms

GOALS = {
    "query_ratio": "1,000: ≤ 8; 10,000: ≤ 3; 100,000: ≤ 0.6",
    "query_p95_ms": "≤ 3 × p50",
    "query_minilm_cached_extra_ms": "≤ 0.05",
    "minilm_import_share": "≥ 0.9",
    "get_ms": "≤ 0.05",
    "recall_ratio": "≤ 1.5",
    "record_ratio": "≤ 4",
    "record_durable_ms": "≤ 1.2 fsyncs",
    "feedback_ratio": "≤ 4",
    "report_ratio": "≤ 4",
    "open_ms": "10,000: ≤ 50; 100,000: ≤ 300",
    "import_ms": "≤ 300",
    "bulk_per_s": "≥ 20,000",
    "disk_ratio": "≤ 2.5",
    "rss_above_imports_mb": "≤ 1.3 × vectors + 150",
    "recall@10": "≥ 0.99",
    "readers_p95_ratio": "≤ 2",
    "threads_ratio": "≤ 1.3",
}


def run(
    sizes: list[int], *, peers: bool, data: Path | None = None, queries: int = 200, writes: int = 100
) -> dict[str, Any]:
    """Measure each size in a folder of its own, which is gone afterwards."""
    real = real_lessons(data)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="speed-") as folder:
        fsync = fsync_ms(Path(folder))
        for size in sizes:
            figures[str(size)] = measure(size, Path(folder) / str(size), real, queries, writes)
            figures[str(size)]["peers"] = measure_peers(size, Path(folder), queries) if peers else {}
    return {"sizes": figures, "fsync_ms": fsync, "imported": real.said}


def table(figures: dict[str, Any]) -> Table:
    """Return the figures for people: a row for each figure, a column for each size."""
    title = f"Speed; one fsync takes {figures['fsync_ms']} ms here; imported in bulk: {figures['imported']}"
    shown = Table("", *figures["sizes"], "goal", title=title)
    rows: dict[str, dict[str, str]] = {}
    for size, of_size in figures["sizes"].items():
        for name, value in of_size["faiss"].items():
            rows.setdefault(f"FAISS {name}", {})[size] = f"{value:,}"
        for name, value in of_size["floors"].items():
            rows.setdefault(f"floor {name}", {})[size] = f"{value:,}"
        for name, value in of_size["bank"].items():
            rows.setdefault(name, {})[size] = f"{value:,}"
        for peer, of_peer in of_size["peers"].items():
            for name, value in of_peer.items():
                rows.setdefault(f"{peer} {name}", {})[size] = str(value)
    for name, values in rows.items():
        shown.add_row(name, *(values.get(size, "") for size in figures["sizes"]), GOALS.get(name, ""))
    return shown


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="how many memories, comma-separated")
    parser.add_argument("--data", type=Path, help="a folder whose corpus.jsonl is imported in bulk")
    parser.add_argument("--peers", action="store_true", help="measure other libraries too, each in its own environment")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    figures = run(sizes, peers=arguments.peers, data=arguments.data)
    console = Console()
    if arguments.json:
        console.out(json.dumps(figures), highlight=False)
    else:
        console.print(table(figures))


if __name__ == "__main__":
    main()

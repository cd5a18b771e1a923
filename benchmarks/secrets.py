"""How many secrets does the scrubber drop, and what else does it cost?

    python -m benchmarks.secrets --data labelled.jsonl [--json]
    python -m benchmarks.secrets --data FOLDER

Each line of the data is {"label": "secret", "type": ..., "text": ..., "secrets": [...]} or {"label": "clean",
"text": ...}; a Python script is run, and its output taken; of a folder, every such file and script, each with a figure
of its own, so that what the rules were tuned on and what they never met can lie side by side. A secret is recalled when
no piece of 12 characters of it is left. With --json the last line is one JSON object; without, a table.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from reasoningbank.screening.scrub import scrub

PIECE = 12
GOALS = {"recall": "≥ 0.98", "false_alarms": "≤ 0.02", "other_words_lost": "≤ 0.02"}


def files_of(data: Path) -> list[Path]:
    """Return the labelled sets of a folder, sorted; or the one that is named."""
    return sorted(file for file in data.iterdir() if file.suffix in (".jsonl", ".py")) if data.is_dir() else [data]


def rows_of(data: Path) -> list[dict[str, Any]]:
    """Read a labelled set, or run the script that prints one."""
    if data.suffix == ".py":
        text = subprocess.run([sys.executable, str(data)], capture_output=True, text=True, check=True).stdout
    else:
        text = data.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def is_left(secret: str, text: str) -> bool:
    """Tell whether a piece of 12 characters (or all of a shorter secret) is still there."""
    return any(secret[i : i + PIECE] in text for i in range(max(1, len(secret) - PIECE + 1)))


def words_around(text: str, secrets: Iterable[str]) -> Counter[str]:
    """Return the words of `text` that are not part of a secret."""
    for secret in secrets:
        text = text.replace(secret, " ")
    return Counter(re.findall(r"\w+", text))


def measure(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return recall, share of clean texts that were changed, share of other words lost, and recall by type."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    clean = changed = words = lost = 0
    for row in rows:
        scrubbed = scrub(row["text"]).text
        if row["label"] == "clean":
            clean += 1
            changed += scrubbed != row["text"]
            continue
        for secret in row["secrets"]:
            total[row["type"]] += 1
            found[row["type"]] += not is_left(secret, scrubbed)
        around = words_around(row["text"], row["secrets"])
        words += around.total()
        lost += (around - Counter(re.findall(r"\w+", scrubbed))).total()
    return {
        "recall": found.total() / max(1, total.total()),
        "false_alarms": changed / max(1, clean),
        "other_words_lost": lost / max(1, words),
        "by_type": {kind: found[kind] / total[kind] for kind in sorted(total)},
    }


def show(result: dict[str, Any]) -> None:
    """Print a table for people."""
    table = Table("measure", "value", "goal", title="Secrets")
    for name, goal in GOALS.items():
        table.add_row(name, f"{result[name]:.4f}", goal)
    for name, alone in result.get("by_file", {}).items():
        table.add_row(name, f"recall {alone['recall']:.4f}, false alarms {alone['false_alarms']:.4f}", "")
    for kind, recall in result["by_type"].items():
        if recall < 1:
            table.add_row(f"recall of {kind}", f"{recall:.3f}", "")
    Console().print(table)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="labelled .jsonl, a script that prints one, or a folder of both"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    sets = {file.name: rows_of(file) for file in files_of(arguments.data)}
    result = measure(row for rows in sets.values() for row in rows)
    if len(sets) > 1:
        result["by_file"] = {name: measure(rows) for name, rows in sets.items()}
    if arguments.json:
        print(json.dumps(result))
    else:
        show(result)


if __name__ == "__main__":
    main()

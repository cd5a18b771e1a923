"""How many secrets does the scrubber drop, and what else does it cost?

    python -m benchmarks.secrets --data PATH [PATH ...] [--json]

PATH is a file, or a folder of them. Each line is {"label": "secret", "type": ..., "text": ..., "secrets": [...]} or
{"label": "clean", "text": ...}; a Python script is run, and its output taken. A secret is recalled when no piece of 12
characters of it is left. The figures come for the generator that the rules were tuned on (`make_secrets.py`), and for
what they were not; of several files, for each too. With --json the last line is one JSON object; without, a table.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.given import ASIDE, TUNED, files, objects
from reasoningbank.screening.scrub import scrub

PIECE = 12
GENERATOR = "make_secrets.py"
GOALS = {"recall": "≥ 0.98", "false_alarms": "≤ 0.02", "other_words_lost": "≤ 0.02"}


def rows_of(data: Path) -> list[dict[str, Any]]:
    """Read a labelled set, or run the script that prints one."""
    if data.suffix != ".py":
        return list(objects(data))
    text = subprocess.run([sys.executable, str(data)], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in text.split("\n") if line.strip()]


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


def show(results: dict[str, dict[str, Any]]) -> None:
    """Print a table for people."""
    table = Table("measure", *results, "goal", title="Secrets")
    for name, goal in GOALS.items():
        table.add_row(name, *(f"{result[name]:.4f}" for result in results.values()), goal)
    for name, result in results.items():
        for kind, recall in result["by_type"].items():
            if recall < 1:
                table.add_row(
                    f"recall of {kind}", *(f"{recall:.3f}" if name == column else "" for column in results), ""
                )
    Console(width=140).print(table)


def main(arguments: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """Measure, print, and return the figures by whether rules were tuned on it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="labelled .jsonl, or scripts that print it")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    given = parser.parse_args(arguments)
    sets = {path.name: rows_of(path) for path in files(given.data, ".jsonl", ".py")}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, found in sets.items():
        rows[TUNED if name == GENERATOR else ASIDE] += found
    results = {name: measure(rows[name]) for name in sorted(rows, reverse=True)}
    if len(sets) > len(rows):
        results |= {name: measure(found) for name, found in sets.items()}
    if given.json:
        print(json.dumps(results))
    else:
        show(results)
    return results


if __name__ == "__main__":
    main()

"""How well does the bank tell a failed act by its output?

    python -m benchmarks.detection [--data FILE] [--json] [--wrong]

The data is a text in which each output follows a line `%% TOOL | failed` or `%% TOOL | fine`. Without --data both
halves of the set in tests/outputs are measured: the one that the rules were written on and the one kept aside. With
--json the last line is one JSON object; without, a table. --wrong lists what was told wrongly.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from reasoningbank.outputs import failure_of

HALVES = {half: Path("tests/outputs") / f"{half}.txt" for half in ("tuning", "aside")}
ITEM = re.compile(r"(?ms)^%% (?P<tool>[^|\n]+) \| (?P<label>failed|fine)\n(?P<text>.*?)(?=^%% |\Z)")


class Output(NamedTuple):
    """One labelled output of a tool."""

    tool: str
    failed: bool
    text: str


def read(path: Path) -> list[Output]:
    """Read a labelled set."""
    return [Output(m["tool"], m["label"] == "failed", m["text"]) for m in ITEM.finditer(path.read_text("utf-8"))]


def measure(outputs: Sequence[Output]) -> dict[str, Any]:
    """Return how many outputs there are, precision and recall of failures, and what was told wrongly."""
    told = [failure_of(output.text) is not None for output in outputs]
    both = sum(output.failed and said for output, said in zip(outputs, told, strict=True))
    return {
        "outputs": len(outputs),
        "failed": sum(output.failed for output in outputs),
        "precision": round(both / max(1, sum(told)), 3),
        "recall": round(both / max(1, sum(output.failed for output in outputs)), 3),
        "wrong": [output for output, said in zip(outputs, told, strict=True) if output.failed is not said],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--half", choices=list(HALVES))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    given = parser.parse_args()
    sets = {given.data.name: given.data} if given.data else HALVES
    figures = {name: measure(read(path)) for name, path in sets.items() if given.half in (None, name)}
    if given.wrong:
        for figure in figures.values():
            for tool, failed, text in figure["wrong"]:
                print(f"{'missed' if failed else 'taken for a failure'}: {tool}\n{text}")
    if given.json:
        print(json.dumps({name: {**figure, "wrong": len(figure["wrong"])} for name, figure in figures.items()}))
        return
    table = Table("set", "outputs", "of which failed", "precision (≥ 0.95)", "recall (≥ 0.95)")
    for name, figure in figures.items():
        table.add_row(name, *(str(figure[key]) for key in ("outputs", "failed", "precision", "recall")))
    Console().print(table)


if __name__ == "__main__":
    main()

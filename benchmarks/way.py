"""How long the way of each call through the package is.

    python -m benchmarks.way [--json]

Counted in a bank of 60 lessons with the hash embedder, in a process that made each of the calls before. With --json
the last line is one JSON object; without, a table.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.speed_lessons import Texts, texts
from benchmarks.way_counted import Way, statements_sent, way_of
from reasoningbank import ReasoningBank

LESSONS = 60
NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def ways(root: Path) -> dict[str, Way]:
    """Fill a bank under `root`, make each call in it once, and then again with its way counted."""
    made = texts(LESSONS + 2, 4)
    with (
        statements_sent() as sent,
        ReasoningBank(root, tenant="way", project="way", embedder="hash", clock=lambda: NOON) as bank,
    ):
        bank.record_many(made.lessons[:LESSONS])
        before = _calls(bank, made, 0)
        for call in before.values():
            call()
        # So that no reading call is counted with what the writing ones before it left to catch up with.
        for name in ("get", "list", "search, again"):
            before[name]()
        return {name: way_of(call, sent) for name, call in _calls(bank, made, 1).items()}


def _calls(bank: ReasoningBank, made: Texts, turn: int) -> dict[str, Callable[[], object]]:
    """Return the calls of one turn, in their order; no two turns use the same words, or change the same memory."""
    new, task = made.queries[2 * turn : 2 * turn + 2]
    known, *others = (memory.id for memory in bank.list().memories)
    ref = f"run {turn}"
    return {
        "get": lambda: bank.get(known),
        "list": lambda: bank.list(limit=10),
        "search, new words": lambda: bank.search(new),
        "search, again": lambda: bank.search(new),
        "recall, new words": lambda: bank.recall(task, 3, ref=ref),
        "recall, again": lambda: bank.recall(task, 3),
        "report on three": lambda: bank.report("success", ref=ref),
        "vote": lambda: bank.vote(others[turn], True),
        "record": lambda: bank.record(**made.lessons[LESSONS + turn]),
    }


def table(counted: dict[str, Way]) -> Table:
    """Return the counts for people: a row for each call."""
    names = [field.name for field in fields(Way)]
    shown = Table("", title="The way of a call through the package")
    for name in names:
        shown.add_column(name, justify="right")
    for call, way in counted.items():
        shown.add_row(call, *(str(getattr(way, name)) for name in names))
    return shown


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="way-") as folder:
        counted = ways(Path(folder))
    console = Console()
    if arguments.json:
        console.out(json.dumps({call: asdict(way) for call, way in counted.items()}), highlight=False)
    else:
        console.print(table(counted))


if __name__ == "__main__":
    main()

"""`python -m examples.demo`: an agent that fails, learns and passes, in a terminal."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from examples.demo import view
from examples.demo.rounds import run
from reasoningbank import BankRoot, ReasoningBank

TENANT = "demo"


def main() -> None:
    """Run the demonstration, and print what happens as it happens. The bank stays, to be looked at."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument("--root", type=Path, help="folder for the bank; a temporary one if not given")
    parser.add_argument("--embedder", default="minilm")
    given = parser.parse_args()
    root = given.root or Path(tempfile.mkdtemp(prefix="reasoningbank-demo-"))
    console = Console(highlight=False, markup=False, emoji=False)
    with _banks(root, given.embedder) as (bank, empty):
        view.opening(console, bank.upkeep.status())
        for event in run(bank, empty):
            view.show(console, event, bank)


@contextmanager
def _banks(root: Path, embedder: str) -> Iterator[tuple[ReasoningBank, ReasoningBank]]:
    """Give an empty bank that stays, and one that goes: that of the round without memory."""
    with BankRoot(root, tenant=TENANT, embedder=embedder) as banks:
        taken = set(banks.projects())
        names = ("demo", *(f"demo-{n}" for n in range(2, len(taken) + 3)))
        name = next(name for name in names if name not in taken)
        without = f"{name}, without memory"
        try:
            yield banks.open(name), banks.open(without)
        finally:
            if without in banks.projects():
                banks.delete_project(without)


if __name__ == "__main__":
    main()

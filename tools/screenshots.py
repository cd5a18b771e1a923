"""Pictures of the command line at 60 and 120 columns: `python -m tools.screenshots FOLDER`, or `make screenshots`.

What the program writes into a terminal is drawn as it stands, so that a picture cannot show more than a reader sees.
"""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from reasoningbank import ReasoningBank
from reasoningbank.cli.entry import run

WIDTHS: Final = (60, 120)
COMMANDS: Final = {
    "help": ["--help"],
    "search": ["search", "load a CSV file"],
    "list": ["list", "--all"],
    "episodes": ["episodes"],
    "status": ["status"],
    "projects": ["projects"],
}

# Fonts that a reader's browser would fetch.
_FONTS: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def furnish(root: Path) -> None:
    """Make a small bank as somebody has it after a week."""
    with ReasoningBank(root, tenant="acme", project="billing", embedder="hash") as bank:
        csv = bank.record(
            "Parse CSV with the csv module",
            "Use csv.reader, not split(','): a quoted field may hold a comma, and the last row may lack a line end.",
            outcome="success",
            tags=["csv", "parsing"],
        ).memory
        bank.record(
            "Run the migrations before the tests",
            "Run `make migrate` first: the test database starts empty, and every test fails with 'no such table'.",
            outcome="failure",
            tags=["database", "tests"],
        )
        bank.exchange.import_from([{"text": "Load big CSV files in chunks, or the machine swaps"}], by="forum")
        bank.upkeep.archive(bank.record("Use the old exporter", "It is gone.", outcome="success").memory.id)
        for task, verdict in (
            ("load the sales figures of March from a CSV file with quoted fields", "success"),
            ("import the customers' CSV file into the staging database", "failure"),
        ):
            bank.report(verdict, ref=bank.recall(task, thread="week-9").ref)
        bank.recall("load the returns from the CSV file that the warehouse sends")
        bank.vote(csv.id, True, by="ada")
    with ReasoningBank(root, tenant="acme", project="website", embedder="hash") as bank:
        bank.record("Purge the cache after a deploy", "Or visitors see the old page.", outcome="failure")


def drawn(arguments: list[str], columns: int) -> tuple[str, str]:
    """Return what a command writes into a terminal of so many columns: as text, and as a picture (SVG)."""
    return picture(in_a_terminal(arguments, columns), columns, f"reasoningbank {' '.join(arguments)}")


def picture(said: str, columns: int, title: str) -> tuple[str, str]:
    """Return what was written into a terminal as plain text, and as a picture (SVG) that fetches no font."""
    text = Text.from_ansi(said)
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(text)
    # The same names in it whenever it is drawn, so that a picture changes only when what it shows does.
    return text.plain, _FONTS.sub("", console.export_svg(title=title, unique_id="terminal"))


def in_a_terminal(arguments: list[str], columns: int) -> str:
    """Run a command with a terminal of so many columns, and return what it wrote."""
    leader, follower = pty.openpty()
    said = bytearray()

    def look_on() -> None:
        with contextlib.suppress(OSError):  # Linux says so when the other end closed.
            while chunk := os.read(leader, 65536):
                said.extend(chunk)

    onlooker = threading.Thread(target=look_on)
    onlooker.start()
    before = sys.stdout
    with _variables(TERM="xterm-256color", COLUMNS=str(columns)), os.fdopen(follower, "w", encoding="utf-8") as screen:
        sys.stdout = screen
        try:
            run(arguments)
        finally:
            sys.stdout = before
    onlooker.join()
    os.close(leader)
    return said.decode().replace("\r\n", "\n")


@contextlib.contextmanager
def _variables(**given: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def main(folder: Path) -> int:
    """Draw every command at every width into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as root:
        furnish(Path(root))
        with _variables(REASONINGBANK_ROOT=root, REASONINGBANK_TENANT="acme", REASONINGBANK_PROJECT="billing"):
            for name, arguments in COMMANDS.items():
                for columns in WIDTHS:
                    (folder / f"{name}-{columns}.svg").write_text(drawn(arguments, columns)[1], "utf-8")
    sys.stdout.write(f"Drew {len(COMMANDS) * len(WIDTHS)} pictures into {folder}.\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")))

"""How text reaches a terminal, or a pipe, where nothing is wrapped, cut, padded or coloured.

Texts of memories are data: they are never read as markup.
"""

from __future__ import annotations

import os
import select
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import IO, Final, NoReturn

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

# Columns of what has none: a pipe, a file, a terminal with --plain.
ENDLESS: Final = 1_000_000
HANGING: Final = 7


class PipeConsole(Console):
    """A console that says when its pipe was closed, in place of ending the process with exit code 1."""

    def on_broken_pipe(self) -> NoReturn:
        """Tell it to the caller. Called while the BrokenPipeError is handled."""
        raise BrokenPipeError


def pressed_key() -> str:
    """Wait for a key, and return what it types; "" for one that types nothing (an arrow), "q" at the end of input."""
    try:
        import termios
        import tty
    except ImportError:
        return typer.getchar()
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        # Draining, not flushing: what was typed ahead counts too.
        tty.setcbreak(keyboard, termios.TCSADRAIN)
        first = os.read(keyboard, 1)
        # The rest of what an arrow or a function key sends, whose letters nobody typed.
        while first == b"\x1b" and select.select([keyboard], [], [], 0)[0]:
            os.read(keyboard, 1)
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
    return "" if first == b"\x1b" else first.decode("ascii", "ignore") or ("" if first else "q")


def console_of(file: IO[str], *, plain: bool = False) -> Console:
    """Return the console of a stream; with `plain` as if it were no terminal. NO_COLOR is heeded."""
    console = PipeConsole(
        file=file, highlight=False, markup=False, emoji=False, force_terminal=False if plain else None
    )
    if not console.is_terminal:
        console.width = ENDLESS
    return console


def shown(text: str) -> str:
    """Return a text as it may be sent to a terminal: control characters, which could steer it, become U+FFFD."""
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" and c not in "\n\t" else c for c in text)


def sentence(console: Console, text: str, style: str = "") -> None:
    """Print one sentence."""
    console.print(Text(shown(text), style))


def line(console: Console, text: Text | str) -> None:
    """Print a line that is never broken: ids and paths in it can be copied whole."""
    console.print(text if isinstance(text, Text) else Text(text), soft_wrap=True)


def headline(console: Console, text: Text | str) -> None:
    """Print a line that is cut at the terminal's edge."""
    console.print(text, no_wrap=True, overflow="ellipsis")


def indented(console: Console, text: str, style: str = "", by: int = HANGING) -> None:
    """Print a text that stands further right, however many lines it has."""
    if console.is_terminal:
        console.print(Padding(Text(shown(text), style), (0, 0, 0, by), expand=False))
        return
    for each in shown(text).split("\n"):
        line(console, Text(f"{' ' * by}{each}".rstrip(), style))


def facts(console: Console, found: Mapping[str, object]) -> None:
    """Print names and values; those without a value are left out."""
    given = {name: value for name, value in found.items() if value not in (None, "", (), 0, {})}
    wide = max(map(len, given), default=0) + 2 if console.is_terminal else 0
    for name, value in given.items():
        text = value if isinstance(value, Text) else Text(shown(str(value)))
        label = Text(f"{name:<{wide}}" if wide else f"{name}: ", "dim")
        if len(text) + wide <= console.width or " " not in text.plain:
            line(console, Text.assemble(label, text))
            continue
        for number, part in enumerate(text.wrap(console, max(console.width - wide, 20))):
            line(console, Text.assemble(label if not number else " " * wide, part))


def time(at: datetime | None) -> str:
    """Return a time as it is shown, to the minute."""
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else ""


def counts(numbers: Mapping[str, int]) -> str:
    """Return counts by name as one text."""
    return ", ".join(f"{count:,} {name}" for name, count in numbers.items())


def notes(console: Console, problems: Sequence[str]) -> None:
    """Print what did not work as configured."""
    for problem in problems:
        sentence(console, f"Note: {problem}.", "yellow")


def more(console: Console, following: str | None) -> None:
    """Print how to go on behind a page that is not the last."""
    if following is not None:
        sentence(console, f"More: --after {following}", "dim")


def names(console: Console, found: Sequence[str], none: str) -> None:
    """Print names, one a line, or that there are none."""
    for name in found or [none]:
        line(console, shown(name))

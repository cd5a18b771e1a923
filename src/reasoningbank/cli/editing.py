"""Commands that put memories right by hand: edit in an editor, review with one key each."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import Memory, State
from reasoningbank.cli import views
from reasoningbank.cli.arguments import By, MemoryId, UsageError
from reasoningbank.cli.correcting import Reason
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import counts, pressed_key, sentence
from reasoningbank.config import editor
from reasoningbank.formats.markdown import page, read_page

app = typer.Typer(rich_help_panel="Memories")

EDITED: Final = ("title", "description", "applies_when", "outcome", "tags", "content")


@command(app, "edit")
def edit(session: Session, memory_id: MemoryId, *, reason: Reason = None, by: By = None) -> Answer:
    """Open a memory as a page in your editor ($VISUAL or $EDITOR), and store what you changed.

    What it said before is kept: `show --history` has it, `restore --revision` brings it back.
    """
    before = session.bank.get(session.id_of(memory_id))
    said = {name: before.as_json()[name] for name in EDITED}
    changes = {name: value for name, value in _edited(said, before.id).items() if value != said[name]}
    if not changes:
        return Answer(before, "Nothing was changed.")
    return Answer(session.bank.update(before.id, reason=reason, by=by, **changes), views.memory)


def _edited(said: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what somebody makes of a page in an editor; UsageError when there is none, or it ended with an error."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name[:8]}.md"
        file.write_text(page(said), "utf-8")
        asked = shlex.split(editor())
        try:
            ended = subprocess.run([*asked, str(file)], check=False).returncode
        except OSError as error:
            raise UsageError(f"{asked[0]} cannot be started ({error.strerror}): set EDITOR to your editor") from None
        if ended:
            raise UsageError(f"{asked[0]} ended with exit code {ended}; nothing was changed")
        found = read_page(file.read_text("utf-8"), name)
    return said | {key: found[key] if found[key] is not None else "" for key in EDITED if key in found}


# -- review --------------------------------------------------------------------------------------------------------

# The keys, each with its word and what it does; what is held can be approved, what is served can be voted on.
QUARANTINED: Final = {"a": ("approve", "serve it"), "x": ("archive", "keep it out of service"), "d": ("delete", "")}
SERVED: Final = {
    "h": ("helpful", "it helped"),
    "n": ("harmful", "it did not"),
    "x": ("archive", "take it out of service"),
    "d": ("delete", ""),
}
DOUBTED: Final = {"a": ("approve", "end the doubt"), **SERVED}
ALWAYS: Final = {"s": ("skip", ""), "q": ("quit", "")}


@dataclass
class _Reviewed:
    left: list[Memory] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)


@command(app, "review")
def review(
    session: Session,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at the most.")] = 20,
    by: By = None,
) -> Answer:
    """Go through what waits for a person: what is quarantined, what is in doubt, then what nothing has proven yet.

    In a terminal one key decides each. Elsewhere one word a line on standard input does, in the order of the list:
    approve, archive, delete, helpful, harmful, skip or quit; without any, the list is printed, with the command that
    decides each.
    """
    waiting = _waiting(session, limit)
    reviewed = _Reviewed(left=list(waiting))
    asks = _words(session)
    for memory in waiting:
        word = _word(session, memory, {**_choices(memory), **ALWAYS}, asks)
        if word in ("", "quit"):
            break
        reviewed.done[word] += 1
        if word != "skip":
            reviewed.left.remove(memory)
            _decide(session, memory, word, by)
    value = {"left": reviewed.left, "decided": dict(reviewed.done)}
    return Answer(value, lambda console, _: _reviewed(console, reviewed))


def _waiting(session: Session, limit: int) -> list[Memory]:
    """Return what waits for a person: what is to be reviewed, then what is provisional, the most used first."""
    held = {memory.id: memory for memory in session.bank.upkeep.review(limit)}
    unproven = session.bank.list(standing="provisional", sort="most_used", limit=limit).memories
    return list({**held, **{memory.id: memory for memory in unproven if memory.id not in held}}.values())[:limit]


def _choices(memory: Memory) -> dict[str, tuple[str, str]]:
    if memory.state is State.QUARANTINED:
        return QUARANTINED
    return DOUBTED if memory.doubted else SERVED


def _decide(session: Session, memory: Memory, word: str, by: str | None) -> None:
    match word:
        case "approve":
            session.bank.upkeep.approve(memory.id)
        case "archive":
            session.bank.upkeep.archive(memory.id, reason="reviewed")
        case "delete":
            session.bank.delete(memory.id)
        case _:
            session.bank.vote(memory.id, word == "helpful", by=by)


def _words(session: Session) -> Iterator[str] | None:
    """Return the words that standard input decides with; None where somebody sits at a terminal."""
    if session.is_interactive:
        return None
    if sys.stdin is None or sys.stdin.isatty():
        return iter(())
    return (line.strip().lower() for line in sys.stdin if line.strip())


def _word(session: Session, memory: Memory, choices: dict[str, tuple[str, str]], asks: Iterator[str] | None) -> str:
    """Return the word of a decision; "" when no more is said."""
    words = {word for word, _ in choices.values()}
    if asks is not None:
        said = next(asks, "")
        said = choices.get(said, (said,))[0]
        if said and said not in words:
            raise UsageError(f"{said!r} decides nothing about {memory.id}: say one of {', '.join(sorted(words))}")
        return said
    console = session.console
    views.memory(console, memory)
    keys = "  ".join(f"[{key}] {word}{f' ({what})' if what else ''}" for key, (word, what) in choices.items())
    console.print(Text(keys, "bold"))
    while True:
        if (key := pressed_key().lower()) in choices:
            return choices[key][0]


def _reviewed(console: Console, reviewed: _Reviewed) -> None:
    if reviewed.done:
        sentence(console, f"Reviewed: {counts(reviewed.done)}.", "bold")
    if not reviewed.left:
        sentence(console, "Nothing waits for a review.")
    for memory in reviewed.left:
        views.listed(console, memory)
        words = [word for word, _ in _choices(memory).values()]
        remedy = "approve" if "approve" in words else "vote --helpful"
        found = "; ".join(memory.findings)
        quarantined = f"Quarantined: {found}" if memory.state is State.QUARANTINED else ""
        why = quarantined or (found[:1].upper() + found[1:] if memory.doubted else "Not proven yet")
        sentence(console, f"       {why}. reasoningbank {remedy} {memory.id[:8]}", "dim")

"""What the commands share that change the files of other programs: shown first, and written with --yes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from reasoningbank.address import ServerAddress
from reasoningbank.cli.session import Answer
from reasoningbank.client_files.change import Change
from reasoningbank.errors import InvalidInputError

Yes = Annotated[bool, typer.Option("--yes", help="Write it; without, it is only shown.")]


def written(root: Path | ServerAddress) -> str:
    """Return a root as it may stand in a client's configuration; InvalidInputError for one with a password in it."""
    if isinstance(root, Path):
        return root.as_posix()
    if str(root) != root.dsn:
        raise InvalidInputError(
            f"{root} holds a password, which a client's configuration is no place for: leave it out, and put it into "
            "a password file (~/.pgpass)"
        )
    return root.dsn


def carried_out(change: Change, *, yes: bool, notes: Sequence[str] = ()) -> Answer:
    """Show a change, carry it out when that is wanted, and say what was done and what is to be known."""
    if yes:
        change.carry_out()
    said = "Nothing to change." if not change.changes else "Written." if yes else "Shown only: --yes writes it."
    value = {"file": str(change.path), "after": change.after, "written": yes and change.changes, "notes": list(notes)}
    return Answer(value, "\n".join([*filter(None, [change.diff]), said, *notes]))

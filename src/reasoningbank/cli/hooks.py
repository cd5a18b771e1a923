"""Commands about the hooks of coding agents: connect a client with a project, take it out, look what is silent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from reasoningbank.address import ServerAddress
from reasoningbank.cli.changes import Yes, carried_out, written
from reasoningbank.cli.help import Group
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.config import data_folder, data_root
from reasoningbank.hooks import install as installing

app = typer.Typer(name="hooks", help="Connect coding agents with a project.", cls=Group)

ClientName = Literal["claude-code", "codex", "cursor", "copilot", "gemini"]
Client = Annotated[ClientName, typer.Argument(metavar="CLIENT", help=", ".join(installing.CLIENTS))]
Folder = Annotated[
    Path | None, typer.Option("--folder", help="A repository's own configuration, in place of the user's.")
]


@command(app, "install", begins=True)
def install(session: Session, client: Client, *, folder: Folder = None, yes: Yes = False) -> Answer:
    """Show what becomes of a client's configuration, and with --yes write it: lessons at prompts and at failures.

    The scope is written down with it: the project that the client's sessions recall from and teach.
    """
    found = installing.client_named(client)
    bank = session.bank
    options = {"state": _state(bank.root).as_posix(), "tenant": bank.tenant, "project": bank.project}
    options |= {"root": written(bank.root)} | ({"shared": ",".join(bank.shared)} if bank.shared else {})
    return carried_out(installing.install(found, installing.file_of(found, folder, Path.home()), options), yes=yes)


@command(app, "uninstall", scope=())
def uninstall(session: Session, client: Client, *, folder: Folder = None, yes: Yes = False) -> Answer:  # noqa: ARG001
    """Show a client's configuration without the hooks, and with --yes write it. Everything else in it stays."""
    found = installing.client_named(client)
    return carried_out(installing.uninstall(found, installing.file_of(found, folder, Path.home())), yes=yes)


@command(app, "doctor", scope=("root",))
def doctor(session: Session, client: Client, *, folder: Folder = None) -> Answer:
    """Say what is wrong with a client's hooks, what never fired, and what the client keeps silent about."""
    found = installing.client_named(client)
    root = data_root(session.scope["root"].value if "root" in session.scope else None)
    said = installing.doctor(found, installing.file_of(found, folder, Path.home()), _state(root))
    wrong = any(not line.startswith("note: ") for line in said)
    value = {"client": client, "checked": found.checked, "findings": said}
    lines = [f"{client}, checked with {found.checked}.", *said]
    return Answer(value, "\n".join(lines), exit_code=int(wrong))


def _state(root: Path | ServerAddress) -> Path:
    # What a session did so far is of this machine, wherever the bank is.
    return (root if isinstance(root, Path) else data_folder(None)) / ".hooks"

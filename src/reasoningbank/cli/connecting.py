"""Commands mcp install, uninstall, agents-md: the server in the configuration of a client."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from reasoningbank.cli.changes import Yes, carried_out, written
from reasoningbank.cli.serving import mcp_app
from reasoningbank.cli.session import Answer, Session, command

# The group of the server's own command.
app = mcp_app

# What stands in reasoningbank.mcp_server is imported when a command runs: its package would slow down every other one.
ClientName = Literal["claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "codex"]
Client = Annotated[ClientName, typer.Argument(metavar="CLIENT", help=", ".join(get_args(ClientName)))]
Options = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- OPTION...]", help="Options of the server, such as -- --read-only; `mcp --help` lists them."
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="A repository's own file, which others may read too, in place of the user's."),
]
Name = Annotated[str, typer.Option("--name", help="The name of the server in the client.")]
Run = Annotated[
    Literal["uvx", "python"],
    typer.Option("--run", help="uvx fetches and runs the package wherever it is started; python is this environment."),
]


@command(app, "install", begins=True)
def install(
    session: Session,
    client: Client,
    options: Options = None,
    *,
    folder: Folder = None,
    name: Name = "reasoningbank",
    run: Run = "uvx",
    yes: Yes = False,
) -> Answer:
    """Show what becomes of a client's configuration with the server in it, and with --yes write it.

    The scope is written down with it. Everything else in the file stays as it is, comments too, and what it was before
    is kept beside it until the server is taken out again.
    """
    from reasoningbank.mcp_server import installing
    from reasoningbank.mcp_server.clients import client_named

    found = client_named(client)
    bank = session.bank
    scope = ["--tenant", bank.tenant, "--project", bank.project]
    # What others read too names no folder of this machine, unless it was asked for.
    if folder is None or "root" in session.scope:
        scope = ["--root", written(bank.root), *scope]
    if session.embedder:
        scope += ["--embedder", session.embedder]
    if session.shared:
        scope += ["--shared", ",".join(session.shared)]
    entry = installing.entry(found, [*scope, *(options or ())], runner=run, shared=folder is not None)
    change = installing.install(found, installing.file_of(found, folder, Path.home()), entry, name)
    notes = [f"In {client}: {note}." for note in found.notes]
    if run == "uvx" and not shutil.which("uvx"):
        notes.append("uvx is not found on this machine: install uv (https://docs.astral.sh/uv), or give --run python.")
    notes.append("So that agents use it: reasoningbank mcp agents-md >> AGENTS.md")
    return carried_out(change, yes=yes, notes=notes)


@command(app, "uninstall", scope=())
def uninstall(
    session: Session,  # noqa: ARG001
    client: Client,
    *,
    folder: Folder = None,
    name: Name = "reasoningbank",
    yes: Yes = False,
) -> Answer:
    """Show a client's configuration without the server, and with --yes write it. Everything else in it stays."""
    from reasoningbank.mcp_server import installing
    from reasoningbank.mcp_server.clients import client_named

    found = client_named(client)
    return carried_out(installing.uninstall(found, installing.file_of(found, folder, Path.home()), name), yes=yes)


@command(app, "agents-md", scope=())
def agents_md(session: Session) -> Answer:  # noqa: ARG001
    """Print a text for AGENTS.md, CLAUDE.md or a client's rules that makes agents use the tools."""
    from reasoningbank.mcp_server.installing import AGENTS_MD

    return Answer({"text": AGENTS_MD}, lambda console, _: console.out(AGENTS_MD, end=""))

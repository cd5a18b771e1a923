"""Commands about PostgreSQL servers as the place of banks, and the way there and back."""

from __future__ import annotations

from typing import Annotated

import typer

from reasoningbank import server
from reasoningbank.address import ServerAddress
from reasoningbank.cli.arguments import Every
from reasoningbank.cli.help import Group
from reasoningbank.cli.session import Answer, Session, command

app = typer.Typer(name="server", help="A PostgreSQL server as the place of banks.", cls=Group)
moving = typer.Typer(rich_help_panel="Upkeep")

Address = Annotated[str, typer.Argument(metavar="DSN", help="postgresql://user@host/database")]
Role = Annotated[
    str | None, typer.Option("--role", help="An existing role to let read and write rows; banks log in as it.")
]
Fleet = Annotated[
    str | None, typer.Option("--fleet", help="An existing role that may, too, and take work of every tenant.")
]
Partitions = Annotated[
    int, typer.Option("--partitions", min=1, max=1_000, help="Parts of the large tables; only the first time counts.")
]
Vectors = Annotated[bool, typer.Option("--vectors", help="Let the server search vectors too; it needs pgvector.")]
To = Annotated[str, typer.Option("--to", metavar="PLACE", help="A folder, or postgresql://user@host/database")]


@command(app, "init", scope=())
def init(
    session: Session,  # noqa: ARG001
    dsn: Address,
    *,
    role: Role = None,
    fleet: Fleet = None,
    partitions: Partitions = 4,
    vectors: Vectors = False,
) -> Answer:
    """Make the schema, as a role that may; run again, it brings it up to this version."""
    before, after = server.init(dsn, role=role, fleet=fleet, partitions=partitions, vectors=vectors)
    shown = str(ServerAddress(dsn))
    said = f"format {after} is there" if before == after else f"format {before} became {after}"
    granted = "" if role is None else f" Banks can log in as {role}."
    granted += "" if fleet is None else f" {fleet} may take work of every tenant."
    value = {"server": shown, "before": before, "after": after, "role": role, "fleet": fleet}
    return Answer(value, f"{shown}: {said}.{granted}")


@command(app, "migrate", scope=())
def migrate(
    session: Session, dsn: Address, *, role: Role = None, fleet: Fleet = None, vectors: Vectors = False
) -> Answer:
    """Bring the schema up to this version, as the role that owns it. Stop older versions of the program first."""
    return init(session, dsn, role=role, fleet=fleet, vectors=vectors)


@command(app, "index", scope=())
def index(
    session: Session,  # noqa: ARG001
    dsn: Address,
    *,
    least: Annotated[int, typer.Option("--least", min=1, help="Vectors from which a project gets one.")] = 20_000,
    most: Annotated[int, typer.Option("--most", min=0, max=1_000, help="How many there may be.")] = 100,
) -> Answer:
    """Give large projects an index of their own over their vectors, as the role that owns the schema.

    For searches that the server makes (init with --vectors). Run it again when projects grew or were embedded anew:
    what is not needed any more is dropped.
    """
    found = server.index(dsn, least=least, most=most)
    said = f"{found.there:,} projects have an index of their own: {found.made:,} made, {found.dropped:,} dropped."
    said += f" {found.left_out:,} more are large." if found.left_out else ""
    return Answer(found, said)


@command(app, "status", scope=())
def status(session: Session, dsn: Address) -> Answer:  # noqa: ARG001
    """Show what stands at an address, and whether banks can be opened with its role."""
    found = server.status(dsn)
    value = {name: getattr(found, name) for name in server.ServerStatus.__slots__}
    usable = "binds" if found.bound else "does not bind"
    lines = [
        f"{found.address}: PostgreSQL {found.version}, {found.size / 1e6:,.1f} MB in {found.partitions} partitions.",
        f"Its format is {found.format}; this version needs {found.newest}.",
        f"Row-level security {usable} the role that logged in.",
    ]
    return Answer(value, "\n".join(lines), exit_code=int(not found.bound or found.format != found.newest))


@command(moving, "move")
def move(session: Session, *, to: To, every: Every = False) -> Answer:
    """Take a project to another folder or server, where it goes on with the same numbers, beliefs and answers.

    With --all the tenant's shared banks go along, with their members.
    """
    banks = session.banks
    names = banks.projects() if every else [session.bank.project]
    rows = {name: banks.move(name, to) for name in names}
    shared = {name: banks.shared.move(name, to) for name in banks.shared.names()} if every else {}
    place = str(ServerAddress.of(to) or to)
    moved = [*rows.items(), *((f"shared bank {name}", many) for name, many in shared.items())]
    lines = [f"{name}: {many:,} rows are in {place}." for name, many in moved]
    value = {"to": place, "rows": rows, "shared": shared}
    return Answer(value, "\n".join(lines or ["There is no project to move."]))

"""Commands mcp and dashboard: the servers."""

from __future__ import annotations

import logging
import sys
import uuid
import webbrowser
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from reasoningbank.cli.arguments import UsageError
from reasoningbank.cli.distilling import DistillerName, WithBaseUrl, WithModel, chosen_distiller
from reasoningbank.cli.help import Group
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.config import environment

if TYPE_CHECKING:
    from reasoningbank.mcp_server import Projects

app = typer.Typer()
EVERY_PROJECT = "*"
DEFAULT_PORT = 8765

Transport = Literal["stdio", "streamable-http", "http"]
LogLevel = Literal["debug", "info", "warning", "error"]
OverTransport = Annotated[
    Transport,
    typer.Option("--transport", help="stdio: one client, which starts the server itself; http is streamable-http."),
]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        help="With streamable-http: 127.0.0.1 when not given; any but this machine's own needs the token "
        "REASONINGBANK_MCP_TOKEN.",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port", min=0, max=65535, help="With streamable-http: 8765 when not given; 0 lets the system choose."
    ),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="A name under which others reach it, such as a proxy's; may be repeated. Requests for others are refused.",
    ),
]
ProjectNames = Annotated[
    str | None,
    typer.Option(
        "--projects",
        metavar="NAME,NAME,...",
        help="In place of --project: several projects, one of which each call names; * for all there are.",
    ),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Only memory_search, which then counts nothing.")]
IsUntrusted = Annotated[
    bool, typer.Option("--untrusted", help="What is recorded through it can take one slot of a result at the most.")
]
ToDistil = Annotated[
    DistillerName | None,
    typer.Option("--distiller", help="Also offer memory_distill; template needs no model; llm asks that of --model."),
]
Allowed = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="list|update|retire|approve",
        help="Also offer memory_list, memory_update, memory_retire or memory_approve; may be repeated.",
    ),
]
RecordsAs = Annotated[str, typer.Option("--by", help="The name under which it records, votes and reports.")]
Logged = Annotated[LogLevel, typer.Option("--log-level", help="What is logged.")]


class _ServingUnlessTold(Group):
    """A group of which `serve` is meant where no command is named: a client's settings start `reasoningbank mcp`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_named = bool(args) and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_named else ["serve", *args])


mcp_app = typer.Typer(name="mcp", help="Serve a project to MCP clients, and put it into them.", cls=_ServingUnlessTold)


@command(mcp_app, "serve", with_json=False, begins=True, filtered=True)
def mcp(
    session: Session,
    filters: dict[str, Any],
    *,
    transport: OverTransport = "stdio",
    host: Host = None,
    port: Port = None,
    allow_host: AllowedHosts = None,
    projects: ProjectNames = None,
    read_only: ReadOnly = False,
    untrusted: IsUntrusted = False,
    distiller: ToDistil = None,
    model: WithModel = None,
    base_url: WithBaseUrl = None,
    allow: Allowed = None,
    by: RecordsAs = "mcp",
    log_level: Logged = "warning",
) -> Answer:
    """Serve the memory tools to a client of the Model Context Protocol (extra: mcp).

    The tools are memory_search, memory_record, memory_feedback and memory_outcome, memory_distill when a distiller is
    named, and those that are allowed beside them. What memory_search and memory_list give passes the filters that are
    named here, whatever a model asks for. What cannot work is said at the start. Logs go to standard error.
    """
    from reasoningbank.mcp_server import Offer, build_server, check

    logging.basicConfig(stream=sys.stderr, level=log_level.upper())
    over_http = bool(host or allow_host or port is not None)
    wrong = {
        "--host, --port and --allow-host go with --transport streamable-http": transport == "stdio" and over_http,
        "a server that is read-only distils nothing: leave --distiller out": read_only and distiller,
        "--by is empty: give the name under which it records": not by.strip(),
    }
    for why in (why for why, holds in wrong.items() if holds):
        raise UsageError(why)
    drawing = chosen_distiller(distiller, model, base_url, judge=False)[0] if distiller else None
    served = _projects(session, projects)
    check(served, read_only=read_only)
    server = build_server(
        Offer(
            served,
            read_only=read_only,
            by=by,
            trusted=not untrusted,
            distiller=drawing,
            allow=allow or (),
            filters=filters,  # type: ignore[arg-type]  # by their names
            session=f"mcp-{uuid.uuid4()}" if transport == "stdio" else None,
        ),
        announce=transport == "stdio",
    )
    if transport != "stdio":
        _serve_http(server, host, port, allow_host or (), log_level)
    else:
        _serve_stdio(server)
    return Answer({})


def _serve_stdio(server: Any) -> None:
    from reasoningbank.mcp_server.sdk import serve_stdio

    serve_stdio(server)


def _serve_http(server: Any, host: str | None, port: int | None, names: Sequence[str], log_level: LogLevel) -> None:
    from reasoningbank.mcp_server.http import Doorkeeper, serve_http
    from reasoningbank.serving import host_names

    doorkeeper = Doorkeeper(host or "127.0.0.1", environment().get("mcp_token"), host_names(names))

    def ready(address: str) -> None:
        typer.echo(f"Serving MCP on {address}; Ctrl-C ends it.", err=True)
        _tell_the_hosts(doorkeeper.host, doorkeeper.names)

    listening = DEFAULT_PORT if port is None else port
    serve_http(server, doorkeeper=doorkeeper, port=listening, ready=ready, log_level=log_level)


def _tell_the_hosts(host: str, names: Sequence[str]) -> None:
    from reasoningbank.serving import asked_for

    if said := asked_for(host, names):
        typer.echo(said, err=True)


def _projects(session: Session, wanted: str | None) -> Projects:
    from reasoningbank.mcp_server import ManyProjects, OneProject

    if wanted is None:
        return OneProject(session.bank)
    if "project" in session.scope and session.scope["project"].origin == "--project":
        raise UsageError("--project and --projects were both given: give one of them")
    names = session.banks.projects() if wanted == EVERY_PROJECT else [name.strip() for name in wanted.split(",")]
    if not all(names):
        raise UsageError(f"--projects {wanted!r} names no project between two commas")
    if not names:
        raise UsageError(f"tenant {session.banks.tenant!r} has no projects yet: name those to serve, --projects a,b")
    return ManyProjects(session.banks, tuple(names), session.shared)


@command(app, "dashboard", scope=("root", "tenant", "embedder"), with_json=False)
def dashboard(
    session: Session,
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", help="Which project to open with; all of the tenant's when not given."),
    ] = None,
    *,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; others reach it only if you say so.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 lets the system choose.")] = 8766,
    allow_host: AllowedHosts = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Show everything, change nothing.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")] = False,
) -> Answer:
    """Open the dashboard of a tenant's projects in the browser (extra: web).

    The address that is printed holds a token: who has it may do everything here. Nothing is fetched from elsewhere.
    """
    from reasoningbank.dashboard import Access, Site, build_app
    from reasoningbank.serving import host_names, serve

    access = Access(host, read_only=read_only, names=host_names(allow_host or ()))
    site = Site(session.banks, access, project or environment().get("project"))

    def ready(address: str) -> None:
        typer.echo(f"Dashboard: {address}/?token={access.token}\nCtrl-C ends it.", err=True)
        _tell_the_hosts(host, access.names)
        if not no_open:
            webbrowser.open(f"{address}/?token={access.token}")

    with closing(site):
        serve(build_app(site), host=host, port=port, ready=ready, needed_by=("the dashboard", "web"))
    return Answer({})

"""Commands about where memories are: init, tenants, projects, delete-project."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from reasoningbank.cli.arguments import UsageError, Yes
from reasoningbank.cli.scope import SCOPE_FILE, read_scope_file, refuse_another, scope_text
from reasoningbank.cli.session import PROJECT_SCOPE, Answer, Session, command
from reasoningbank.cli.terminal import counts, line, names, sentence, shown
from reasoningbank.config import ENVIRONMENT
from reasoningbank.upkeep import ProjectCounts

app = typer.Typer()


@command(app, "init", scope=PROJECT_SCOPE, begins=True)
def init(
    session: Session,
    *,
    force: Annotated[bool, typer.Option("--force", help="Write it anew where there is one already.")] = False,
) -> Answer:
    """Write down which project this folder uses, so that no command has to be told.

    The tenant is you and the project is named like the folder, where --tenant and --project do not say otherwise. All
    commands in this folder and below it find the file; it holds no lesson, and can be committed.
    """
    file = Path.cwd() / SCOPE_FILE
    # Not what a file above says, which this one replaces; and where data are, the environment says for all folders.
    taken = {"tenant": ENVIRONMENT["tenant"], "project": ENVIRONMENT["project"]}
    given = {name: one.value for name, one in session.scope.items() if one.origin in (f"--{name}", taken.get(name, ""))}
    said = {"tenant": _user(session), "project": Path.cwd().name or "main"} | given
    # Checks the names, as any command would.
    with session.tenants as tenants:
        tenants.open(said["tenant"], said["project"])
    if file.exists() and not force and read_scope_file(file) != said:
        refuse_another(file)
    file.write_text(scope_text(said), "utf-8")
    which = f"project {said['project']!r} of tenant {said['tenant']!r}"
    text = f"{file} says that this folder uses {which}.\nNext: reasoningbank record TITLE CONTENT"
    return Answer({"file": file, **said}, text)


def _user(session: Session) -> str:
    """Return the only tenant there is, else the name of who is logged in."""
    there = session.tenants.names()
    if len(there) == 1:
        return there[0]
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise UsageError("this user has no name: give --tenant") from None


@command(app, "tenants", scope=("root",))
def tenants(session: Session) -> Answer:
    """List the tenants, and how many projects each has."""
    found = [{"tenant": name, "projects": len(session.tenants.projects(name))} for name in session.tenants.names()]
    lines = [f"{each['tenant']}  {each['projects']} projects" for each in found]
    return Answer(
        {"tenants": found}, lambda console, _: names(console, lines, f"No tenants in {session.tenants.root}.")
    )


@command(app, "projects", scope=("root", "tenant"))
def projects(session: Session) -> Answer:
    """List the tenant's projects, and how much is in each."""
    found = session.banks.overview()
    none = f"Tenant {session.tenant!r} has no projects in {session.banks.root}."
    return Answer({"projects": found}, lambda console, _: _projects(console, found, none))


def _projects(console: Console, found: Sequence[ProjectCounts], none: str) -> None:
    for each in found:
        if each.problem:
            sentence(console, f"{each.project}  cannot be read: {each.problem}", "red")
        else:
            told = counts(each.memories) or "0"
            line(console, f"{shown(each.project)}  {told} memories, {each.episodes:,} runs")
    if not found:
        sentence(console, none)


@command(app, "delete-project", scope=("root", "tenant"))
def delete_project(
    session: Session,
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="Its exact name.")],
    *,
    yes: Yes = False,
) -> Answer:
    """Delete everything of one project, for good. Asks first."""
    banks = session.banks
    if not yes:
        if session.as_json:
            raise UsageError("delete-project --json does not ask: confirm with --yes")
        project_named = f"project {project!r} of tenant {banks.tenant!r}"
        count = banks.open(project).count(state=None)
        typer.confirm(f"Delete {project_named} with {count:,} memories, for good?", abort=True, err=True)
    banks.delete_project(project)
    return Answer({"project": project, "deleted": True}, f"Deleted project {project!r}.")

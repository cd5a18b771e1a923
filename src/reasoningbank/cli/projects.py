"""Commands about a tenant's projects."""

from __future__ import annotations

from typing import Annotated

import typer

from reasoningbank.cli import views
from reasoningbank.cli.scope import UsageError
from reasoningbank.cli.session import Answer, Session, command

PANEL = "The bank"


def projects(session: Session) -> Answer:
    """List the tenant's projects."""
    names = session.banks.projects()
    return Answer({"projects": names}, lambda console: views.projects(console, names))


def delete_project(
    session: Session,
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="Its exact name.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> Answer:
    """Delete everything of one project, for good. Asks first."""
    banks = session.banks
    if not yes:
        if session.as_json:
            raise UsageError("delete-project --json does not ask: confirm with --yes")
        count = banks.open(project).count(state=None)
        typer.confirm(
            f"Delete project {project!r} of tenant {banks.tenant!r} with {count:,} memories, for good?",
            abort=True,
            err=True,
        )
    banks.delete_project(project)
    return Answer({"deleted": project}, lambda console: views.sentence(console, f"Deleted project {project!r}."))


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    command(app, "projects", panel=PANEL, scope=("root", "tenant"))(projects)
    command(app, "delete-project", panel=PANEL, scope=("root", "tenant"))(delete_project)

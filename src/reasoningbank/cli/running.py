"""Commands of runs: episodes, and the steps that are kept of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from reasoningbank import Verdict
from reasoningbank.cli import views
from reasoningbank.cli.arguments import UsageError, text_of
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.streams import standard_input

app = typer.Typer()

Ref = Annotated[str, typer.Argument(metavar="REF", help="As recall gave it, or its beginning.")]


@command(app, "episode")
def episode(session: Session, ref: Ref) -> Answer:
    """Show an episode: what was recalled for it, and how it ended."""
    return Answer(session.bank.runs.get(session.id_of(ref, "run")), views.episode)


@command(app, "episodes")
def list_episodes(
    session: Session,
    *,
    thread: Annotated[str | None, typer.Option("--thread", help="Only those of this conversation.")] = None,
    verdict: Annotated[Verdict | None, typer.Option("--verdict", help="Only those that ended so.")] = None,
    is_open: Annotated[
        bool | None, typer.Option("--open/--closed", help="Only those without a verdict, or with one.")
    ] = None,
    after: Annotated[str | None, typer.Option("--after", help="Go on after the page before: its `next`.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at the most.")] = 20,
) -> Answer:
    """List episodes, the newest first."""
    page = session.bank.runs.list(thread=thread, verdict=verdict, is_open=is_open, after=after, limit=limit)
    return Answer(page, views.episode_page)


@command(app, "step")
def step(
    session: Session,
    ref: Ref,
    action: Annotated[list[str] | None, typer.Argument(metavar="[ACTION...]", help="What was done, in words.")] = None,
    *,
    result: Annotated[str, typer.Option("--result", help="What came of it.", show_default=False)] = "",
    thought: Annotated[str, typer.Option("--thought", help="Why it was done.", show_default=False)] = "",
    error: Annotated[str, typer.Option("--error", help="What went wrong.", show_default=False)] = "",
    file: Annotated[
        Path | None,
        typer.Option("--file", help="In place of ACTION: a run, its steps or its messages as JSON; - reads them."),
    ] = None,
) -> Answer:
    """Keep a step of a run with its episode, with `--set keep_trajectories=true`. Exit code 1 when any was not kept."""
    if (file is None) is not bool(action):
        raise UsageError(
            "step needs one of ACTION and --file: reasoningbank step REF 'ran the tests' --result '2 failed'"
        )
    given = {"thought": thought, "action": text_of(action or ()), "observation": result, "error": error}
    done = session.bank.runs.add_steps(session.id_of(ref, "run"), [given] if file is None else json_of(file))
    return Answer(done, views.steps_kept, exit_code=1 if done.reason else 0)


def json_of(file: Path) -> Any:
    """Return what a file holds as JSON (`-`: standard input); UsageError when it cannot be read, or is none."""
    try:
        text = standard_input() if str(file) == "-" else file.read_bytes().decode("utf-8", "replace")
        return json.loads(text.removeprefix("\ufeff"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON ({error})") from None


@command(app, "trajectory")
def trajectory(session: Session, ref: Ref) -> Answer:
    """Show what happened in a run: the steps that are kept with its episode."""
    return Answer(session.bank.runs.trajectory(session.id_of(ref, "run")), views.trajectory)

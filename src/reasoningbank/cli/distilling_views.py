"""How distillations and jobs look in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from reasoningbank.cli.views import sentence, shown

if TYPE_CHECKING:
    from rich.console import Console

    from reasoningbank import Job


def summary(console: Console, counted: Mapping[str, Any]) -> None:
    """Print what came of many runs."""
    again = f", {counted['duplicates']:,} known already" if counted["duplicates"] else ""
    sentence(
        console, f"{counted['runs']:,} runs ({_counts(counted['statuses'])}): {counted['lessons']:,} lessons{again}."
    )
    for reason, times in {**counted["rejected"], **counted["reasons"]}.items():
        sentence(console, f"  {times:,} × {reason}", "dim")
    for bad in counted["bad_lines"]:
        sentence(console, f"Line {bad['line']} is no run: {bad['reason']}", "yellow")


def work(console: Console, counted: Mapping[str, Any]) -> None:
    """Print what came of the jobs that were due."""
    if not counted["jobs"]:
        sentence(console, "Nothing was due.")
        return
    sentence(console, f"{counted['jobs']:,} jobs ({_counts(counted['statuses'])}): {counted['lessons']:,} lessons.")


def _counts(statuses: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in statuses.items()) or "none"


def jobs(console: Console, found: Sequence[Job]) -> None:
    """Print jobs as a table, each with the reason why it is where it is."""
    if not found:
        sentence(console, "No jobs.")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("status", "tries", "task", "id"):
        table.add_column(heading, overflow="fold", ratio=1 if heading == "task" else None)
    for job in found:
        what = Text(shown(job.task[:60]))
        if job.reason:
            what.append(f"\n{shown(job.reason)}", "dim")
        table.add_row(job.status.value, str(job.attempts), what, job.id)
    console.print(table)

"""How runs look in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from reasoningbank import EpisodeSummary, MemoryRuns, Trajectory
from reasoningbank.cli.views import sentence, shown


def runs(console: Console, found: MemoryRuns) -> None:
    """Print where a memory came from and where it was used; nothing where that is not known."""
    _summaries(console, "Came from", found.came_from)
    _summaries(console, "Used in", found.used_in)


def _summaries(console: Console, title: str, found: Sequence[EpisodeSummary]) -> None:
    if found:
        sentence(console, f"{title}:", "dim")
    for each in found:
        ended = "no episode" if each.opened_at is None else each.verdict or "open"
        steps = f", {each.steps} steps" if each.steps else ""
        opened = f"{each.opened_at:%Y-%m-%d %H:%M}  " if each.opened_at else ""
        console.print(
            Text(shown(f"  {opened}{each.ref} ({ended}{steps})  {each.task}")), no_wrap=True, overflow="ellipsis"
        )


def trajectory(console: Console, found: Trajectory) -> None:
    """Print a run, step by step."""
    console.print(Text.assemble((shown(found.task), "bold"), f"  {found.verdict}"))
    if not found.steps:
        sentence(console, "No steps are kept of this run; the setting keep_trajectories keeps them.")
    for number, step in enumerate(found.steps, start=1):
        sentence(console, f"{number}. {step.action or step.thought}")
        for text, style in ((step.observation, "dim"), (step.error, "red")):
            if text:
                sentence(console, f"   {text}", style)
    if left_out := found.metadata.get("steps_left_out"):
        sentence(console, f"… and {left_out} steps that were not kept.", "yellow")
    if found.result:
        sentence(console, f"Result: {found.result}")

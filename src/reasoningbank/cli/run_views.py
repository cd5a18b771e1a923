"""How runs look in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.text import Text

from reasoningbank.cli.views import sentence, shown
from reasoningbank.runs import EpisodePage, EpisodeSummary, MemoryRuns, StepsKept, Trajectory


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
        _line(console, each.opened_at, f"{each.ref} ({ended}{steps})  {each.task}")


def _line(console: Console, opened_at: datetime | None, what: str) -> None:
    opened = f"{opened_at:%Y-%m-%d %H:%M}  " if opened_at else ""
    console.print(Text(shown(f"  {opened}{what}")), no_wrap=True, overflow="ellipsis")


def episode_page(console: Console, found: EpisodePage) -> None:
    """Print episodes, one line each."""
    if not found.episodes:
        sentence(console, "No episodes.")
    for each in found.episodes:
        _line(console, each.opened_at, f"{each.ref} ({each.verdict or 'open'})  {each.task}")
    if found.next is not None:
        sentence(console, f"More: --after {found.next}", "dim")


def steps_kept(console: Console, done: StepsKept) -> None:
    """Print how many steps are kept with their run, and why not all."""
    if done.kept:
        sentence(console, f"Kept {done.kept} steps.")
    if done.reason:
        sentence(console, f"{'Not all' if done.kept else 'No step'} was kept: {done.reason}", "yellow")


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

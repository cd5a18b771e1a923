"""How what upkeep measures, proposes and does looks in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reasoningbank import Hit, Recommendation
from reasoningbank.cli.views import sentence
from reasoningbank.upkeep import Bin, Calibration, Change, Consolidated, Maintained, Measure, Metrics, Pruned

if TYPE_CHECKING:
    from rich.console import Console


def consolidated(console: Console, found: Consolidated) -> None:
    """Print what was merged, or could be."""
    if not found.due:
        sentence(console, "Nothing was done: the last consolidation was less than a day ago (--force does it anyway).")
    elif not found.changes and not found.skipped:
        sentence(console, "No two memories say the same.", "green")
    for change in found.changes:
        sentence(console, told(change))
    for change in found.skipped:
        sentence(console, f"Not merged: {', '.join(change.memories)}: {change.reason}", "yellow")


def pruned(console: Console, found: Pruned) -> None:
    """Print what was archived, or could be."""
    if not found.changes:
        sentence(console, "Nothing is to be pruned.", "green")
    for change in found.changes:
        sentence(console, told(change))


def maintained(console: Console, done: Maintained) -> None:
    """Print what upkeep did, or would do."""
    rolled, expired = f"{len(done.rolled_up)} segments", f"{done.expired} old episodes"
    trimmed = f"{done.forgotten_changes:,} rows of the change feed, {done.forgotten_trajectories:,} kept runs"
    if done.dry_run:
        sentence(console, f"Would roll up {rolled}, close {expired}, trim {trimmed}.")
    else:
        sentence(console, f"Rolled up {rolled}, closed {expired}, trimmed {trimmed}.")
    for change in done.changes:
        sentence(console, f"could be done: {told(change)}" if done.dry_run else told(change))
    for change in done.skipped:
        sentence(console, f"Not merged: {', '.join(change.memories)}: {change.reason}", "yellow")
    for link in done.suggested:
        sentence(console, f"suggested: {link.source} {link.type} {link.target} ({link.evidence})")


def recommended(console: Console, found: Recommendation) -> None:
    """Print the best strategy, why, and the next best."""
    if found.strategy is None or found.evidence is None:
        sentence(console, "No strategy fits.", "yellow")
        return
    memory, known = found.strategy.memory, found.evidence
    sentence(console, f"{memory.title}  ({_belief(found.strategy)})", "bold")
    sentence(console, memory.content)
    sentence(
        console,
        f"Evidence: used {known.uses} times; votes {known.votes_for:g} for, {known.votes_against:g} against; "
        f"outcomes {known.successes:.1f} for, {known.failures:.1f} against; "
        f"{known.survived:g} changes survived, {known.reverted:g} reverted.",
        "dim",
    )
    if found.runner_up is not None:
        sentence(console, f"Runner-up: {found.runner_up.memory.title} ({_belief(found.runner_up)})")
    if found.weak:
        sentence(console, "Nothing is clearly relevant.", "yellow")


def _belief(hit: Hit) -> str:
    return f"confidence {hit.confidence:.2f} ± {hit.deviation:.2f}{', provisional' if hit.provisional else ''}"


def told(change: Change) -> str:
    """Return one change as a line."""
    became = f" -> {change.result}" if change.result else ""
    near = "" if change.similarity is None else f" (cosine {change.similarity:.2f})"
    verb = change.link or change.kind
    return f"{verb}: {', '.join(change.memories)}{became}: {change.reason}{near}"


BAR = 30


def metrics(console: Console, found: Metrics) -> None:
    """Print how well a bank does: criteria, how true its confidences were, rates, yields, weights over time."""
    sentence(console, f"{found.since:%Y-%m-%d} to {found.until:%Y-%m-%d}, {found.confidence_model} model", "dim")
    for measure in found.criteria:
        console.print(_criterion(measure))
    _diagram(console, "Confidences against votes", found.votes)
    _diagram(console, "Predicted success against how runs ended", found.runs)
    _numbers(console, "Hit rates", found.hit_rates)
    _numbers(console, "Yields", found.yields)
    if found.weights:
        last = found.weights[-1]
        _numbers(console, f"Weights since {last.at:%Y-%m-%d %H:%M} (change {len(found.weights)})", last.weights)


def _criterion(measure: Measure) -> Text:
    mark, style = {None: ("?", "dim"), True: ("✓", "green"), False: ("✗", "red")}[measure.met]
    value = "–" if measure.value is None else f"{measure.value:.3g}"
    few = "" if measure.enough else f", too few: needs {measure.needed}"
    return Text.assemble(
        (f"{mark} {measure.name} ", style),
        f"{value} (goal {measure.goal}; {measure.sample:,} seen{few})  ",
        (measure.what, "dim"),
    )


def _diagram(console: Console, title: str, found: Calibration) -> None:
    if not found.count:
        sentence(console, f"{title}: nothing to compare yet.", "dim")
        return
    sentence(console, f"{title}: {found.count:,}, ECE {found.ece:.3f}, Brier {found.brier:.3f}")
    for bar in found.bins:
        if bar.count:
            console.print(_bar(bar))


def _bar(bar: Bin) -> Text:
    helped = bar.helped or 0.0
    filled = round(helped * BAR)
    told = f"  {bar.low:.1f}–{bar.high:.1f}  said {bar.confidence:.2f}, was {helped:.2f} "
    return Text.assemble(told, ("█" * filled, "cyan"), ("░" * (BAR - filled), "dim"), f" {bar.count:,}")


def _numbers(console: Console, title: str, numbers: Mapping[str, float | None]) -> None:
    table = Table.grid(padding=(0, 2))
    for name, value in numbers.items():
        table.add_row(f"  {name.replace('_', ' ')}", "–" if value is None else f"{value:,.3g}")
    sentence(console, f"{title}:")
    console.print(table)

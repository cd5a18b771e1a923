"""How what upkeep proposes and does is shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reasoningbank import Hit, Recommendation
from reasoningbank.cli.views import sentence
from reasoningbank.upkeep import Change, Consolidated, Maintained, Pruned

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

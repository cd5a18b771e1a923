"""How what is known of a failure looks in a terminal."""

from __future__ import annotations

from rich.console import Console

from reasoningbank.cli.terminal import notes, sentence
from reasoningbank.cli.views import hits, then_report
from reasoningbank.runs import FailureRecall


def recall_failure(console: Console, found: FailureRecall) -> None:
    """Print what is known of the errors in an output, and how to report."""
    notes(console, [f"Error: {error}" for error in found.errors[:3]])
    if not found.hits:
        sentence(console, f"Nothing is handed out: {found.reason}.")
        return
    hits(console, found.hits)
    then_report(console, found.ref)

"""How what is known of a failure looks in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from reasoningbank.cli.views import hits, notes, sentence
from reasoningbank.runs import FailureRecall


def recall_failure(console: Console, found: FailureRecall) -> None:
    """Print what is known of the errors in an output, and how to report."""
    notes(console, [f"Error: {error}" for error in found.errors[:3]])
    if not found.hits:
        sentence(console, f"Nothing is handed out: {found.reason}.")
        return
    hits(console, found.hits)
    then = f"reasoningbank report success|failure --ref {found.ref}"
    console.print(Text.assemble(("Then: ", "dim"), then), soft_wrap=True)

"""Whether a lesson that a search found answers an error, and not merely one of the same tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reasoningbank.diagnostics.extract import read
from reasoningbank.diagnostics.fingerprint import Diagnostic

# Share of words that two errors of one kind have in common, whatever they are about (twice those in both, over those in
# either); chosen on the tuning half of benchmarks.failures.
LEAST = 0.8
# Of a lesson that names no error: the share of an error's words that are in its text.
LEAST_TOLD = 0.8
FEWEST = 3


def likeness(one: Diagnostic, other: Diagnostic) -> float:
    """Return how far two errors are of one kind, in [0, 1]."""
    both = one.words & other.words
    return 2.0 * len(both) / (len(one.words) + len(other.words)) if both else 0.0


def answers(errors: Sequence[Diagnostic], signatures: Iterable[str], content: str) -> bool:
    """Tell whether a lesson answers one of some errors: it names one of their kind, or says their words."""
    known = [one for text in signatures for one in read(text)]
    if known:
        return any(likeness(error, one) >= LEAST for error in errors for one in known)
    told = Diagnostic.of(content).words
    return any(
        len(error.words) >= FEWEST and len(error.words & told) >= LEAST_TOLD * len(error.words) for error in errors
    )

"""Runs that were lived through, for what is fitted to them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from reasoningbank.belief.effects import JudgedRun


def run(
    confidences: Sequence[float],
    succeeded: bool,
    relevance: Sequence[float] | None = None,
    memories: Sequence[int] | None = None,
) -> JudgedRun:
    """A run with memories that are surely about it, unless said otherwise, and that no other run had."""
    many = len(confidences)
    numbers = range(many) if memories is None else memories
    return JudgedRun(tuple(numbers), tuple(confidences), tuple(relevance or [1.0] * many), succeeded)


def runs(helped: float, unhelped: float, *, seed: int, many: int = 4000) -> list[JudgedRun]:
    """Runs with up to three memories, whose confidences are right."""
    chance, found = random.Random(seed), []
    for _ in range(many):
        confidences = [chance.random() for _ in range(chance.randrange(4))]
        some_helped = any(chance.random() < c for c in confidences)
        found.append(run(confidences, chance.random() < (helped if some_helped else unhelped)))
    return found

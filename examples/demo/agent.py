"""The agent: it takes the way it likes best, unless what it has read speaks against it, or for another."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from examples.demo.task import Approach, Attempt, Task
from reasoningbank import Draft, Source, Verdict

# A sentence that says one of these speaks against what it names; one of the others speaks for it.
AGAINST = frozenset({"not", "fails", "failed", "never", "avoid"})
FOR = frozenset({"works", "worked", "instead", "rather"})

# Less than half of an approach's own words in a sentence is coincidence.
ENOUGH = 0.5


def choose(approaches: Sequence[Approach], text: str) -> Approach:
    """Choose an approach after reading `text`: that with the most said for it, and among equals the one liked best.

    The agent knows nothing else of the task: with nothing to read, it always takes the first.
    """
    said = opinions(approaches, text)
    return max(approaches, key=lambda approach: said[approach.does])


def opinions(approaches: Sequence[Approach], text: str) -> dict[str, float]:
    """Return how much the sentences of a text speak for (positive) or against (negative) each approach.

    A sentence names an approach as far as it holds the words by which that approach differs from the others.
    """
    weights = _weights(approaches)
    said = dict.fromkeys((approach.does for approach in approaches), 0.0)
    for sentence in re.split(r"[.:;\n]+\s*", text):
        words = _words(sentence)
        direction = -1 if words & AGAINST else 1 if words & FOR else 0
        named = {approach.does: _share(_words(approach.does), words, weights) for approach in approaches}
        closest = max(named.values())
        for does, share in named.items():
            # Two approaches may share their words; the sentence means the one that it names most fully.
            if share == closest >= ENOUGH:
                said[does] += direction * share
    return said


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]+", text.casefold()))


def _weights(approaches: Sequence[Approach]) -> dict[str, float]:
    """Return what each word is worth: nothing when all approaches use it, most when one does."""
    counts = Counter(word for approach in approaches for word in _words(approach.does))
    return {word: math.log(len(approaches) / count) for word, count in counts.items()}


def _share(own: frozenset[str], words: frozenset[str], weights: dict[str, float]) -> float:
    total = sum(weights[word] for word in own)
    return sum(weights[word] for word in own & words) / total if total else 0.0


def lesson(task: Task, attempts: Sequence[Attempt], source: Source) -> Draft:
    """Return what a failure taught, from what was seen only: what was tried, and what came of it."""
    failed, *others = attempts
    sentences = [f"To {failed.approach.does} failed: {failed.problem}."]
    for other in others:
        what = "worked instead" if other.passed else f"failed too: {other.problem}"
        sentences.append(f"To {other.approach.does} {what}.")
    return Draft(
        title=f"Do not {failed.approach.does}",
        content="\n".join(sentences),
        applies_when=task.words[0],
        outcome=Verdict.FAILURE,
        source=source,
        metadata={"task": task.name},
    )

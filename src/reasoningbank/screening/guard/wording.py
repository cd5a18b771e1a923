"""How much a sentence is worded like a planted instruction: a fitted bag of words, beside the signs that people wrote.

A sign knows a thought; the wording model has seen some hundred sentences of either kind and judges those that no sign
was written for. Features are the stems of the words and the classes of `word_classes`; the score is the logit of a
logistic regression over them, scaled by the root of their number, so that long sentences weigh no more than short ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Protocol

from reasoningbank.screening.guard.weights import BIAS, WEIGHTS
from reasoningbank.search.stem import stem

HINT, STRONG = 0.5, 1.5
"""Scores from which the wording counts half, and counts fully."""

_items = WEIGHTS.split()
_WEIGHTS = {name: int(weight) / 100 for name, weight in zip(_items[::2], _items[1::2], strict=True)}
_LONGEST = 80
# What the words alone must score for the whole to be strong: 95 of 100 strong sentences do, and 3 of 10 harmless ones.
_WORDS_ALONE = -0.7
_FEWEST = 6
OWN_AFFAIRS = frozenset({"GUARDRAIL", "GUIDANCE", "LESSONS", "MEMORY", "RULES", "SYSTEM_PROMPT"})


class Sentence(Protocol):
    """What the model sees of a sentence: its words in lower case, and the places of the classes."""

    @property
    def words(self) -> tuple[str, ...]: ...
    @property
    def places(self) -> Mapping[str, object]: ...


_stem = lru_cache(maxsize=8192)(stem)


def features(sentence: Sentence) -> set[str]:
    """Return the stems and classes of a sentence; numbers count as one word."""
    words = [word for word in sentence.words[:_LONGEST] if word[0].isalnum() and "/" not in word]
    stems = {"#num" if word.isdigit() else _stem(word) for word in words}
    return stems | {f"#{name}" for name in sentence.places}


def score(found: Iterable[str], weights: Mapping[str, float] = _WEIGHTS, bias: float = BIAS) -> float:
    """Return the logit of features: above 0, more like a planted instruction than like a lesson."""
    known = [weights[feature] for feature in found if feature in weights]
    return bias + sum(known) / math.sqrt(max(1, len(known)))


@lru_cache(maxsize=8192)
def _known(word: str) -> float | None:
    return _WEIGHTS.get(stem(word))


def may_be_worded(words: Iterable[str]) -> bool:
    """Tell, from its words alone, whether a sentence is worth a full look."""
    known = [weight for word in set(words) if (weight := _known(word)) is not None]
    return sum(known) >= _WORDS_ALONE * math.sqrt(max(1, len(known)))


def weight_of_wording(sentence: Sentence) -> float:
    """Return how much the wording says, as the weight of a sign: 0, half, or 1."""
    words = sum(map(str.isalpha, sentence.words))
    if len(sentence.places) < 2 or words < _FEWEST or 2 * words < len(sentence.words):  # a heading, or code
        return 0.0
    value = score(features(sentence))
    # What a lesson forbids is worded like what an attack demands (`never delete the backups`), and so are everyday
    # requests (`change your flight`): alone, wording counts where a sentence speaks of the agent's rules or memory.
    alone = OWN_AFFAIRS & sentence.places.keys() and "NEGATION" not in sentence.places
    return 1.0 if value >= STRONG and alone else 0.5 if value >= HINT else 0.0

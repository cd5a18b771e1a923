"""Likeness: whether two texts say the same thing in other words, judged by more than a cosine.

An embedding hardly notices a "not", another number or another file name, and those are what tells two lessons apart.
So texts are compared as they were taken apart. What was tried and what it gave: docs/benchmarks/merging.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final

from reasoningbank.memory import fingerprint_text
from reasoningbank.upkeep.wording import DEPTH, DIRECTED, KIND_MEANINGS, LIGHT_MEANINGS, Wording, meaning, wording

__all__ = ["Differences", "Wording", "differences", "likeness", "wording"]

# What stands on one side of them cannot change places with what stands on the other.
_TURNING: Final = DIRECTED | {"before", "after", "until"}
# What is said of each by itself may be false of all together, and of either, of both.
_APART_AND_TOGETHER: Final = (
    (frozenset({"each", "every", "per"}), frozenset({"all", "both", "whole", "total"})),
    (frozenset({"either"}), frozenset({"both"})),
    (frozenset({"some"}), frozenset({"all", "both", "each", "every", "whole"})),
    (frozenset({"or"}), frozenset({"and", "both"})),
)
EITHER: Final = frozenset({meaning("either")})
# Texts with more words apart than this are not asked for compounds: they say something else anyway.
MOST_COMPOUNDS: Final = 3
_CLOSING: Final = ".,;!?"
# Letters of the shorter half of a compound.
SHORTEST_HALF: Final = 3

# Shares of a cosine of 1: what it costs when the longer text lacks names of the shorter one, when it has names beside
# those, when numbers differ; and what a name in both is worth.
LACKING_COST: Final = 0.2
BESIDE_COST: Final = 0.3
NUMBERS_COST: Final = 0.1
NAME_WORTH: Final = 0.04
NAMES_COUNTED: Final = 2


@dataclass(frozen=True, slots=True)
class Differences:
    """What tells two texts apart.

    Attributes:
        names: named by one only.
        numbers: in one only.
        negation: one is negated and the other is not.
        turned: they name the same, or say the same around a "before" or an "instead of", in another order.
        scope: what is denied is not the same; or one says "each" and the other "all", or one "either" and the other
            "both".
        words: meanings in one only, but for those of little weight.
    """

    names: frozenset[str]
    numbers: frozenset[str]
    negation: bool
    turned: bool
    scope: bool
    words: frozenset[str]

    @property
    def none(self) -> bool:
        """They say the same, as far as words tell."""
        return not (self.names or self.numbers or self.negation or self.turned or self.scope or self.words)

    @property
    def opposed(self) -> bool:
        """They speak of the same things, and one says not what the other says."""
        return self.negation and not (self.names or self.numbers)


def literals(text: str) -> tuple[str, ...]:
    """Return, sorted, what stands in a text to the letter: chunks with a sign, a digit or a capital inside them.

    `-p` and `-P`, `$HOME` in either quotes, `1.10` and `1,10` are different things. A mark that ends a sentence, or a
    part of one, is no part of what it stands behind.
    """
    chunks = (chunk.rstrip(_CLOSING) or chunk for chunk in text.split())
    return tuple(sorted(chunk for chunk in chunks if not (chunk.isalpha() and chunk[1:] == chunk[1:].lower())))


def in_one_order(one: Wording, other: Wording) -> bool:
    """Tell whether what both texts name and say comes in the same order."""
    both = set(one.order) & set(other.order)
    return [part for part in one.order if part in both] == [part for part in other.order if part in both]


def swapped(one: str, other: str) -> bool:
    """Tell whether the one text puts before a "then" what the other puts behind it."""
    before, then, _ = one.partition(" then ")
    earlier, later, after = other.partition(" then ")
    if not (then and later):
        return False
    return bool((set(wording(before).order) & set(wording(after).order)) - set(wording(earlier).order))


def hang_on_signs(one: str, other: str) -> bool:
    """Tell whether two texts are the same but for signs and capitals that what they mean may hang on."""
    return fingerprint_text("", one) == fingerprint_text("", other) and literals(one) != literals(other)


def differences(one: Wording, other: Wording) -> Differences:
    """Return what tells two texts apart."""
    return Differences(
        names=_unnamed(one, other) | _unnamed(other, one),
        numbers=one.numbers ^ other.numbers,
        negation=one.negated != other.negated,
        turned=_turned(one, other),
        scope=one.denied != other.denied or _shared(one, other) or _shared(other, one),
        words=_apart_in_words(one, other),
    )


def _apart_in_words(one: Wording, other: Wording) -> frozenset[str]:
    left, right = _unsaid(one, other), _unsaid(other, one)
    if (left and right) or KIND_MEANINGS.isdisjoint(left | right):
        return left | right
    return (left - _kinds(one, other)) | (right - _kinds(other, one))


def _kinds(one: Wording, other: Wording) -> frozenset[str]:
    """Return the words of a text that stand beside names only, and say what kind of thing they are.

    What the other text names is a name here too, though it may stand here without quotes.
    """
    names = one.names | {meaning(name) for name in other.names if name in one.spoken}
    beside: set[str] = set()
    elsewhere: set[str] = set()
    order = ["", *_weighty(one.sequence, names), ""]
    for before, part, after in zip(order, order[1:], order[2:], strict=False):
        if part in KIND_MEANINGS and part not in names:
            (beside if before in names or after in names else elsewhere).add(part)
    return frozenset(beside - elsewhere)


def _weighty(sequence: Sequence[str], names: Set[str]) -> list[str]:
    """Return names, kinds and what has weight, and of what stands twice in a row one."""
    kept = [part for part in sequence if part in names or part in KIND_MEANINGS or part not in LIGHT_MEANINGS]
    return [part for before, part in zip(["", *kept], kept, strict=False) if part != before]


def _turned(one: Wording, other: Wording) -> bool:
    # "The refund is approved by her" is "she approves the refund", which takes other words.
    if one.spoken == other.spoken and _two_exchanged(one.sequence, other.sequence):
        return True
    around = one.spoken & other.spoken & _TURNING
    fixed: Set[str] = set(one.order) & set(other.order)
    # Where the same follows each of these words in both, what goes before may come in any order.
    if around <= {word for word, _ in one.objects & other.objects}:
        fixed = (one.names & other.names) - {name for name, _ in one.led & other.led}
    return [part for part in one.order if part in fixed] != [part for part in other.order if part in fixed]


def _two_exchanged(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether all is the same, but that two have changed places around another: "a pays b", "b pays a"."""
    if len(one) != len(other):
        return False
    apart = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    return len(apart) == 2 and apart[1] - apart[0] > 1 and one[apart[0]] == other[apart[1]]


def _shared(one: Wording, other: Wording) -> bool:
    """Tell whether one text says of each by itself, or of either, what the other says of all or both.

    Or whether what is a place for one is what something is called for the other.
    """
    return bool(one.places & other.called - other.places) or any(
        a & one.spoken and not a & other.spoken and b & other.spoken for a, b in _APART_AND_TOGETHER
    )


def _unnamed(one: Wording, other: Wording) -> frozenset[str]:
    left = one.names - other.names - other.spoken
    return frozenset(name for name in left if meaning(name) not in other.words)


def _unsaid(one: Wording, other: Wording) -> frozenset[str]:
    """Return what one text says and the other does not in any form, but for what is of little weight."""
    named = {meaning(name) for name in other.names if name.isalpha()}
    left = one.words - other.words - named - other.implied - LIGHT_MEANINGS
    if other.deep:
        left -= DEPTH
    if "or" in other.spoken:
        left -= EITHER
    return left - _compounds(left, one, other) if 0 < len(left) <= MOST_COMPOUNDS else left


def _compounds(left: Set[str], one: Wording, other: Wording) -> set[str]:
    """Return which of these meanings the other text says in one word, or in two: "filename", "file name"."""
    together = {word for word in one.spoken if meaning(word) in left}
    found = {meaning(word) for word in together for a, b in _halves(word) if {a, b} <= other.words}
    for word in other.spoken:
        found |= {half for halves in _halves(word) if set(halves) <= one.words for half in halves}
    return found


def _halves(word: str) -> Iterator[tuple[str, str]]:
    for at in range(SHORTEST_HALF, len(word) - SHORTEST_HALF + 1):
        yield meaning(word[:at]), meaning(word[at:])


def likeness(cosine: float, one: Wording, other: Wording) -> float:
    """Return how surely two texts say the same, at most about 1.08: their cosine, less what tells them apart.

    What only the longer text names counts the less, the longer it is beside the other: it may just say more.
    """
    if len(one.order) > len(other.order):
        one, other = other, one
    apart = _apart(one, other)
    if len(one.order) == len(other.order):
        apart = (apart + _apart(other, one)) / 2.0
    return cosine - apart + NAME_WORTH * min(len(one.names & other.names), NAMES_COUNTED)


def _apart(shorter: Wording, longer: Wording) -> float:
    says_more = (1 + len(shorter.order)) / (1 + len(longer.order))
    return (
        LACKING_COST * _share(_unnamed(shorter, longer), shorter.names)
        + BESIDE_COST * _share(_unnamed(longer, shorter), longer.names) * says_more
        + NUMBERS_COST * _share(shorter.numbers - longer.numbers, shorter.numbers)
        + NUMBERS_COST * _share(longer.numbers - shorter.numbers, longer.numbers) * says_more
    )


def _share(some: frozenset[str], of: frozenset[str]) -> float:
    return len(some) / (1 + len(of))

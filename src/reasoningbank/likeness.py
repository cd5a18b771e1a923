"""Likeness: whether two texts say the same thing in other words, judged by more than a cosine.

An embedding hardly notices a "not", another number or another file name, and those are what tells two lessons apart.
So texts are also taken apart: into the things they name, their numbers, their negations and their other words. What was
tried and what it gave: docs/decisions/0130-merging.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reasoningbank.stem import stem

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")
# A quoted text of a few words at most; a longer one is a sentence, and is read as such.
_QUOTED: Final = re.compile(
    r"(?<!\w)([\"'`\u201c\u2018])([^\"'`\u201c\u201d\u2018\u2019\n]{1,40})[\"'`\u201d\u2019](?!\w)"
)
_CHUNK: Final = re.compile(r"[^\s,;()\[\]{}\"`\u201c\u201d]+")
# What makes a chunk a name: signs of code, paths, patterns and variables, or a capital inside a word.
_NAMING: Final = re.compile(r"[_\\$*@=#~<>|%^+]|^[-.~/]|/$|::|[a-z][A-Z]|\w\.\w|\w/\w+/|[^\W\d_]\d|\d[^\W\d_]")
_QUANTITY: Final = re.compile(r"(\d+(?:[.,]\d+)*)([^\W\d_]{1,3})")
_ALTERNATIVES: Final = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)+")
_EDGES: Final = ".,:;!?'\"`\u2018\u2019"

_FROM_TWO: Final = "two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS: Final = {word: str(number) for number, word in enumerate(_FROM_TWO.split(), 2)}
_NEGATIONS: Final = frozenset(
    """
    no not never none neither nor nothing without except excluding cannot cant dont doesnt didnt isnt arent
    wasnt werent wont shouldnt mustnt unless avoid ignoring skip stop instead disable forbid refuse
    """.split()  # noqa: SIM905 - a paragraph reads better than as many quoted words
)
# They hold sentences together and tell nothing apart.
_GLUE: Final = frozenset(
    """
    a an and are as at be been being by can could did do does doing done each every for from had has have
    having i if in into is it its itself of on or our own should so some such than that the their them then
    there these they this those to too upon was we were when where which while who whose will with would you
    your all any both given whole entire exist exists existing reside resides residing please via using use
    used system also just s t
    """.split()  # noqa: SIM905 - a paragraph reads better than as many quoted words
)
# What stands on one side of them cannot change places with what stands on the other.
_TURNING: Final = frozenset({"before", "after", "instead", "rather", "over", "than", "until", "from", "into", "to"})
# They may be left out, or stand in for each other, without the instruction becoming another one.
_LIGHT: Final = frozenset(
    """
    name named called pattern string path read variable filesystem size exact like match result word out check
    command one text content value space sub location anywhere somewhere
    """.split()  # noqa: SIM905 - a paragraph reads better than as many quoted words
)
# Beside a name they say what kind of thing it is, as one of two texts may: "the file `a.txt`".
_KINDS: Final = frozenset(
    """
    file directory user group variable option flag command script function class module package table column process
    service host branch key field parameter string
    """.split()  # noqa: SIM905 - a paragraph reads better than as many quoted words
)
# Each line is one meaning, as far as instructions go. Small on purpose: what is not here counts as different.
_MEANINGS: Final = """
    find search locate look list display print show output get report see seek
    directory folder dir directories folders subdirectory subdirectories tree hierarchy
    below under down beneath underneath within inside
    delete remove erase drop
    change modify alter update edit
    contain include hold
    current present working
    end extension suffix
    large bigger larger greater big exceed
    small smaller less fewer lower
    execute run invoke launch call
    create make build generate
    sort order
    symbolic symlink
    normal regular
    permission mode
    last past previous ago back
    begin start
    check verify validate ensure confirm
    error exception
    function method
    parameter argument
    replace substitute
    name named called
    number count
    save store write
    quick fast
    fix repair mend
    need require must
"""


def _folded() -> dict[str, str]:
    return {
        stem(word): stem(words[0])
        for words in (line.split() for line in _MEANINGS.strip().splitlines())
        for word in words
    }


_MEANING_OF: Final = _folded()

# Shares of a cosine of 1: what it costs when the longer text lacks names of the shorter one, when it has names beside
# those, when numbers differ; and what a name in both is worth.
LACKING_COST: Final = 0.2
BESIDE_COST: Final = 0.3
NUMBERS_COST: Final = 0.1
NAME_WORTH: Final = 0.04
NAMES_COUNTED: Final = 2


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says, taken apart.

    Attributes:
        names: identifiers, paths, patterns, variables and short quoted texts, without their decoration.
        numbers: in digits, also those written as words from two to twelve.
        negations: whether it holds any.
        words: the meanings of its other words.
        spoken: every word as it stands: what one text puts in quotes, another names without.
        kinds: those of the words that stand beside a name only and say what kind of thing it is.
        order: names and words in the order in which they come first.
    """

    names: frozenset[str]
    numbers: frozenset[str]
    negated: bool
    words: frozenset[str]
    spoken: frozenset[str]
    kinds: frozenset[str]
    order: tuple[str, ...]


def wording(text: str) -> Wording:
    """Take a text apart."""
    parts = _Parts([], [], [], [], [])
    at = 0
    for quoted in _QUOTED.finditer(text):
        parts.take_all(text[at : quoted.start()])
        parts.take_name(quoted[2].strip())
        at = quoted.end()
    parts.take_all(text[at:])
    return Wording(
        names=frozenset(parts.names),
        numbers=frozenset(parts.numbers),
        negated=any(word.replace("'", "").replace("\u2019", "") in _NEGATIONS for word in parts.spoken),
        words=frozenset(parts.words),
        spoken=frozenset(parts.spoken),
        kinds=_kinds(parts),
        order=tuple(dict.fromkeys(parts.order)),
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """What was found so far, in the order of the text."""

    names: list[str]
    numbers: list[str]
    words: list[str]
    spoken: list[str]
    order: list[str]

    def take_all(self, text: str) -> None:
        for chunk in _CHUNK.findall(text):
            core = chunk.strip(_EDGES)
            if quantity := _QUANTITY.fullmatch(core):
                self.numbers.append(quantity[1])
                self._take_meaning(quantity[2].casefold())
            elif _NAMING.search(core) and not _ALTERNATIVES.fullmatch(core):
                self.take_name(core)
            else:
                self.numbers.extend(_NUMBER.findall(core))
                for word in _WORD.findall(core.casefold()):
                    self._take_word(word)

    def take_name(self, name: str) -> None:
        if bare := _bare(name):
            self.names.append(bare)
            self.order.append(bare)

    def _take_word(self, word: str) -> None:
        self.spoken.append(word)
        if word in _NUMBER_WORDS:
            self.numbers.append(_NUMBER_WORDS[word])
        elif word not in _GLUE:
            self._take_meaning(word.removesuffix("'s").removesuffix("\u2019s"))

    def _take_meaning(self, word: str) -> None:
        self.words.append(_meaning(word))
        self.order.append(_meaning(word))


def _kinds(parts: _Parts) -> frozenset[str]:
    names, order = set(parts.names), ["", *parts.order, ""]
    beside: set[str] = set()
    elsewhere: set[str] = set()
    for before, part, after in zip(order, order[1:], order[2:], strict=False):
        if part in _KIND_MEANINGS:
            (beside if before in names or after in names else elsewhere).add(part)
    return frozenset(beside - elsewhere)


def _bare(name: str) -> str:
    """Return a name without what one writes around it: `*.txt`, `.txt` and `dir/` are `txt` and `dir`."""
    return name.casefold().strip(_EDGES).removeprefix("*").removeprefix(".").rstrip("/") or name.casefold()


def _meaning(word: str) -> str:
    stemmed = stem(word)
    return _MEANING_OF.get(stemmed, stemmed)


_LIGHT_MEANINGS: Final = frozenset(map(_meaning, _LIGHT))
_KIND_MEANINGS: Final = frozenset(map(_meaning, _KINDS))


@dataclass(frozen=True, slots=True)
class Differences:
    """What tells two texts apart.

    Attributes:
        names: named by one only.
        numbers: in one only.
        negation: one is negated and the other is not.
        turned: they name the same, or say the same around a "before" or an "instead of", in another order.
        words: of one only, whatever their weight.
    """

    names: frozenset[str]
    numbers: frozenset[str]
    negation: bool
    turned: bool
    words: frozenset[str]

    @property
    def none(self) -> bool:
        """They say the same, as far as words tell: only words of little weight are in one and not in the other."""
        apart = self.names or self.numbers or self.negation or self.turned or self.words - _LIGHT_MEANINGS
        return not apart

    @property
    def opposed(self) -> bool:
        """They speak of the same things, and one says not what the other says."""
        return self.negation and not (self.names or self.numbers)


def differences(one: Wording, other: Wording) -> Differences:
    """Return what tells two texts apart."""
    return Differences(
        names=_unnamed(one, other) | _unnamed(other, one),
        numbers=one.numbers ^ other.numbers,
        negation=one.negated != other.negated,
        turned=_turned(one, other),
        words=_apart_in_words(one, other),
    )


def _apart_in_words(one: Wording, other: Wording) -> frozenset[str]:
    left, right = _unsaid(one, other), _unsaid(other, one)
    if left and right:
        return left | right
    return (left - one.kinds) | (right - other.kinds)


def _turned(one: Wording, other: Wording) -> bool:
    around = one.spoken & other.spoken & _TURNING
    fixed = set(one.order) & set(other.order) if around else one.names & other.names
    return [part for part in one.order if part in fixed] != [part for part in other.order if part in fixed]


def _unnamed(one: Wording, other: Wording) -> frozenset[str]:
    return frozenset(n for n in one.names - other.names if n not in other.spoken and _meaning(n) not in other.words)


def _unsaid(one: Wording, other: Wording) -> frozenset[str]:
    named = {_meaning(name) for name in other.names if name.isalpha()}
    return one.words - other.words - named


def likeness(cosine: float, one: Wording, other: Wording) -> float:
    """Return how surely two texts say the same, at most about 1.08: their cosine, less what tells them apart.

    What only the longer text names counts the less, the longer it is beside the other: it may just say more.

    Args:
        cosine: of their vectors, in [-1, 1].
    """
    if len(one.order) > len(other.order):
        one, other = other, one
    if len(one.order) == len(other.order):
        return cosine - (_apart(one, other) + _apart(other, one)) / 2.0 + _in_common(one, other)
    return cosine - _apart(one, other) + _in_common(one, other)


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


def _in_common(one: Wording, other: Wording) -> float:
    return NAME_WORTH * min(len(one.names & other.names), NAMES_COUNTED)

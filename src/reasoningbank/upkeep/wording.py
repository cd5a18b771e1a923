"""What a text says, taken apart: the things it names, its numbers, its negations, its other words, and their order.

General English, and as little of it as will do: what is not in these tables counts as different.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from reasoningbank.search.terms import stem
from reasoningbank.upkeep.sentences import sentences

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


def _words(paragraph: str) -> frozenset[str]:
    return frozenset(paragraph.split())


_FROM_TWO: Final = "two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS: Final = {word: str(number) for number, word in enumerate(_FROM_TWO.split(), 2)}
# Words that say nothing but "not": which of them does is no difference.
_NOTHING_BUT_NOT: Final = _words("""
    no not never none neither nor nothing without except excluding exclude cannot cant dont doesnt didnt isnt arent
    wasnt werent wont shouldnt mustnt
""")
_NEGATIONS: Final = (_NOTHING_BUT_NOT - {"exclude"}) | _words(
    "unless avoid ignoring skip stop instead disable forbid refuse"
)
# They hold sentences together and tell nothing apart.
_GLUE: Final = _words("""
    a an and are as at be been being by can could did do does doing done each every for from had has have
    having i if in into is it its itself of on or our own should so some such than that the their them then
    there these they this those to too upon was we were when where which while who whose will with would you
    your all any both given whole entire exist exists existing reside resides residing please via using use
    used system also just s t
""")
# They may be left out, or stand in for each other, without the instruction becoming another one.
_LIGHT: Final = _words("""
    name named called path filesystem size exact like match space sub location anywhere somewhere
""")
# Beside a name they say what kind of thing it is, as one of two texts may: "the file `a.txt`".
_KINDS: Final = _words("""
    file directory user group variable option flag command script function class module package table column process
    service host branch key field parameter string pattern word text content value
""")
# Each line is one meaning, as far as instructions go. Small on purpose: what is not here counts as different.
_MEANINGS: Final = """
    find search locate look list display print show output get see seek
    directory folder dir directories folders subdirectory subdirectories subfolder subfolders tree hierarchy
    below under down beneath underneath
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
    own belong
    most maximum max
    least minimum min
    long length
    python py
    javascript js
    typescript ts
    ruby rb
    markdown md
    yaml yml
    jpeg jpg
    html htm
"""


_MEANING_OF: Final = {
    stem(word): stem(words[0]) for words in map(str.split, _MEANINGS.strip().splitlines()) for word in words
}


@lru_cache(maxsize=65_536)
def meaning(word: str) -> str:
    """Return what a word stands for: its stem, or that of the first of those that mean the same."""
    stemmed = stem(word)
    return _MEANING_OF.get(stemmed, stemmed)


LIGHT_MEANINGS: Final = frozenset(map(meaning, _LIGHT))
KIND_MEANINGS: Final = frozenset(map(meaning, _KINDS))
_ENDING: Final = meaning("end")
_BELOW: Final = meaning("below")
_OWN: Final = meaning("own")

# They say that all below a place is meant. A text that says so by one of them says it as well as by another.
_DEEP: Final = _words("""
    tree trees hierarchy recursive recursively recurse below under beneath underneath subdirectory subdirectories
    subfolder subfolders
""")
DEPTH: Final = frozenset(map(meaning, ("below", "recursive", "recursively", "recurse")))
_WITHIN: Final = frozenset({"within", "inside"})
# What follows one of these is what the rest is done to: "to" what, "over" what.
DIRECTED: Final = frozenset({"into", "from", "to", "over", "than", "instead", "rather"})
# A name behind one of these plays the part that it says: of a place, or of what something is called by.
_PLACING: Final = frozenset({"in", "into", "inside", "within", "under", "below", "beneath"})
_CALLING: Final = frozenset({"like", "name", "named", "names", "called", "pattern", "matching", "match", "matches"})
_LEADING: Final = _PLACING | _CALLING | {"from", "to", "onto", "with", "by", "of", "for", "on", "at", "as"}
_ANY_BEFORE_AN_ENDING: Final = re.compile(r"\*(?=\.\w)")
# A pattern or name that says how something ends: `*.mp3`, `.txt`.
_OF_AN_ENDING: Final = re.compile(r"\*?\.[^\W\d_]\w{0,5}")
# "MP3s" are more than one "MP3".
_PLURAL: Final = re.compile(r"[A-Z]+\d+s")


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says, taken apart.

    Attributes:
        names: identifiers, paths, patterns, variables and short quoted texts, without their decoration.
        numbers: in digits, also those written as words from two to twelve.
        negated: whether it holds any negation.
        words: the meanings of its other words.
        spoken: every word as it stands: what one text puts in quotes, another names without.
        order: names and words in the order in which they come first.
        sequence: all names and words, in the order of the text.
        implied: meanings of words that it does without: `*.mp3` says how something ends, "root's" who owns it.
        deep: whether it says that all below a place is meant.
        objects: (directed word, what follows it), of those words that stand once.
        denied: what follows the words that say nothing but "not", in the order of the text.
        led: (name, the word that leads it), of those words that lead one name only.
        places: names of places, as far as a word before them says so.
        called: names that something is called by, as far as a word before them says so.
    """

    names: frozenset[str]
    numbers: frozenset[str]
    negated: bool
    words: frozenset[str]
    spoken: frozenset[str]
    order: tuple[str, ...]
    sequence: tuple[str, ...]
    implied: frozenset[str]
    deep: bool
    objects: frozenset[tuple[str, str]]
    denied: tuple[str, ...]
    led: frozenset[tuple[str, str]]
    places: frozenset[str]
    called: frozenset[str]


def wording(text: str) -> Wording:
    """Take a text apart, with the clauses of each sentence in one order."""
    text = "\n".join(map(" ".join, sentences(text)))
    parts = _Parts()
    at = 0
    for quoted in _QUOTED.finditer(text):
        parts.take_all(text[at : quoted.start()])
        parts.take_name(quoted[2].strip())
        at = quoted.end()
    parts.take_all(text[at:])
    return Wording(
        names=frozenset(parts.names),
        numbers=frozenset(parts.numbers),
        negated=any(_plain(word) in _NEGATIONS for word in parts.spoken),
        words=frozenset(parts.words),
        spoken=frozenset(parts.spoken),
        order=tuple(dict.fromkeys(parts.order)),
        sequence=tuple(parts.order),
        implied=frozenset(parts.implied),
        deep=not _DEEP.isdisjoint(parts.spoken),
        objects=_of_one(parts.objects),
        denied=tuple(dict.fromkeys(parts.denied)),
        led=frozenset((name, by) for by, name in _of_one(parts.led)),
        places=frozenset(name for by, name in parts.led if by in _PLACING),
        called=frozenset(name for by, name in parts.led if by in _CALLING),
    )


def _plain(word: str) -> str:
    return word.replace("'", "").replace("\u2019", "")


def _of_one(pairs: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return the pairs whose first stands in no other, and whose second is something."""
    times = Counter(first for first, _ in pairs)
    return frozenset((first, second) for first, second in pairs if second and times[first] == 1)


@dataclass(slots=True)
class _Parts:
    """What was found so far, in the order of the text; `leading` leads the next name, "" when no word does."""

    names: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    implied: set[str] = field(default_factory=set)
    objects: list[tuple[str, str]] = field(default_factory=list)
    denied: list[str] = field(default_factory=list)
    led: list[tuple[str, str]] = field(default_factory=list)
    leading: str = ""

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
        if _OF_AN_ENDING.fullmatch(name):
            self.implied.add(_ENDING)
        if bare := _bare(name[:-1] if _PLURAL.fullmatch(name) else name):
            self.names.append(bare)
            self._take_part(bare)
            if self.leading:
                self.led.append((self.leading, bare))
                self.leading = ""

    def _take_word(self, word: str) -> None:
        self.spoken.append(word)
        if word in _LEADING:
            self.leading = word
        if word in NUMBER_WORDS:
            self.numbers.append(NUMBER_WORDS[word])
        elif word in _WITHIN:
            self.implied.add(_BELOW)
        elif _plain(word) in _NOTHING_BUT_NOT:
            self.denied.append("")
        elif word not in _GLUE:
            owner = word.removesuffix("'s").removesuffix("\u2019s")
            if owner != word:
                self.implied.add(_OWN)
            self._take_meaning(owner)
        if word in DIRECTED:
            self.objects.append((word, ""))

    def _take_meaning(self, word: str) -> None:
        part = meaning(word)
        self.words.append(part)
        self._take_part(part)
        if word not in _LEADING and part not in KIND_MEANINGS | LIGHT_MEANINGS:
            self.leading = ""

    def _take_part(self, part: str) -> None:
        self.order.append(part)
        if part in KIND_MEANINGS or part in LIGHT_MEANINGS:
            return
        if self.objects and not self.objects[-1][1]:
            self.objects[-1] = (self.objects[-1][0], part)
        if self.denied and not self.denied[-1]:
            self.denied[-1] = part


def _bare(name: str) -> str:
    """Return a name without what one writes around it: `*.txt`, `.txt` and `dir/` are `txt` and `dir`."""
    bare = name.casefold().strip(_EDGES)
    return _ANY_BEFORE_AN_ENDING.sub("", bare).removeprefix(".").rstrip("/") or name.casefold()

"""A sentence as the guard reads it: its words, where the classes of words stand in it, and what names a thing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from reasoningbank.screening.guard.signs import SIGNS, Sign
from reasoningbank.screening.guard.word_classes import CLASSES

SENTENCE = re.compile("(?:[^.!?\n\u3002\uff01\uff1f]++|[.!?](?!\\s|$))++")
TOKEN = re.compile(
    r"(?:https?|ftp|s3|gs)://[^\s\"'<>)\]]+|\+\d[\d ]{6,40}\d|git@[\w.:/-]+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}\w"
    r"|[~.]?/[\w./~-]*\w|\.[a-z][\w.-]*\w|\w[\w'./:-]*\w|\w|[^\w\s]"
)
_ADDRESS = re.compile(
    r"(?:https?|ftp|s3|gs)://|git@"
    r"|(?:[\w-]{1,64}\.){1,8}(?:com|org|net|io|cn|ru|biz|info|xyz|top|site|tk|sh)(?![\w.])"
    r"|[\w.+-]{1,64}@[\w-]{1,64}\.\w|\d{1,3}(?:\.\d{1,3}){3}(?!/0)"
)


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, as the places of its classes."""

    words: tuple[str, ...]
    places: dict[str, list[int]]


def _phrases() -> tuple[dict[str, frozenset[str]], dict[str, list[tuple[tuple[str, ...], str]]]]:
    single: dict[str, set[str]] = {}
    longer: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, members in CLASSES.items():
        for member in members:
            first, *rest = member.split("_")
            single.setdefault(member, set()).add(name)
            if rest:
                longer.setdefault(first, []).append((tuple(rest), name))
    return {word: frozenset(names) for word, names in single.items()}, longer


_SINGLE, _LONGER = _phrases()


@lru_cache(maxsize=4096)
def classes_of(word: str) -> frozenset[str]:
    """Return the classes of a word in lower case, by itself."""
    names = _SINGLE.get(word, frozenset())
    if _ADDRESS.match(word):
        return names | {"ADDRESS"}
    if word[0] == "+" or (word[0].isdigit() and len(word) > 5):
        names |= {"NUMBER"}
    if "/" in word or "." in word:  # ~/.ssh/id_rsa and secrets.yaml hold what their parts name
        for part in re.split(r"[/~]|(?<=\w)\.", word):
            names |= _SINGLE.get(part, frozenset()) & {"SECRET", "PRIZE"}
    return names


def words_of(sentence: str, codes: frozenset[str]) -> Words:
    """Return the words of a sentence with the places of their classes; what is in `codes` is of the class CODE."""
    tokens = TOKEN.findall(sentence)
    words = tuple(map(str.lower, tokens))
    places: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        for name in classes_of(word):
            places.setdefault(name, []).append(index)
        if word in _LONGER:
            for rest, name in _LONGER[word]:
                if words[index + 1 : index + 1 + len(rest)] == rest:
                    places.setdefault(name, []).append(index)
    if codes and (coded := [index for index, token in enumerate(tokens) if token in codes]):
        places["CODE"] = coded
    return Words(words, places)


def sentence_of(text: str) -> Words:
    """Return a text as one sentence, as the wording model sees it."""
    return words_of(text, codes_of(text))


CODE = re.compile(r"(?<![\w/.-])(?:[A-Z]{1,5}-?\d{1,6}|\d{4,}|[A-Z]{1,5})(?![\w/])")


def codes_of(reading: str) -> frozenset[str]:
    """Return what names a thing: AC-200, 4417, and capitals that come up again (account Z)."""
    found = Counter(CODE.findall(reading))
    return frozenset(code for code, n in found.items() if any(c.isdigit() for c in code) or (code != "I" and n > 1))


def may_stand(lower: str, codes: frozenset[str]) -> bool:
    """Tell whether a text holds all classes of any sign, wherever they stand: most lessons do not."""
    words = set(TOKEN.findall(lower))
    names: set[str] = {"CODE"} if codes else set()
    for word in words & _SINGLE.keys():
        names |= _SINGLE[word]
    for word in words & _LONGER.keys():
        names.update(name for rest, name in _LONGER[word] if words.issuperset(rest))
    for word in words:
        if not word.isalpha():
            names |= classes_of(word)
    return any(needed <= names for first in names & NEEDED.keys() for needed in NEEDED[first])


NEEDED: dict[str, list[frozenset[str]]] = {}
for _sign in (*SIGNS, Sign("redirect.swap", 1.0, ("CODE", "WHEN", "USE"))):
    NEEDED.setdefault(_sign.chain[0], []).append(frozenset((*_sign.chain, *_sign.also)))

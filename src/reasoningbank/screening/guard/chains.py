"""Which signs stand in a text: chains of word classes near each other in one sentence, and nothing that undoes them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass

from reasoningbank.screening.guard.signs import CLASSES, SIGNS, Sign
from reasoningbank.screening.prefilter import Seen, by_keyword

Word = tuple[int, str]
"""Where a word of a class begins, and the class."""

_BY_KEYWORD = by_keyword((members, name) for name, members in CLASSES.items())
KEYWORDS = _BY_KEYWORD.keys()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in lower case, and where in it the words of each class begin, ascending."""

    text: str
    places: dict[str, list[int]]


def standing(text: str, seen: Seen) -> Iterator[tuple[str, float, int]]:
    """Yield (sign, weight, where its sentence begins) for the signs that stand in a text, by what a look at it saw."""
    words = list(_words(seen))
    signs = _possible(SIGNS, {name for _, name in words} | _BY_FORM.keys())
    for name in _BY_FORM.keys() & frozenset().union(*(sign.classes for sign in signs)):
        words += ((place, name) for place in _BY_FORM[name](text))
    if signs := _possible(signs, {name for _, name in words}):
        needed = {"PROTECTIVE"}.union(*(sign.classes.union(sign.unless) for sign in signs))
        for start, sentence in _sentences(seen.lower, sorted(word for word in words if word[1] in needed)):
            yield from ((sign.name, sign.weight, start) for sign in signs if stands(sign, sentence))


def _possible(signs: Iterable[Sign], classes: Set[str]) -> list[Sign]:
    """Return the signs that a text with these classes may hold."""
    return [sign for sign in signs if sign.classes <= classes]


# A word goes on behind an apostrophe, a hyphen and what joins the parts of an address: sign-off, user's, secrets.yaml.
_BEGINS = re.compile(r"(?<!\w)(?<!\w['./:@-])")
_ENDS = re.compile(r"(?!\w|['./:@-]\w)")
# With these, or nothing, beside it, it is whole: nearly all are, and that is told without a pattern.
_BLANKS = " \n"


def _words(seen: Seen) -> Iterator[Word]:
    """Yield the words of the classes: what is part of a longer word is none."""
    lower = seen.lower
    for last, keyword in seen.hits:
        if keyword in KEYWORDS:
            start, end = last + 1 - len(keyword), last + 1
            before, behind = lower[start - 1 : start], lower[end : end + 1]
            if before.isalnum() or behind.isalnum():
                continue
            whole = (before in _BLANKS or _BEGINS.match(lower, start)) and (
                behind in _BLANKS or _ENDS.match(lower, end)
            )
            for name in _BY_KEYWORD[keyword]:
                if whole or name == "SECRET":  # ~/.ssh/id_rsa and secrets.yaml hold what their parts name
                    yield start, name


_SENTENCE = re.compile("(?:[^.!?\n\u3002\uff01\uff1f]++|[.!?](?!\\s|\\Z))++")


def _sentences(lower: str, words: list[Word]) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences that hold words of classes, and where they begin."""
    first = 0
    for match in _SENTENCE.finditer(lower):
        places: dict[str, list[int]] = {}
        while first < len(words) and words[first][0] < match.end():
            place, name = words[first]
            places.setdefault(name, []).append(place - match.start())
            first += 1
        if places:
            yield match.start(), Sentence(match[0], places)


def stands(sign: Sign, sentence: Sentence) -> bool:
    """Tell whether a sign stands in a sentence, and nothing undoes it."""
    places = sentence.places
    if not sign.classes <= places.keys() or any(name in places for name in sign.unless):
        return False
    return any(
        (_surrounds(sign, sentence, start) if sign.loose else _follows(sign, sentence, start, 1))
        and not (sign.commands and not _COMMAND.search(sentence.text, max(0, start - 20), start))
        and (sign.negated or not _NEGATED.search(sentence.text, max(0, start - 50), start))
        and not _is_quoted(sentence, start)
        for start in places[sign.chain[0]]
    )


# What stands before a command, before what is forbidden, and around what is quoted.
_COMMAND = re.compile(
    r"(?:\A|[^\w\s`]|\b(?:please|kindly|then|first|and|or|must|should|just|simply|always|now|also|you|instead|to|can|will"
    r"|shall|immediately|automatically|run))\s*\Z"
)
_NEGATED = re.compile(
    r"\b(?:never|not|don't|avoid|cannot|can't|won't|mustn't|shouldn't|refuse|before|prevent|rather than"
    r"|instead of|without|no|forbidden|prohibit|against|doesn't|didn't)\b(?:[^-,;:()]|\b-\b)*\Z"
)
_QUOTE = re.compile(r"[\"`]|(?<!\w)'|'(?!\w)")


def _is_quoted(sentence: Sentence, place: int) -> bool:
    """Tell whether a sentence about attacks quotes what it warns of."""
    return "PROTECTIVE" in sentence.places and len(_QUOTE.findall(sentence.text, max(0, place - 300), place)) % 2 == 1


# No two words are looked at that stand further apart than so many characters for each word between them.
_LONGEST_WORD = 40


def _follows(sign: Sign, sentence: Sentence, place: int, step: int) -> bool:
    """Tell whether the rest of the chain stands behind `place`, each link near the one before."""
    if step == len(sign.chain):
        return True
    here = sentence.places[sign.chain[step]]
    first = bisect_right(here, place)
    return any(
        _near(sentence, place, other, sign.gap) and _follows(sign, sentence, other, step + 1)
        for other in here[first : first + 4]
    )


def _surrounds(sign: Sign, sentence: Sentence, place: int) -> bool:
    """Tell whether the rest of the chain stands near `place`, before or behind it, each at a place of its own."""
    taken = {place}
    reach = sign.gap * _LONGEST_WORD
    for name in sign.chain[1:]:
        here = sentence.places[name]
        within = here[bisect_left(here, place - reach) : bisect_right(here, place + reach)]
        free = next((other for other in within if other not in taken and _near(sentence, place, other, sign.gap)), None)
        if free is None:
            return False
        taken.add(free)
    return True


def _near(sentence: Sentence, one: int, other: int, gap: int) -> bool:
    """Tell whether two words are at most `gap` words apart."""
    start, end = sorted((one, other))
    return end - start <= gap * _LONGEST_WORD and sentence.text.count(" ", start, end) <= gap


# What in an address tells that it is one. Each form begins with a sign of its own, so that the search is one for signs.
_ADDRESS = re.compile(
    r"://(?:(?<=https://)|(?<=http://)|(?<=ftp://)|(?<=s3://)|(?<=gs://))|@(?:(?<=git@)|(?<=[\w.+-]@)[\w-]{1,64}\.\w)"
    r"|\.(?<=\w\.)(?:com|org|net|io|cn|ru|biz|info|xyz|top|site|tk|sh)(?!\w|\.\w)"
    r"|\.(?<=\d\.)\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d|\.\d|/0)|\+\d[\d ]{5,40}\d",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![\w/.`-])(?:[A-Z]{1,5}-?\d{1,6}|\d{3,}|[A-Z]{1,5})(?![\w/])")
# As many digits as an account has, in groups or not, and an IBAN.
_ACCOUNT = re.compile(r"(?<![\w+.-])(?:[A-Za-z]{2}\d{2}(?: ?\w{4}){3,8}|\d{3,6}(?:[ -]\d{3,6}){1,4}|\d{7,20})(?![\w.])")


def _addresses(text: str) -> list[int]:
    """Return where a place in the net, a mailbox or a telephone is named."""
    return [match.start() for match in _ADDRESS.finditer(text)]


def _codes(text: str) -> list[int]:
    """Return where a thing is named: AC-200, 4417, and capitals that come up again (account Z)."""
    codes = [(match.start(), match[0]) for match in _CODE.finditer(text)]
    often = Counter(code for _, code in codes)
    return [place for place, code in codes if any(map(str.isdigit, code)) or (code != "I" and often[code] > 1)]


def _accounts(text: str) -> list[int]:
    """Return where a number stands that may be an account's."""
    return [match.start() for match in _ACCOUNT.finditer(text)]


# The classes that are told by their form.
_BY_FORM: dict[str, Callable[[str], list[int]]] = {"ADDRESS": _addresses, "CODE": _codes, "ACCOUNT_NUMBER": _accounts}

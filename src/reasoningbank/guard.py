"""Signs of planted instructions in a text that is to become a memory.

`inspect` answers with findings, each a sign, the field, and a short excerpt; `is_suspicious` adds their weights up.
It is a sieve and not a proof: what it lets pass is still shown to a model as framed data, and comes with its source.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from reasoningbank.guard_forms import FORMS, SQUEEZED, Form
from reasoningbank.guard_signs import SIGNS, Sign
from reasoningbank.guard_wording import may_be_worded, weight_of_wording
from reasoningbank.guard_words import CLASSES
from reasoningbank.hidden_text import PIECES, hidden_signs, readings

SUSPICIOUS = 1.0
_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """One sign of a planted instruction.

    Attributes:
        sign: family and kind, such as `override.instructions`; `hidden.` before it: it was encoded or hidden.
        field: where it was found, such as `content`.
        excerpt: the place, as it reads once what was hidden is undone.
        weight: how much it says; the weights of different signs add up.
    """

    sign: str
    field: str
    excerpt: str
    weight: float

    def __str__(self) -> str:
        return f"{self.sign} in {self.field}: {self.excerpt}"


def inspect(**texts: str) -> tuple[Finding, ...]:
    """Return the signs of planted instructions in the given fields, each sign once, the weightiest first.

    Example: `inspect(title=draft.title, content=draft.content)`.
    """
    # Nearly all lessons show nothing: one look at all fields together says so, and costs a third of four.
    if not any(True for _ in _findings("", "\n".join(texts.values()))):
        return ()
    found: dict[str, Finding] = {}
    for field, text in texts.items():
        for finding in _findings(field, text):
            known = found.get(finding.sign)
            if known is None or known.weight < finding.weight:
                found[finding.sign] = finding
    return tuple(sorted(found.values(), key=lambda finding: (-finding.weight, finding.sign)))


def is_suspicious(findings: Iterable[Finding]) -> bool:
    """Tell whether findings are enough to keep a memory from being served until a person approves it."""
    return sum(finding.weight for finding in findings) >= SUSPICIOUS


def _findings(field: str, text: str) -> Iterator[Finding]:
    for sign, weight in hidden_signs(text):
        yield Finding(f"hidden.{sign}", field, "", weight)
    (_, plain), *others = readings(text)
    known = set()
    for sign, weight, excerpt in _signs(plain):
        known.add(sign)
        yield Finding(sign, field, excerpt, min(1.0, weight))
    for undone, reading in others:
        if undone in ("base64", "hex") and _ACTED_ON.search(plain) and _SEVERAL_WORDS.search(reading):
            yield Finding(f"hidden.{undone}.payload", field, _excerpt(reading, 0), 1.0)
        if undone == "spaced" or any(word in reading.lower() for word in PIECES):
            for sign, weight, excerpt in _signs(reading, undone):
                if sign not in known:
                    yield Finding(f"hidden.{undone}.{sign}", field, excerpt, min(1.0, weight + 0.5))


# What says that an encoded text is to be acted on.
_ACTED_ON = re.compile(r"\b(?:execut|eval|exec|run|obey|do what|do as|follow|apply)\w*", re.IGNORECASE)

_SEVERAL_WORDS = re.compile(r"\w\W+\w")


def _signs(reading: str, undone: str = "plain") -> Iterator[tuple[str, float, str]]:
    lower = reading.lower()
    for number in _forms_with_keywords(lower):
        place = _place_of(FORMS[number], lower)
        if place is not None:
            yield FORMS[number].sign, FORMS[number].weight, _excerpt(lower, place)
    if undone == "spaced" and SQUEEZED.search(re.sub(r"[^a-z]", "", lower)):
        yield "override.instructions", 1.0, _excerpt(reading, 0)
    codes = _codes(reading)
    may_stand = _may_stand(lower, codes)
    for sentence in _SENTENCE.finditer(reading):
        if not may_stand and not (undone == "plain" and may_be_worded(_LETTERS.findall(sentence[0].lower()))):
            continue
        words = _words(sentence[0], codes)
        found = _standing(words)
        wording = weight_of_wording(words) if undone == "plain" else 0.0
        if wording == 1.0 or (wording and found):
            found["wording"] = wording
        yield from ((name, weight, _excerpt(sentence[0], 0)) for name, weight in found.items())
    if may_stand:
        yield from _swaps(reading, codes)


def _by_head() -> tuple[dict[str, list[tuple[str, int]]], list[tuple[str, int]]]:
    """Return the forms' keywords by their first three letters, and those that do not begin with three."""
    heads: dict[str, list[tuple[str, int]]] = {}
    others: list[tuple[str, int]] = []
    for number, form in enumerate(FORMS):
        for keyword in form.keywords:
            letters = keyword[:3].isascii() and keyword[:3].isalpha() and len(keyword) >= 3
            (heads.setdefault(keyword[:3], []) if letters else others).append((keyword, number))
    return heads, others


_HEADS, _OTHERS = _by_head()
_LETTERS = re.compile(r"[a-z]{3,}")


def _forms_with_keywords(lower: str) -> list[int]:
    """Return the numbers of the forms that have a keyword in a text; most are ruled out by how its words begin."""
    heads = {word[:3] for word in set(_LETTERS.findall(lower))} & _HEADS.keys()
    numbers = {number for head in heads for keyword, number in _HEADS[head] if keyword in lower}
    return sorted(numbers.union(number for keyword, number in _OTHERS if keyword in lower))


def _may_stand(lower: str, codes: frozenset[str]) -> bool:
    """Tell whether a text holds all classes of any sign, wherever they stand: most lessons do not."""
    words = set(_TOKEN.findall(lower))
    names: set[str] = {"CODE"} if codes else set()
    for word in words & _SINGLE.keys():
        names |= _SINGLE[word]
    for word in words & _LONGER.keys():
        names.update(name for rest, name in _LONGER[word] if words.issuperset(rest))
    for word in words:
        if not word.isalpha():
            names |= _classes_of(word)
    return any(needed <= names for first in names & _NEEDED.keys() for needed in _NEEDED[first])


_NEEDED: dict[str, list[frozenset[str]]] = {}
for _sign in (*SIGNS, Sign("redirect.swap", 1.0, ("CODE", "WHEN", "USE"))):
    _NEEDED.setdefault(_sign.chain[0], []).append(frozenset((*_sign.chain, *_sign.also)))


def _place_of(form: Form, lower: str) -> int | None:
    """Return where a form stands, unless a word before it forbids what it says."""
    for match in form.pattern.finditer(lower):
        before = max(0, match.start() - 60)
        if not (form.sign.startswith("tools") and _FORBIDDEN.search(lower, before, match.start())):
            return match.start()
    return None


def _standing(words: _Words) -> dict[str, float]:
    """Return the signs that stand in a sentence, each with its greatest weight."""
    found: dict[str, float] = {}
    for name in words.places.keys() & _BY_FIRST.keys():
        for sign in _BY_FIRST[name]:
            if sign.weight > found.get(sign.name, 0.0) and _stands(sign, words):
                found[sign.name] = sign.weight
    return found


_BY_FIRST = {name: [sign for sign in SIGNS if sign.chain[0] == name] for name in {sign.chain[0] for sign in SIGNS}}


def _excerpt(text: str, start: int) -> str:
    return " ".join(text[start : start + _EXCERPT].split())


_FORBIDDEN = re.compile(
    r"\b(?:never|not|don't|avoid|against|instead of|forbid\w*|prohibit\w*|before)\b[^.;:\n]*\Z", re.IGNORECASE
)
_SENTENCE = re.compile("(?:[^.!?\n\u3002\uff01\uff1f]|[.!?](?!\\s|$))+")
_TOKEN = re.compile(
    r"(?:https?|ftp|s3|gs)://[^\s\"'<>)\]]+|\+\d[\d ]{6,40}\d|git@[\w.:/-]+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}\w"
    r"|[~.]?/[\w./~-]*\w|\.[a-z][\w.-]*\w|\w[\w'./:-]*\w|\w|[^\w\s]"
)
_ADDRESS = re.compile(
    r"(?:https?|ftp|s3|gs)://|git@"
    r"|(?:[\w-]{1,64}\.){1,8}(?:com|org|net|io|cn|ru|biz|info|xyz|top|site|tk|sh)(?![\w.])"
    r"|[\w.+-]{1,64}@[\w-]{1,64}\.\w|\d{1,3}(?:\.\d{1,3}){3}(?!/0)"
)
_BREAKS = frozenset(",;:()-")
_BEFORE_COMMAND = frozenset(
    [*_BREAKS, "", "please", "then", "first", "and", "or", "must", "should", "just", "simply", "always", "now", "also",
     "you", "instead", "to", "can", "will", "shall", "\"", "'", "*", "#", ">", "immediately", "run"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Words:
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
def _classes_of(word: str) -> frozenset[str]:
    names = _SINGLE.get(word, frozenset())
    if _ADDRESS.match(word):
        return names | {"ADDRESS"}
    if word[0] == "+" or (word[0].isdigit() and len(word) > 5):
        names |= {"NUMBER"}
    if "/" in word or "." in word:  # ~/.ssh/id_rsa and secrets.yaml hold what their parts name
        for part in re.split(r"[/~]|(?<=\w)\.", word):
            names |= _SINGLE.get(part, frozenset()) & {"SECRET", "PRIZE"}
    return names


def _words(sentence: str, codes: frozenset[str]) -> _Words:
    tokens = _TOKEN.findall(sentence)
    words = tuple(map(str.lower, tokens))
    places: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        for name in _classes_of(word):
            places.setdefault(name, []).append(index)
        if word in _LONGER:
            for rest, name in _LONGER[word]:
                if words[index + 1 : index + 1 + len(rest)] == rest:
                    places.setdefault(name, []).append(index)
    if codes and (coded := [index for index, token in enumerate(tokens) if token in codes]):
        places["CODE"] = coded
    return _Words(words, places)


def _stands(sign: Sign, sentence: _Words) -> bool:
    places = sentence.places
    if not all(name in places for name in (*sign.chain, *sign.also)) or any(name in places for name in sign.unless):
        return False
    return any(
        (_surrounds(sign, places, start) if sign.loose else _follows(sign, places, start, 1))
        and not (sign.commands and not _is_command(sentence, start))
        and (sign.negated or not _is_negated(sentence, start))
        and not _is_quoted(sentence, start)
        for start in places[sign.chain[0]]
    )


def _follows(sign: Sign, places: dict[str, list[int]], place: int, step: int) -> bool:
    """Tell whether the rest of the chain stands behind `place`."""
    if step == len(sign.chain):
        return True
    here = places[sign.chain[step]]
    near = here[bisect_right(here, place) : bisect_right(here, place + sign.gap)]
    return any(_follows(sign, places, other, step + 1) for other in near[:4])


def _surrounds(sign: Sign, places: dict[str, list[int]], place: int) -> bool:
    """Tell whether the rest of the chain stands near `place`, before or behind it, each at a place of its own."""
    taken = {place}
    for name in sign.chain[1:]:
        here = places[name]
        near = here[bisect_left(here, place - sign.gap) : bisect_right(here, place + sign.gap)]
        free = next((other for other in near if other not in taken), None)
        if free is None:
            return False
        taken.add(free)
    return True


def sentence_of(text: str) -> _Words:
    """Return a text as one sentence, as the wording model sees it."""
    return _words(text, _codes(text))


def _is_command(sentence: _Words, place: int) -> bool:
    return place == 0 or sentence.words[place - 1] in _BEFORE_COMMAND


def _is_negated(sentence: _Words, place: int) -> bool:
    negations = sentence.places.get("NEGATION", [])
    for index in reversed(range(max(0, place - 7), place)):
        if sentence.words[index] in _BREAKS:
            return False
        if index in negations[bisect_left(negations, index) :][:1]:
            return True
    return False


def _is_quoted(sentence: _Words, place: int) -> bool:
    """Tell whether a sentence about attacks quotes what it warns of."""
    before = sentence.words[:place]
    return "PROTECTIVE" in sentence.places and any(before.count(quote) % 2 for quote in ('"', "'", "`"))


_CODE = re.compile(r"(?<![\w/.-])(?:[A-Z]{1,5}-?\d{1,6}|\d{4,}|[A-Z]{1,5})(?![\w/])")
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?!\s*\n))+")


_IN_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def _codes(reading: str) -> frozenset[str]:
    """Return what names a thing: AC-200, 4417, and capitals that come up again (account Z)."""
    found = Counter(_CODE.findall(reading))
    return frozenset(code for code, n in found.items() if any(c.isdigit() for c in code) or (code != "I" and n > 1))


def _swaps(reading: str, codes: frozenset[str]) -> Iterator[tuple[str, float, str]]:
    """Find texts that answer for one thing with another: X was renamed Y; when X is asked for, put Y."""
    if len(codes) < 2:
        return
    for paragraph in _PARAGRAPH.finditer(_IN_CODE.sub(" ", reading)):
        words = _words(paragraph[0], codes)
        if not words.places.keys() >= {"CODE", "WHEN", "USE"}:
            continue
        named = Counter(words.words[place] for place in words.places["CODE"])
        both = sum(n > 1 for n in named.values()) > 1
        crossed = any(_stands(sign, words) for sign in _CROSSINGS)
        claimed = "RENAMED" in words.places
        if both or crossed:
            yield "redirect.swap", 0.5 + 0.5 * claimed + 0.3 * (both and crossed), _excerpt(paragraph[0], 0)


_CROSSINGS = (
    Sign("redirect.swap", 1.0, ("WHEN", "CODE", "USE", "CODE"), 8),
    Sign("redirect.swap", 1.0, ("USE", "CODE", "WHEN", "CODE"), 8),
)

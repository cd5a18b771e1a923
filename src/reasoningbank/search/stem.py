"""The English stemmer of the keyword leg.

Source: M. F. Porter, "The English (Porter2) stemming algorithm", snowballstem.org, as of Snowball 3. Written out here
because the package that carries it loads the stemmers of thirty languages (0.1 to 0.4 s, longer than the rest of a
first search), takes twice the time a word, and answers differently when another package is there: stems are on disk.
"""

from __future__ import annotations

import re

_REGION = re.compile(r"[^aeiouy]*[aeiouy]+[^aeiouy]")
_LONG_PREFIX = re.compile(r"arsen|commun|emerg|gener|inter|later|organ|past|univers")
_VOWEL = re.compile(r"[aeiouy]")
_CONSONANT_Y = re.compile(r"(^|[aeiou]|y)y")
_SHORT_END = re.compile(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|past)$")
_DOUBLE_END = re.compile(r"(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$")

_IRREGULAR = {
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli",
    "singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos",
    "bias": "bias", "andes": "andes",
}  # fmt: skip
_KEEP_ING = frozenset(("even", "cann", "inn", "earr", "herr", "out"))
_KEEP_EED = frozenset(("succ", "proc", "exc"))

# Longest first: the first that fits is the one that counts, even if its condition then fails.
_STEP_2 = (
    ("ization", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"),
    ("tional", "tion"), ("biliti", "ble"), ("lessli", "less"), ("entli", "ent"), ("ation", "ate"), ("alism", "al"),
    ("aliti", "al"), ("ousli", "ous"), ("iviti", "ive"), ("fulli", "ful"), ("ogist", "og"), ("enci", "ence"),
    ("anci", "ance"), ("abli", "able"), ("izer", "ize"), ("ator", "ate"), ("alli", "al"), ("bli", "ble"),
    ("ogi", "og"), ("li", ""),
)  # fmt: skip
_STEP_3 = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"), ("ative", ""),
    ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_VERB_ENDINGS = ("eedly", "ingly", "edly", "eed", "ing", "ed")
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic",
)  # fmt: skip
# One look tells that none of them fits, as for most words.
_ENDS_2, _ENDS_3 = (tuple(suffix for suffix, _ in step) for step in (_STEP_2, _STEP_3))


def stem(word: str) -> str:
    """Return the stem of a lower-case English word; a word that holds anything but a to z comes back as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _CONSONANT_Y.sub(r"\1Y", word)
    first = _first_region(word)
    second = _region_end(word, first)
    word = _drop_verb_ending(_drop_plural(word), first)
    if word[-1] in "yY" and len(word) > 2 and not _VOWEL.match(word[-2]):
        word = word[:-1] + "i"
    word = _drop_suffix_3(_drop_suffix_2(word, first), first, second)
    return _drop_final_letter(_drop_suffix_4(word, second), first, second).replace("Y", "y")


def _first_region(word: str) -> int:
    prefix = _LONG_PREFIX.match(word)
    return prefix.end() if prefix else _region_end(word, 0)


def _region_end(word: str, start: int) -> int:
    """Return where the part after the first consonant that follows a vowel begins."""
    match = _REGION.match(word, start)
    return match.end() if match else len(word)


def _drop_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _VOWEL.search(word[:-2]):
        return word[:-1]
    return word


def _drop_verb_ending(word: str, first: int) -> str:
    for ending in _VERB_ENDINGS if word.endswith(_VERB_ENDINGS) else ():
        if word.endswith(ending):
            return _without_verb_ending(word, ending, first)
    return word


def _without_verb_ending(word: str, ending: str, first: int) -> str:
    base = word[: -len(ending)]
    if ending in ("eed", "eedly"):
        return base + "ee" if len(base) >= first and base not in _KEEP_EED else word
    if ending == "ing" and (base in _KEEP_ING or (len(base) == 2 and base[1] == "y" and not _VOWEL.match(base[0]))):
        return base[0] + "ie" if base[1:] == "y" else word
    return _mended(base, first) if _VOWEL.search(base) else word


def _mended(base: str, first: int) -> str:
    """Return what is left of a verb with the e put back, or the doubled consonant undone, where English does so."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _DOUBLE_END.search(base):
        return base if len(base) == 3 and base[0] in "aeo" else base[:-1]
    return base + "e" if len(base) == first and _SHORT_END.search(base) else base


def _drop_suffix_2(word: str, first: int) -> str:
    if not word.endswith(_ENDS_2):
        return word
    suffix, instead = next(pair for pair in _STEP_2 if word.endswith(pair[0]))
    base = word[: -len(suffix)]
    fits = {"li": "cdeghkmnrt", "ogi": "l"}.get(suffix)
    if len(base) < first or (fits and (not base or base[-1] not in fits)):
        return word
    return base + instead


def _drop_suffix_3(word: str, first: int, second: int) -> str:
    if not word.endswith(_ENDS_3):
        return word
    suffix, instead = next(pair for pair in _STEP_3 if word.endswith(pair[0]))
    base = word[: -len(suffix)]
    return base + instead if len(base) >= (second if suffix == "ative" else first) else word


def _drop_suffix_4(word: str, second: int) -> str:
    if not word.endswith(_STEP_4):
        return word
    suffix = next(suffix for suffix in _STEP_4 if word.endswith(suffix))
    base = word[: -len(suffix)]
    return base if len(base) >= second and (suffix != "ion" or base.endswith(("s", "t"))) else word


def _drop_final_letter(word: str, first: int, second: int) -> str:
    base = word[:-1]
    if word.endswith("e"):
        return base if len(base) >= second or (len(base) >= first and not _SHORT_END.search(base)) else word
    return base if word.endswith("ll") and len(base) >= second else word

"""Text analysis: which terms of a text the keyword leg indexes and asks for, and which words the embedder sees.

The terms are stored in plain FTS5, joined by spaces. Its table names every ASCII sign that a term can hold
(`#$%+-./:@_`; all above U+007F is part of words anyway), so that it takes them apart at those spaces and nowhere else:
what matches is decided here alone and does not change with the SQLite version. If terms() gives something else for any
text, what is stored has to be indexed again: `doctor` finds it, `rebuild` does it. English words are stemmed by
PyStemmer, which those who define the algorithm make.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise

from Stemmer import Stemmer

from reasoningbank.memory import Draft, Memory

LONGEST_TERM = 64
# About 128 word pieces: what small sentence embedders were trained on.
LONGEST_PASSAGE = 480
MOST_PASSAGES = 16
# A query longer than this is a document; its first words say what it is about.
LONGEST_QUERY = 4_000

# Scripts written without spaces between words: Thai to Lao, Myanmar, Khmer, kana, Han, and Hangul, whose particles
# stick to the word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_PIECE = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<token>(?:\#|@|\$|\.|--?)?{_LETTER}+(?:(?:[-._/@]+|::){_LETTER}+)*(?:\+\+|\#(?!\w)|%)?)"
    r"(?:'(?:s|t|d|m|ll|re|ve)(?!\w))?"
)
_WORD = re.compile(rf"{_LETTER}+")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z\d]+|[A-Z\d]+|[^\W_A-Za-z\d]+")
_SENTENCE_END = re.compile(r"\n+|(?<=[.!?])\s+(?=[A-Z])|(?<=[\u3002\uff01\uff1f])")
# What tells an identifier from two words with a sign between them ("real-time", "and/or", "e.g").
IDENTIFIER = re.compile(r"[_#$@\d]|\+\+|::|^--|-.*-|.\..*\.")
_MARKS = re.compile("[\u0300-\u036f]+")
# Letters that Unicode does not decompose, as they are typed without the right keyboard; and the curly apostrophe.
_SPELLED_OUT = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "æ": "ae", "Æ": "AE", "œ": "oe"}
    | {"Œ": "OE", "\u0131": "i", "\u2019": "'"}
)

# Few on purpose: "how many", "all", "only" or "before" tell tasks apart, and rarity weighs the rest.
STOP_WORDS = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
    was will with i me my we our you your can could did do does how its should what when where which who why would
    aren couldn didn doesn don hadn hasn haven isn mustn shouldn wasn weren won wouldn
    """.split()  # noqa: SIM905 - a paragraph reads better than a hundred quoted words
)


def terms(text: str) -> list[str]:
    """Return the terms of `text` for the index, in its order, with repeats.

    Words are case-folded, stripped of diacritics, of stop words and of English endings. An identifier (`snake_case`,
    `camelCase`, `post-merge-hook`, `#417`, `C++`, `3.11`, `--no-verify`) gives itself, whole, and its parts. Text in
    scripts without spaces gives its single characters and its bigrams. No term holds a space, a quote or more than
    LONGEST_TERM characters.
    """
    return list(chain.from_iterable(map(_terms_of_chunk, text.split())))


def query_terms(query: str) -> list[str]:
    """Return the distinct terms to ask for, in the order of `query`.

    They are those of terms(), but for the single characters of a longer run in a script without spaces: its bigrams
    say more.
    """
    return list(dict.fromkeys(chain.from_iterable(map(_query_terms_of_chunk, query[:LONGEST_QUERY].split()))))


def match_expression(wanted: Iterable[str]) -> str:
    """Return the FTS5 expression that matches any of the `wanted` terms; "" when there is none.

    Each term is quoted, so that nothing in it is read as query syntax.
    """
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)


def lesson_text(memory: Draft | Memory) -> str:
    """Return what the lesson says: title, description and content, each once."""
    return "\n".join(part for part in (_title(memory), memory.description, memory.content) if part)


def lesson_passages(memory: Draft | Memory) -> tuple[str, list[str]]:
    """Return the texts whose vectors make the lesson's vector: its title, and one or more passages headed by it.

    An embedder reads only the beginning of a long text, and what it reads it averages into nothing in particular: so a
    long lesson is split, at the ends of sentences and lines. The title is "" where it only repeats the first words.
    """
    title, body = _title(memory), "\n".join(part for part in (memory.description, memory.content) if part)
    passages = [body] if len(body) <= LONGEST_PASSAGE else list(_passages(body))[:MOST_PASSAGES]
    return title, [f"{title}. {passage}" if title else passage for passage in passages]


def _title(memory: Draft | Memory) -> str:
    # A title cut from the first words of the lesson would only weigh them twice.
    cut_from = memory.title.rstrip(".… ")
    repeated = memory.content.startswith(cut_from) or memory.description.startswith(cut_from)
    return "" if repeated else memory.title


def _passages(body: str) -> Iterator[str]:
    """Yield the sentences and lines of `body`, packed into passages of up to LONGEST_PASSAGE characters."""
    packed = ""
    for sentence in filter(None, map(str.strip, _SENTENCE_END.split(body))):
        if packed and len(packed) + len(sentence) >= LONGEST_PASSAGE:
            yield packed
            packed = ""
        packed = f"{packed} {sentence}" if packed else sentence
    yield packed


def keyword_text(memory: Draft | Memory) -> str:
    """Return what the keyword leg indexes: the lesson, when it applies, and its tags."""
    return "\n".join(part for part in (lesson_text(memory), memory.applies_when, " ".join(memory.tags)) if part)


@lru_cache(maxsize=65_536)
def _terms_of_chunk(chunk: str) -> tuple[str, ...]:
    return tuple(_analyse(chunk, singles=True))


@lru_cache(maxsize=4_096)
def _query_terms_of_chunk(chunk: str) -> tuple[str, ...]:
    return tuple(_analyse(chunk, singles=False))


def _analyse(chunk: str, *, singles: bool) -> Iterator[str]:
    """Yield the terms of a text without spaces."""
    for piece in _PIECE.finditer(chunk if chunk.isascii() else _plain(chunk)):
        if piece["unspaced"]:
            yield from _grams(piece["unspaced"], singles=singles)
        else:
            yield from _token_terms(piece["token"])


def _plain(text: str) -> str:
    """Return `text` without compatibility forms, diacritics (those of alphabets) and curly apostrophes."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_SPELLED_OUT))
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


def _grams(run: str, *, singles: bool) -> Iterator[str]:
    if singles or len(run) == 1:
        yield from run
    for first, second in pairwise(run):
        yield first + second


def _token_terms(token: str) -> Iterator[str]:
    whole = token.casefold()
    words = _WORD.findall(token)
    parts = [hump.casefold() for word in words for hump in ([word] if word.islower() else _HUMP.findall(word))]
    if parts != [whole] and len(whole) <= LONGEST_TERM and (IDENTIFIER.search(whole) or whole.isalnum()):
        yield whole
    for part in parts:
        if part not in STOP_WORDS:
            yield stem(part)[:LONGEST_TERM]


def stem(word: str) -> str:
    """Return the stem of a lower-case English word; a word that holds anything but a to z comes back as it is.

    Source: M. F. Porter, "The English (Porter2) stemming algorithm", snowballstem.org.
    """
    if not (word.isascii() and word.isalpha()):
        return word
    # A stemmer has a state that threads must not share: a new one costs 0.3 µs, no more than a lock, and stands forks.
    stemmed: str = Stemmer("english", 0).stemWord(word)
    return stemmed

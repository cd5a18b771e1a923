"""Text analysis: which terms of a text the keyword leg indexes and asks for, and which words the embedder sees.

The terms are stored in plain FTS5, joined by spaces. `TERMS_TABLE` names the tokenizer that takes them apart at those
spaces and nowhere else, so what matches is decided here alone and does not change with the SQLite version.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, pairwise

from reasoningbank.memory import Draft, Memory
from reasoningbank.stem import stem

# Stored beside the index. Raise it whenever terms() gives something else for any text: the index is then rebuilt.
TERMS_VERSION = 1

# Every ASCII sign that a term can hold; the `ascii` tokenizer takes all other characters above U+007F as part of words.
TERM_SIGNS = "#$%+-./:@_"
TERMS_TABLE = f"CREATE VIRTUAL TABLE terms USING fts5(text, tokenize=\"ascii tokenchars '{TERM_SIGNS}'\", detail=full)"

LONGEST_TERM = 64
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
# What tells an identifier from two words with a sign between them ("real-time", "and/or", "e.g").
_IDENTIFIER = re.compile(r"[_#$@\d]|\+\+|::|^--|-.*-|.\..*\.")
_MARKS = re.compile("[\u0300-\u036f]+")
# Letters that Unicode does not decompose, as they are typed without the right keyboard; and the curly apostrophe.
_SPELLED_OUT = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "æ": "ae", "Æ": "AE", "œ": "oe"}
    | {"Œ": "OE", "\u0131": "i", "\u2019": "'"}
)

STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being between both but by can could did do
    does doing during each few for from further had has have he her here hers him his how i if in into is it its just
    may me might more most must my no nor not of on once only or other our out over own same she should so some such
    than that the their them then there these they this those through to too under until up very was we were what
    when where which while who whom whose why will with would you your
    aren couldn didn doesn don hadn hasn haven isn mustn shouldn wasn weren won wouldn
    """.split()  # noqa: SIM905 - a paragraph reads better than 170 quoted words
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


def match_expression(wanted: Iterable[str], frequency: Mapping[str, int] | None = None, most: int | None = None) -> str:
    """Return the FTS5 expression that matches any of the `wanted` terms; "" when there is none.

    Each term is quoted, so that nothing in it is read as query syntax.

    Args:
        wanted: from query_terms().
        frequency: in how many memories each term occurs; terms that occur in none are left out.
        most: keep this many, the rarest ones (ties: the earlier one).
    """
    kept = list(wanted)
    if frequency is not None:
        kept = [term for term in kept if frequency.get(term, 0) > 0]
        kept.sort(key=lambda term: frequency[term])
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in kept[:most])


def lesson_text(memory: Draft | Memory) -> str:
    """Return what the lesson vector is made of: title, description and content, each once."""
    parts = [memory.description, memory.content]
    # A title cut from the first words of the lesson would only weigh them twice.
    if not any(part.startswith(memory.title.rstrip(".… ")) for part in parts):
        parts.insert(0, memory.title)
    return "\n".join(part for part in parts if part)


def applies_text(memory: Draft | Memory) -> str:
    """Return what the applies-when vector is made of; "" when the memory has none."""
    return memory.applies_when


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
    parts = [hump.casefold() for word in _WORD.findall(token) for hump in _humps(word)]
    if parts != [whole] and len(whole) <= LONGEST_TERM and (_IDENTIFIER.search(whole) or whole.isalnum()):
        yield whole
    for part in parts:
        if part not in STOP_WORDS:
            yield stem(part)[:LONGEST_TERM]


def _humps(word: str) -> list[str]:
    return [word] if word.islower() else _HUMP.findall(word)

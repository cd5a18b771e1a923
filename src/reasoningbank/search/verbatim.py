"""What texts have in common with a query word for word, whatever it means."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from reasoningbank.search.relevance import Floats
from reasoningbank.search.terms import IDENTIFIER

# A hash of each of a text's pieces.
Pieces: TypeAlias = npt.NDArray[np.uint16]

GRAM: Final = 5
LONGEST_VERBATIM: Final = 2_000
HASHES: Final = 1 << 16
# A text of up to so many times the query's length may be the query again; a longer one holds its pieces by chance.
AS_LONG: Final = 3.0
# An identifier that at most so many of the leaders hold is what the query is about.
HELD_BY_FEW: Final = 2
# What holding all of the query's identifiers is worth, as a share of its pieces.
NAMED: Final = 0.7
# Of more than these, as in a log, having one says nothing.
MOST_NAMES: Final = 16


def shared_grams(query: str, texts: Sequence[str]) -> Floats:
    """Return which share of the query's five-character pieces each text holds, in [0, 1].

    Case and spacing aside, a text that repeats the query word for word gives 1; one about the same thing in other words
    gives about 0.3. Only the first LONGEST_VERBATIM characters of each are looked at.
    """
    return shared_pieces(query, pieces(texts))


def pieces(texts: Sequence[str]) -> list[Pieces]:
    """Return what `shared_pieces` needs of texts: a hash of each of their five-character pieces."""
    plain = [_plain(text) for text in texts]
    hashed = _grams("".join(plain)).astype(np.uint16)
    ends = np.cumsum([len(text) for text in plain]).tolist()
    # A copy of each: a part would hold on to all. No piece runs from one text into the next.
    return [hashed[end - len(text) : max(0, end - GRAM + 1)].copy() for text, end in zip(plain, ends, strict=True)]


def shared_pieces(query: str, texts: Sequence[Pieces]) -> Floats:
    """Return which share of the query's five-character pieces each text holds, in [0, 1]; see `shared_grams`."""
    # np.unique would load numpy.ma, for 30 ms.
    wanted = np.fromiter(set(_grams(_plain(query)).tolist()), dtype=np.uint16)
    if not texts or not wanted.size:
        return np.zeros(len(texts), dtype=np.float32)
    # Of each piece its place among the wanted ones, from 1 on; 0 for all others.
    places = np.zeros(HASHES, dtype=np.uint16)
    places[wanted] = np.arange(1, wanted.size + 1)
    owner = np.repeat(np.arange(len(texts)), [len(held) for held in texts])
    place = places[np.concatenate(texts)]
    found = np.flatnonzero(place)
    seen = np.zeros((len(texts), wanted.size), dtype=bool)
    seen[owner[found], place[found] - 1] = True
    return np.asarray(seen.mean(axis=1), dtype=np.float32)


def shared_words(wanted: Collection[str], texts: Sequence[str]) -> Floats:
    """Return which share of the query's distinct terms each text has, in [0, 1]; texts are terms, joined by blanks."""
    # Looking for a dozen words takes less than making a set of all.
    terms = [f" {term} " for term in wanted]
    shares = [sum(map(f" {text} ".__contains__, terms)) / max(1, len(terms)) for text in texts]
    return np.array(shares, dtype=np.float32)


def said_again(
    query: str, wanted: Collection[str], shared: Floats, held: Sequence[Pieces], texts: Sequence[str]
) -> Floats:
    """Return how far each text says the query again, in [0, 1], by its pieces and by the query's identifiers.

    The share of pieces counts in full up to AS_LONG times the query's length: a longer text names on its way what it is
    not about ("see 'How to report a bug'"), and has most pieces somewhere. An error code that few of the texts have is
    told by nothing else: its vector is near to those of all codes. `wanted` are the query's terms, `shared` is from
    `shared_pieces`; texts are pieces in `held`, and terms, joined by blanks, in `texts`.
    """
    lengths = np.array([max(1, len(text)) for text in held], dtype=np.float32)
    said = shared * np.sqrt(np.minimum(AS_LONG * len(query) / lengths, 1.0))
    names = [f" {term} " for term in wanted if len(term) > 1 and IDENTIFIER.search(term)]
    if texts and 0 < len(names) <= MOST_NAMES:
        has = np.array([list(map(f" {text} ".__contains__, names)) for text in texts])
        said = np.maximum(said, NAMED * (has & (has.sum(axis=0) <= HELD_BY_FEW)).mean(axis=1))
    return np.asarray(said, dtype=np.float32)


def _plain(text: str) -> str:
    return f" {' '.join(text[:LONGEST_VERBATIM].casefold().split())} "


def _grams(text: str) -> npt.NDArray[np.uint32]:
    """Return a 16-bit hash of each run of GRAM characters (FNV-like, vectorised)."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
    count = max(0, len(codes) - GRAM + 1)
    hashed = np.zeros(count, dtype=np.uint32)
    for offset, factor in enumerate(_FACTORS):
        hashed += codes[offset : offset + count] * factor
    return (hashed ^ (hashed >> np.uint32(15))) & np.uint32(HASHES - 1)


# Of each place, modulo 2 to the power of 32: one multiplication a code does then.
_FACTORS = [np.uint32(0x9E3779B1 * 0x01000193**power & 0xFFFFFFFF) for power in reversed(range(GRAM))]

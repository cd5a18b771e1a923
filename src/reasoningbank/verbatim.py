"""What texts have in common with a query word for word, whatever it means."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from reasoningbank.relevance import Floats

GRAM: Final = 5
LONGEST_VERBATIM: Final = 2_000
HASHES: Final = 1 << 16


def shared_grams(query: str, texts: Sequence[str]) -> Floats:
    """Return which share of the query's five-character pieces each text holds, in [0, 1].

    Case and spacing aside, a text that repeats the query word for word gives 1; one about the same thing in other words
    gives about 0.3. Only the first LONGEST_VERBATIM characters of each are looked at.
    """
    # np.unique would load numpy.ma, for 30 ms.
    wanted = np.fromiter(set(_grams(_codes(_plain(query)[:-GRAM])).tolist()), dtype=np.uint32)
    if not texts or not wanted.size:
        return np.zeros(len(texts), dtype=np.float32)
    slots = np.full(HASHES, -1, dtype=np.int32)
    slots[wanted] = np.arange(wanted.size)
    plain = [_plain(text) for text in texts]
    lengths = np.array([len(text) for text in plain])
    owner = np.repeat(np.arange(len(texts)), lengths)[: max(0, int(lengths.sum()) - GRAM + 1)]
    slot = slots[_grams(_codes("".join(plain)))]
    found = slot >= 0
    seen = np.zeros((len(texts), wanted.size), dtype=bool)
    seen[owner[found], slot[found]] = True
    return np.asarray(seen.mean(axis=1), dtype=np.float32)


def shared_words(wanted: Collection[str], texts: Sequence[str]) -> Floats:
    """Return which share of the wanted terms each text has, in [0, 1].

    Args:
        wanted: the query's distinct terms.
        texts: terms, separated by blanks, as they are indexed.
    """
    terms = frozenset(wanted)
    shares = [len(terms.intersection(text.split())) / max(1, len(terms)) for text in texts]
    return np.array(shares, dtype=np.float32)


def _plain(text: str) -> str:
    # The end is marked, so that no piece runs from one text into the next.
    return f" {' '.join(text[:LONGEST_VERBATIM].casefold().split())} " + "\0" * GRAM


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)


def _grams(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return a 16-bit hash of each run of GRAM codes (FNV-like, vectorised)."""
    count = max(0, len(codes) - GRAM + 1)
    hashed = np.zeros(count, dtype=np.uint32)
    for offset, factor in enumerate(_FACTORS):
        hashed += codes[offset : offset + count] * factor
    return (hashed ^ (hashed >> np.uint32(15))) & np.uint32(HASHES - 1)


# Of each place, modulo 2 to the power of 32: one multiplication a code does then.
_FACTORS = [np.uint32(0x9E3779B1 * 0x01000193**power & 0xFFFFFFFF) for power in reversed(range(GRAM))]

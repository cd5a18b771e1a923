"""Hashed word n-grams: an embedder without a model, for tests and as an explicit choice."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from reasoningbank.embed.base import EmbedderIdentity
from reasoningbank.vectors.base import Float32, unit_rows

WEIGHTS = (1.0, 0.5, 0.25)  # what an n-gram adds at each of its three places
WORD = re.compile(r"\w+")
ASCII_PUNCTUATION = re.compile(r"[^\w\s]", re.ASCII)


class HashEmbedder:
    """Signed feature hashing of word 1- to 3-grams. It knows spelling and nothing of meaning.

    Words are Unicode words after NFKC and case folding; a text without any gives a vector of zeros. The places and
    signs of an n-gram come from independent keyed hashes, so that what collides in one place does not in another.

    Args:
        dim: how many numbers a vector has.
        bit_compatible: use the published algorithm of the first ReasoningBank plugins instead, number for number:
            32-bit multiply-by-31 hashes with seeds 1, 2 and 3, no signs, ASCII words. It maps every text without an
            ASCII word to one and the same vector; use it to compare with vectors that exist.

    Source: Weinberger et al. 2009 (signed hashing).
    """

    def __init__(self, dim: int = 1024, *, bit_compatible: bool = False) -> None:
        self._grams = _ascii_grams if bit_compatible else _unicode_grams
        self._places = _places_by_31 if bit_compatible else _places_by_blake2
        revision = "31" if bit_compatible else "blake2-1"
        self.identity = EmbedderIdentity(name="hash", revision=revision, dim=dim, pooling="none", normalised=True)

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one unit row for each text; zeros for a text without words."""
        if not texts:
            return np.empty((0, self.identity.dim), dtype=np.float32)
        return unit_rows(np.stack([self._counts(text) for text in texts]))

    def embed_query(self, text: str) -> Float32:
        """Return the vector that a document of this text has."""
        return unit_rows(self._counts(text))

    def _counts(self, text: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        counts = np.zeros(self.identity.dim)
        for gram in self._grams(text):
            for (place, sign), weight in zip(self._places(gram), WEIGHTS, strict=True):
                counts[place % self.identity.dim] += sign * weight
        return counts


def _ngrams(words: Sequence[str], joint: str) -> Iterator[str]:
    for size in (1, 2, 3):
        for start in range(len(words) - size + 1):
            yield joint.join(words[start : start + size])


def _unicode_grams(text: str) -> Iterator[str]:
    return _ngrams(WORD.findall(unicodedata.normalize("NFKC", text).casefold()), "\0")


def _ascii_grams(text: str) -> Iterator[str]:
    return _ngrams(re.split(r"\s+", ASCII_PUNCTUATION.sub("", text.lower()).strip()), "_")


def _places_by_blake2(gram: str) -> Iterator[tuple[int, int]]:
    for person in (b"place 1", b"place 2", b"place 3"):
        digest = hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8, person=person).digest()
        number = int.from_bytes(digest, "little")
        yield number >> 1, 1 if number & 1 else -1


def _places_by_31(gram: str) -> Iterator[tuple[int, int]]:
    """Yield JavaScript's `((h << 5) - h + code) | 0` over UTF-16 code units, made positive, for each seed."""
    units = np.frombuffer(gram.encode("utf-16-le", "surrogatepass"), dtype="<u2").tolist()
    for value in (1, 2, 3):
        for unit in units:
            value = (value * 31 + unit) & 0xFFFFFFFF  # noqa: PLW2901 - it starts from the seed
        yield abs(value - (1 << 32) if value >> 31 else value), 1

"""Which keywords a text could hold, told by its chunks: the pieces between its spaces, which can be remembered.

What is known of a chunk is an integer with a bit for each thing that it could be part of; what is known of a text is
the union. A keyword that has spaces goes by its longest part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Part:
    """What a chunk must hold, for the text to hold a keyword."""

    text: str
    begins: bool
    ends: bool
    bit: int

    @classmethod
    def of(cls, keyword: str, bit: int) -> _Part:
        parts = keyword.split(" ")
        longest = max(range(len(parts)), key=lambda place: len(parts[place]))
        return cls(parts[longest], longest > 0, longest < len(parts) - 1, bit)

    def is_in(self, chunk: str, place: int) -> bool:
        """Tell whether it stands at a place of a chunk."""
        return (
            chunk.startswith(self.text, place)
            and not (self.begins and place)
            and not (self.ends and place + len(self.text) < len(chunk))
        )


class Keywords:
    """Keywords, each with the bit that says that a text may hold it.

    Args:
        bits: (keyword, bit); several may share a bit. The only space in them is U+0020.
    """

    def __init__(self, bits: Iterable[tuple[str, int]]) -> None:
        parts = list(dict.fromkeys(_Part.of(keyword, bit) for keyword, bit in bits))
        self._single = [part for part in parts if len(part.text) == 1]
        self._by_pair: dict[str, list[_Part]] = {}
        for part in parts:
            if len(part.text) > 1:
                self._by_pair.setdefault(part.text[:2], []).append(part)

    def bits_of(self, chunk: str) -> int:
        """Return the bits of the keywords that a text with this chunk could hold."""
        bits = 0
        for part in self._single:
            if part.is_in(chunk, chunk.rfind(part.text) if part.ends else chunk.find(part.text)):
                bits |= part.bit
        for place in range(len(chunk) - 1):
            for part in self._by_pair.get(chunk[place : place + 2], ()):
                if part.is_in(chunk, place):
                    bits |= part.bit
        return bits


def places(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set, from the lowest."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest

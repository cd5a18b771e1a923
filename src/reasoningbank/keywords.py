"""Which keywords a text could hold, told by its chunks: the pieces between its spaces, which can be remembered.

What is known of a chunk is an integer with a bit for each thing that it could be part of; what is known of a text is
the union. A keyword that has spaces goes by its longest part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LENGTHS = (1, 2, 3)


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
        # By their first three characters, of which short ones have fewer.
        self._parts: dict[str, list[_Part]] = {}
        for part in dict.fromkeys(_Part.of(keyword, bit) for keyword, bit in bits):
            self._parts.setdefault(part.text[: _LENGTHS[-1]], []).append(part)

    def bits_of(self, chunk: str) -> int:
        """Return the bits of the keywords that a text with this chunk could hold."""
        bits = 0
        for place in range(len(chunk)):
            for length in _LENGTHS:
                for part in self._parts.get(chunk[place : place + length], ()):
                    if part.is_in(chunk, place):
                        bits |= part.bit
        return bits


def places(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set, from the lowest."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest

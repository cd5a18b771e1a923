"""A file with the codes of an index: what would have to be made anew from all vectors when a process starts.

    8 bytes    what it is, and the format's version
    4          CRC-32 of all that follows
    4 + n      length of the head, and the head in JSON
    then for each block
    32         number of rows, largest number, error, length (see `Coded`)
    8 a row    ids
    8 a row    owners
    dim a row  codes

Numbers are little-endian. It is derived: whoever cannot use one builds the index from the database.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

import numpy as np

from reasoningbank.vectors.base import Int64
from reasoningbank.vectors.blocks import Coded

MAGIC = b"RBINDEX\x01"
LONGEST_HEAD = 4_096
_SUM = struct.Struct("<I")
_BLOCK = struct.Struct("<Qddd")


class Head(TypedDict):
    """What a snapshot says of itself.

    Attributes:
        token: the database that it belongs to has the same.
        generation: the row of the generation that its vectors are of, with the embedder's identity.
        covered: the newest change that it knows of.
    """

    token: str
    generation: list[Any]
    covered: int


class SnapshotError(Exception):
    """A snapshot that is damaged, or of another format."""


def write(file: BinaryIO, head: Head, blocks: Iterable[tuple[Coded, Int64]]) -> None:
    """Write a snapshot of blocks and the owners of their rows into an empty file."""
    encoded = json.dumps(head).encode()
    file.write(MAGIC + _SUM.pack(0))
    total = _written(file, 0, _SUM.pack(len(encoded)) + encoded)
    for coded, owners in blocks:
        total = _written(file, total, _BLOCK.pack(coded.ids.size, coded.largest, coded.error, coded.length))
        for numbers in (coded.ids, owners):
            total = _written(file, total, numbers.astype("<i8").tobytes())
        total = _written(file, total, np.ascontiguousarray(coded.codes).data.cast("B"))
    file.seek(len(MAGIC))
    file.write(_SUM.pack(total))


def _written(file: BinaryIO, total: int, part: bytes | memoryview) -> int:
    file.write(part)
    return zlib.crc32(part, total)


def head_of(path: Path) -> Head:
    """Return what a snapshot says of itself; SnapshotError if it has another format, OSError if it cannot be read."""
    with path.open("rb") as file:
        return _Reading(file).head


def read(path: Path, dim: int, block_rows: int) -> Iterator[tuple[Coded, Int64]]:
    """Yield the blocks of a snapshot and the owners of their rows. Not before the end is it known to be whole.

    What is damaged is a SnapshotError, what is not there or may not be read an OSError.
    """
    with path.open("rb") as file:
        reading = _Reading(file)
        full = True
        while opening := reading.bytes(_BLOCK.size, at_end=True):
            rows, largest, error, length = _BLOCK.unpack(opening)
            if not full or not 0 < rows <= block_rows:
                raise SnapshotError(f"{path} has a block of {rows} rows where none can be")
            full = rows == block_rows
            ids, owners = (np.frombuffer(reading.bytes(8 * rows), dtype="<i8").astype(np.int64) for _ in range(2))
            codes = np.frombuffer(reading.bytes(rows * dim), dtype=np.uint8).reshape(rows, dim)
            yield Coded(ids, codes, largest, error, length), owners
        if reading.total != reading.expected:
            raise SnapshotError(f"{path} does not have the sum that it says")


class _Reading:
    """A snapshot that is being read, with the sum of what was read so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        opening = file.read(len(MAGIC) + _SUM.size)
        if len(opening) < len(MAGIC) + _SUM.size or not opening.startswith(MAGIC):
            raise SnapshotError(f"{file.name} is no snapshot of this format")
        self.expected: int = _SUM.unpack(opening[len(MAGIC) :])[0]
        self.total = 0
        length = _SUM.unpack(self.bytes(_SUM.size))[0]
        if length > LONGEST_HEAD:
            raise SnapshotError(f"{file.name} says that its head has {length} bytes")
        encoded = self.bytes(length)
        try:
            self.head: Head = json.loads(encoded)
            complete = Head.__required_keys__ <= self.head.keys()
        except (ValueError, AttributeError):
            complete = False
        if not complete:
            raise SnapshotError(f"{file.name} has no head that can be read")

    def bytes(self, count: int, *, at_end: bool = False) -> bytes:
        """Return the next bytes, all of them; none at the end of the file where that is expected."""
        part = self._file.read(count)
        if len(part) != count and (part or not at_end):
            raise SnapshotError(f"{self._file.name} ends too early")
        self.total = zlib.crc32(part, self.total)
        return part

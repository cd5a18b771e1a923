"""Blocks of rows: 8-bit codes in a FAISS index that is scanned for candidates, and the exact vectors in numpy.

A block that comes from a snapshot has its codes only; its vectors come as they are needed.
"""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import faiss
import numpy as np
import numpy.typing as npt

from reasoningbank.vectors.base import Float32, Int64

Number = TypeVar("Number", np.float32, np.int64, np.bool_)
Mask = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

STEPS = 127  # codes go from -127 to 127
CACHED_ROWS = 512  # coded at once: what is made on the way fits into a core's cache
SMALL = 4_096  # rows up to which a block grows by doubling
ROUNDING = 1e-6  # what 32-bit sums may add to an error that is computed exactly


@contextmanager
def one_thread() -> Iterator[None]:
    """Run FAISS on the calling thread only, and leave the caller's own setting as it was.

    More threads are slower for one query, and a child forked after FAISS has started some waits for them for ever. The
    setting belongs to a thread, not to the process, so that it has to be made at each use.
    """
    before = faiss.omp_get_max_threads()
    if before == 1:
        yield
        return
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


class CodedQuery:
    """A query as it is, and as whole numbers for the scan.

    Attributes:
        row: (dim,) the query.
        codes: (1, dim) whole numbers from -127 to 127.
        scale: codes are about `row * scale`.
        error: the length of what rounding took away.
        length: the length of the rounded query.
    """

    __slots__ = ("codes", "error", "length", "row", "scale")

    def __init__(self, row: Float32) -> None:
        self.row = row
        self.scale = STEPS / (float(np.abs(row).max(initial=0.0)) or 1.0)
        self.codes = np.rint(row * np.float32(self.scale))[None, :]
        rounded = self.codes[0].astype(np.float64) / self.scale
        self.error = float(np.linalg.norm(row - rounded))
        self.length = float(np.linalg.norm(rounded))


@dataclass(frozen=True, slots=True)
class Scanned:
    """The best rows of a block by their codes.

    Attributes:
        rows: their numbers in the block, best first.
        scores: what their codes say of their inner products with the query.
        bound: how far each score can be off.
        unseen: no row that is not here can score more; minus infinity when all are here.
    """

    rows: Int64
    scores: Float32
    bound: float
    unseen: float


@dataclass(frozen=True, slots=True)
class Coded:
    """A block without its vectors.

    Attributes:
        ids: by row.
        codes: (n, dim) as FAISS keeps them.
        largest: the largest number that the codes can stand for.
        error: the length of what rounding took away, at most.
        length: of the longest vector.
    """

    ids: Int64
    codes: Bytes
    largest: float
    error: float
    length: float


class Block:
    """At most `size` vectors of `dim` numbers and their ids, in no particular order. Not safe for threads by itself."""

    def __init__(self, dim: int, size: int) -> None:
        self._size = size
        self._ids = np.empty(0, dtype=np.int64)
        self._rows = np.empty((0, dim), dtype=np.float32)
        self._here = np.empty(0, dtype=np.bool_)
        self._codes = faiss.IndexScalarQuantizer(
            dim, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
        )
        self._largest = 2.0**-8
        self._error = 0.0
        self._length = 0.0

    @classmethod
    def restored(cls, dim: int, size: int, coded: Coded) -> Block:
        """Return a block whose vectors are still to come."""
        made, count = cls(dim, size), coded.ids.size
        made._grow(count)
        made._rows = _untouched(made._ids.size, dim)
        made._ids[:count] = coded.ids
        made._here[:count] = False
        made._largest, made._error, made._length = coded.largest, coded.error, coded.length
        made._resize(count)
        made._stored()[:] = coded.codes
        return made

    def coded(self) -> Coded:
        """Return a copy of all but the vectors."""
        return Coded(self.ids.copy(), self._stored().copy(), self._largest, self._error, self._length)

    def __len__(self) -> int:
        return int(self._codes.ntotal)

    @property
    def room(self) -> int:
        """How many rows still fit."""
        return self._size - len(self)

    @property
    def ids(self) -> Int64:
        """The ids by row."""
        return self._ids[: len(self)]

    def rows(self, numbers: Int64) -> Float32:
        """Return the vectors of rows that are here."""
        taken: Float32 = self._rows[numbers]
        return taken

    def here(self, numbers: Int64) -> Mask:
        """Tell of each of these rows whether its vector is here, and not only its codes."""
        told: Mask = self._here[numbers]
        return told

    def fill(self, number: int, vector: Float32) -> None:
        """Put a vector where only its codes were; beside searches, which do not look at it before it is there."""
        self._rows[number] = vector
        self._here[number] = True

    def append(self, ids: Int64, rows: Float32) -> None:
        """Add rows at the end; there must be room."""
        count = len(self)
        if count + ids.size > self._ids.size:
            self._grow(count + ids.size)
        self._widen(rows)
        self._ids[count : count + ids.size] = ids
        self._rows[count : count + ids.size] = rows
        self._here[count : count + ids.size] = True
        # FAISS's own encoding of whole numbers takes ten times as long as writing them where they go.
        self._resize(count + ids.size)
        stored = self._stored()[count:]
        for start in range(0, ids.size, CACHED_ROWS):
            part = slice(start, min(start + CACHED_ROWS, ids.size))
            stored[part] = self._bytes(self._coded(rows[part]))

    def write(self, row: int, number: int, vector: Float32) -> None:
        """Replace one row and its id."""
        self._widen(vector[None, :])
        self._ids[row] = number
        self.fill(row, vector)
        self._stored()[row] = self._bytes(self._coded(vector[None, :]))[0]

    def pop(self) -> None:
        """Take the last row off."""
        # FAISS's own removal asks every row whether it stays.
        self._resize(len(self) - 1)

    def take_over(self, row: int, other: Block, number: int) -> None:
        """Replace one row by a row of this or another block."""
        if other._here[number]:
            self.write(row, int(other._ids[number]), other._rows[number])
            return
        known = _decoded(other._stored()[number : number + 1], 1 / other._scale)
        self._widen(known)
        self._ids[row] = other._ids[number]
        self._here[row] = False
        self._stored()[row] = self._bytes(self._coded(known, other._error))[0]
        self._length = max(self._length, other._length)

    def scan(self, query: CodedQuery, count: int, mask: Mask | None) -> Scanned:
        """Return the `count` rows that are best by their codes, or all there are that the mask allows."""
        parameters = None
        available = len(self)
        if mask is not None:
            available = int(mask.sum())
            bits = np.packbits(mask, bitorder="little")
            chosen = faiss.IDSelectorBitmap(len(self), faiss.swig_ptr(bits))
            parameters = faiss.SearchParameters()
            parameters.sel = chosen
        bound = self._bound(query)
        if not available:
            return Scanned(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32), bound, -math.inf)
        products, found = self._codes.search(query.codes, min(count, available), params=parameters)
        scores = products[0] / np.float32(query.scale * self._scale)
        unseen = -math.inf if count >= available else float(scores[-1]) + bound
        return Scanned(found[0], scores, bound, unseen)

    def _grow(self, count: int) -> None:
        # Past the first few thousand, memory for the whole block is set aside at once. It is used up only as rows come,
        # and saves the holes that a growing array leaves behind.
        capacity = min(self._size, max(64, 2 * count)) if count <= SMALL else self._size
        self._ids = grown(self._ids, capacity)
        self._rows = grown(self._rows, capacity)
        self._here = grown(self._here, capacity)

    def _resize(self, count: int) -> None:
        self._codes.codes.resize(count * self._rows.shape[1])
        self._codes.ntotal = count

    def _bound(self, query: CodedQuery) -> float:
        """Return by how much a score from codes can be off at most, by Cauchy and Schwarz.

        q·x − q'·x' = (q − q')·x + q'·(x − x'), where q' and x' are what the codes stand for.
        """
        return query.error * self._length + query.length * self._error + ROUNDING

    @property
    def _scale(self) -> float:
        return STEPS / self._largest

    def _widen(self, rows: Float32) -> None:
        """Make the codes' range hold the largest number of rows that are about to come."""
        largest = max(float(rows.max(initial=0.0)), -float(rows.min(initial=0.0)))
        if largest <= self._largest:
            return
        # In steps of √2: all codes of the block are made anew, which must not happen with every other row.
        step, off = 1 / self._scale, self._error
        self._largest = 2.0 ** (math.ceil(2 * math.log2(largest)) / 2)
        self._error = 0.0
        stored = self._stored()
        for start in range(0, len(self), CACHED_ROWS):
            part = slice(start, min(start + CACHED_ROWS, len(self)))
            here = self._here[part]
            if here.all():
                stored[part] = self._bytes(self._coded(self._rows[part]))
            else:
                known = np.where(here[:, None], self._rows[part], _decoded(stored[part], step))
                stored[part] = self._bytes(self._coded(known, off))

    def _coded(self, rows: Float32, off: float = 0.0) -> Float32:
        """Return the codes of rows, at most `off` from their vectors; keep the largest error and length up to date."""
        coded = rows * np.float32(self._scale)
        np.rint(coded, out=coded)
        lost = coded * np.float32(-1 / self._scale)
        lost += rows
        self._error = max(self._error, _longest(lost) + off)
        self._length = max(self._length, _longest(rows))
        return coded

    def _bytes(self, coded: Float32) -> Bytes:
        return (coded + 128).astype(np.uint8)

    def _stored(self) -> Bytes:
        """The codes as they lie in FAISS's memory, valid until rows are added or taken off."""
        shape = (len(self), self._rows.shape[1])
        if not shape[0]:
            return np.empty(shape, dtype=np.uint8)
        stored: Bytes = faiss.rev_swig_ptr(self._codes.codes.data(), shape[0] * shape[1]).reshape(shape)
        return stored


def _decoded(codes: Bytes, step: float) -> Float32:
    return (codes.astype(np.float32) - np.float32(128)) * np.float32(step)


def _longest(rows: Float32) -> float:
    return math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)))


def _untouched(rows: int, dim: int) -> Float32:
    """Return memory that is used up as rows are written, page by page.

    numpy asks for huge pages, of which a few scattered rows take and clear nearly all.
    """
    size = max(1, 4 * rows * dim)
    if sys.platform == "win32":
        memory = mmap.mmap(-1, size)
    else:
        # Python's default is memory that a forked child writes to as well.
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, dtype=np.float32, count=rows * dim).reshape(rows, dim)


def grown(array: npt.NDArray[Number], capacity: int) -> npt.NDArray[Number]:
    """Return a longer array that begins with this one; what is behind it is for the caller to fill."""
    larger = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger

"""The contract of a vector index, and the arrays it speaks."""

from __future__ import annotations

import math
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from reasoningbank.errors import InvalidInputError

Float32: TypeAlias = npt.NDArray[np.float32]
Int64: TypeAlias = npt.NDArray[np.int64]


@runtime_checkable
class VectorIndex(Protocol):
    """Unit vectors by id, found by cosine. Safe for several threads, and in a forked child.

    Ids are 64-bit integers >= 0. An index is derived from the records, and can be made anew from them at any time.
    """

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""

    def __len__(self) -> int:
        """Return how many ids can be found."""

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Put unit rows under ids; an id that is there already is replaced, and of a repeated one the last row counts.

        Raises:
            InvalidInputError: wrong shapes, a negative id or a number that is not finite; nothing was added.
        """

    def remove(self, ids: Int64) -> None:
        """Take ids out; unknown ones are ignored. A search that starts later cannot return them."""

    def search(self, query: Float32, k: int, *, allowed: Int64 | None = None) -> tuple[Int64, Float32]:
        """Find the `k` ids whose vectors have the largest inner product with `query`.

        Args:
            query: (dim,) unit vector.
            k: how many; fewer come back when there are fewer. Zero or less gives none.
            allowed: only these ids are considered; unknown ones are ignored. None allows all.

        Returns:
            Ids and cosines, best first, in [-1, 1] up to rounding. Equal cosines are in ascending order of id.

        Raises:
            InvalidInputError: wrong shape, or a number that is not finite.
        """

    def get(self, ids: Int64) -> Float32:
        """Return the (n, dim) rows of `ids`, in their order.

        Raises:
            KeyError: an id is not there; the error names it.
        """


def unit_rows(matrix: npt.NDArray[np.floating]) -> Float32:
    """Return the rows scaled to length 1, as 32-bit floats; a row of zeros stays as it is."""
    # In 64 bits: the square of a large 32-bit float overflows, and that of a small one vanishes.
    rows = np.asarray(matrix, dtype=np.float64)
    if matrix.dtype == np.float32:
        norms = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
        return (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    # The same may happen to a 64-bit float.
    largest = np.abs(rows).max(axis=-1, keepdims=True, initial=0.0)
    rows = rows / np.where(largest > 0, largest, 1.0)
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)


def checked_rows(ids: Int64, vectors: Float32, dim: int) -> tuple[Int64, Float32]:
    """Return ids and rows fit for an index of `dim`, each id once with its last row, or raise InvalidInputError."""
    ids = np.ascontiguousarray(ids, dtype=np.int64)
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if ids.ndim != 1 or rows.shape != (ids.size, dim):
        raise InvalidInputError(
            f"an index of {dim} numbers was given {ids.shape} ids and {rows.shape} vectors: pass (n,) and (n, {dim})"
        )
    if ids.size and int(ids.min()) < 0:
        raise InvalidInputError(f"ids start at 0, and {int(ids.min())} is less")
    # A sum is finite only if every number is, and takes one pass and no memory.
    if not math.isfinite(float(rows.sum())) and not np.isfinite(rows).all():
        raise InvalidInputError("a vector holds NaN or infinity: it would never be found again; embed its text anew")
    if (ids[1:] > ids[:-1]).all():
        return ids, rows
    _, last = np.unique(ids[::-1], return_index=True)
    keep = np.sort(ids.size - 1 - last)
    return ids[keep], rows[keep]


def checked_query(query: Float32, dim: int) -> Float32:
    """Return the query as a contiguous (dim,) row, or raise InvalidInputError."""
    row = np.ascontiguousarray(query, dtype=np.float32)
    if row.shape != (dim,):
        raise InvalidInputError(f"an index of {dim} numbers was asked with {row.shape}: pass a query of shape ({dim},)")
    if not np.isfinite(row).all():
        raise InvalidInputError("the query vector holds NaN or infinity: embed the query anew")
    return row


def cosines(rows: Float32, query: Float32) -> Float32:
    """Return each row's inner product with the query.

    Every row is summed by itself and in the same order, so that equal rows score equally wherever they stand. A matrix
    product does not promise that, and ties would then break by position.
    """
    products: npt.NDArray[np.float64] = np.einsum("ij,j->i", rows.astype(np.float64), query.astype(np.float64))
    return products.astype(np.float32)


def best_first(ids: Int64, scores: Float32, k: int) -> tuple[Int64, Float32]:
    """Return the k best of scored ids, best first, equal scores in ascending order of id."""
    order = np.lexsort((ids, -scores))[: max(k, 0)]
    return ids[order], scores[order]

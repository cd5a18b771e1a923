"""The arrays that vectors come in, what is checked of them, and how they are compared."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from reasoningbank.errors import InvalidInputError

Float32: TypeAlias = npt.NDArray[np.float32]
Int64: TypeAlias = npt.NDArray[np.int64]


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

"""The guard around embedders that do not keep their contract."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reasoningbank.embed.base import Embedder
from reasoningbank.errors import EmbedderUnavailableError, EmbeddingError
from reasoningbank.screening.door import said_by
from reasoningbank.vectors.base import Float32, unit_rows

log = logging.getLogger(__name__)

ZEROS = "the embedder returned zeros for a text with words"
# Characters of a query that are embedded at once, and how many such parts of either end of a longer one.
PART, FIRST, LAST = 1_200, 3, 5
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Embedded:
    """What `embed_each` made of texts: (n, dim) unit rows in their order, and the reasons of failures, by position.

    A row is zeros where there is a failure or nothing to embed.
    """

    vectors: Float32
    failures: dict[int, str]


def embed_each(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Embed texts so that a bad one costs no other.

    A batch that fails is split until the text is found that makes it fail. A row that is not finite is a failure too,
    and so is one of zeros for a text that has words.

    Raises:
        EmbedderUnavailableError: no text at all can be embedded now (an endpoint that is down, a missing model file).
        EmbeddingError: the embedder breaks its contract: the wrong width, or not one row for each text.
    """
    batches = list(_batches(embedder, texts, 0))
    if len(batches) == 1 and not isinstance(rows := batches[0][1], str) and _is_finite(rows) and rows.any(axis=1).all():
        return Embedded(unit_rows(rows), {})
    vectors = np.zeros((len(texts), embedder.identity.dim), dtype=np.float32)
    failures: dict[int, str] = {}
    for first, rows in batches:
        if isinstance(rows, str):
            failures[first] = rows
            continue
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        failures.update({first + int(bad): "the embedder returned NaN or infinity" for bad in np.flatnonzero(~finite)})
        zeros = (first + int(n) for n in np.flatnonzero(~rows.any(axis=1)))
        failures.update({n: ZEROS for n in zeros if _WORD.search(texts[n])})
        vectors[first : first + len(rows)] = np.where(finite[:, None], rows, 0.0)
    for reason, many in Counter(failures.values()).items():
        log.warning("%d of %d texts were not embedded by %s: %s", many, len(texts), embedder.identity.name, reason)
    return Embedded(unit_rows(vectors), failures)


def query_vector(embedder: Embedder, text: str) -> Float32:
    """Return the (dim,) unit vector of a query; all zeros where there is nothing to embed.

    Of a long one it is that of the mean of its parts: a model reads a few hundred words, and the end of a conversation
    may be the task (docs/decisions/0036-long-tasks-by-their-words.md).

    Raises:
        EmbeddingError: the embedder failed, or returned something that cannot be used.
    """
    if len(text) <= PART:
        return _query_row(embedder, text)
    return unit_rows(np.sum([_query_row(embedder, part) for part in parts(text)], axis=0, dtype=np.float32))


def parts(text: str) -> list[str]:
    """Return a text in parts of up to PART characters, cut between words: of more than fit, the FIRST and the LAST."""
    found: list[str] = []
    at = 0
    while at < len(text):
        end = at + PART
        if end < len(text) and (space := text.rfind(" ", at + PART // 2, end)) > 0:
            end = space
        found.append(text[at:end])
        at = end
    found = [part for part in found if not part.isspace()]
    return found if len(found) <= FIRST + LAST else found[:FIRST] + found[-LAST:]


def _query_row(embedder: Embedder, text: str) -> Float32:
    try:
        vector = embedder.embed_query(text)
    except EmbeddingError:
        raise
    except Exception as error:
        raise EmbeddingError(f"{embedder.identity.name} could not embed the query: {_reason(error)}") from error
    row = _shaped(embedder, np.atleast_2d(vector), 1)[0]
    if not row.any() and _WORD.search(text):
        raise EmbeddingError(f"{embedder.identity.name}: {ZEROS}")
    if not np.isfinite(row).all():
        raise EmbeddingError(f"{embedder.identity.name} returned NaN or infinity for the query: say it in other words")
    return unit_rows(row)


def _is_finite(rows: Float32) -> bool:
    """Tell in one pass whether all numbers are; False also where their sum is too large to tell."""
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(float(rows.sum()))


def _batches(embedder: Embedder, texts: Sequence[str], first: int) -> Iterator[tuple[int, Float32 | str]]:
    """Yield the position of a run of texts with its rows, or of one text with the reason why it has none."""
    if not texts:
        return
    try:
        returned = embedder.embed_documents(texts)
    except EmbedderUnavailableError:
        raise
    except Exception as error:  # noqa: BLE001 - an embedder is foreign code, and one text's failure is data here
        if len(texts) == 1:
            yield first, _reason(error)
            return
        half = len(texts) // 2
        yield from _batches(embedder, texts[:half], first)
        yield from _batches(embedder, texts[half:], first + half)
    else:
        yield first, _shaped(embedder, returned, len(texts))


def _shaped(embedder: Embedder, returned: object, count: int) -> Float32:
    rows = np.asarray(returned, dtype=np.float32)
    if rows.shape != (count, embedder.identity.dim):
        raise EmbeddingError(
            f"{embedder.identity.name} says that its vectors have {embedder.identity.dim} numbers, and returned "
            f"{rows.shape} for {count} texts: give an embedder that returns ({count}, {embedder.identity.dim})"
        )
    return rows


def _reason(error: Exception) -> str:
    return said_by(error)

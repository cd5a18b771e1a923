"""What is particular to the FAISS index: 8-bit codes that cannot change an answer, and one thread."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import faiss
import numpy as np
import pytest

from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.vectors.base import Float32, unit_rows
from reasoningbank.vectors.faiss import TURN, FaissIndex
from reasoningbank.vectors.locks import ReadersWriterLock
from tests.vectors.exact import ExactIndex


def dense(count: int, dim: int = 384) -> Float32:
    return unit_rows(np.random.default_rng(0).standard_normal((count, dim)))


def crowded(count: int) -> Float32:
    """Rows so close together that their codes cannot tell them apart."""
    rng = np.random.default_rng(1)
    return unit_rows(rng.standard_normal((1, 384)) + 0.002 * rng.standard_normal((count, 384)))


def hashed(count: int) -> Float32:
    return HashEmbedder().embed_documents([f"step {number % 97} of plan {number} retries" for number in range(count)])


def mixed(count: int) -> Float32:
    """Small numbers first, then rows with one large one, which the codes of a block have to make room for."""
    rows = dense(count)
    rows[count // 2 :: 50] = np.eye(384, dtype=np.float32)[: len(rows[count // 2 :: 50])]
    return rows


@pytest.mark.parametrize("make", [dense, crowded, hashed, mixed])
@pytest.mark.parametrize("k", [1, 10, 120])
def test_codes_change_neither_order_nor_scores(make: Callable[[int], Float32], k: int) -> None:
    vectors = make(3000)
    ids = np.random.default_rng(2).permutation(3000).astype(np.int64)
    dim = vectors.shape[1]
    index, reference = FaissIndex(dim, block_rows=1000), ExactIndex(dim)
    for one in (index, reference):
        for start in range(0, 3000, 700):
            one.add(ids[start : start + 700], vectors[start : start + 700])
        one.remove(ids[::7])

    for query in vectors[:40]:
        found, scores = index.search(query, k)
        expected, expected_scores = reference.search(query, k)
        assert found.tolist() == expected.tolist()
        assert scores.tolist() == expected_scores.tolist()


def test_rows_longer_than_one_are_ranked_right_as_well() -> None:
    vectors = dense(2000) * np.random.default_rng(3).uniform(0.1, 30, (2000, 1)).astype(np.float32)
    index, reference = FaissIndex(384), ExactIndex(384)
    for one in (index, reference):
        one.add(np.arange(2000), vectors)

    for query in dense(20):
        assert index.search(query, 10)[0].tolist() == reference.search(query, 10)[0].tolist()


def test_the_callers_number_of_threads_is_left_alone() -> None:
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(2)
    try:
        index = FaissIndex(8)
        index.add(np.arange(10), dense(10, 8))
        index.search(dense(1, 8)[0], 3)
        index.remove(np.arange(5))
        assert faiss.omp_get_max_threads() == 2
    finally:
        faiss.omp_set_num_threads(before)


def test_a_search_waits_for_part_of_a_large_change_only() -> None:
    class Counted(ReadersWriterLock):
        turns = 0

        @contextmanager
        def writing(self) -> Iterator[None]:
            self.turns += 1
            with super().writing():
                yield

    index = FaissIndex(8)
    index._lock = lock = Counted()
    ids, parts = np.arange(10 * TURN), 10

    index.add(ids, dense(ids.size, 8))
    assert lock.turns == parts
    index.remove(ids)
    assert lock.turns == 2 * parts


@pytest.mark.parametrize(
    "order",
    ["import scipy.linalg, numpy, faiss", "import faiss, scipy.linalg", "import onnxruntime, faiss, scipy.linalg"],
)
def test_other_libraries_with_threads_of_their_own_are_no_trouble_in_any_order(order: str) -> None:
    pytest.importorskip("scipy")
    program = f"""
import os
{order}
import numpy as np
from reasoningbank.vectors.faiss import TURN, FaissIndex
from reasoningbank.vectors.locks import ReadersWriterLock
from reasoningbank.embed.minilm import MiniLMEmbedder
import scipy.linalg
scipy.linalg.svd(np.random.default_rng(0).standard_normal((200, 200)))
vectors = MiniLMEmbedder().embed_documents(["one", "two", "three"])
index = FaissIndex(384)
index.add(np.arange(3), vectors)
assert index.search(vectors[1], 1)[0].tolist() == [1]
assert "KMP_DUPLICATE_LIB_OK" not in os.environ
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.perf
def test_a_search_among_100_000_is_faster_than_a_flat_index_and_takes_little_more_memory() -> None:
    vectors, before = dense(100_000), resident()
    index = FaissIndex(384)
    index.add(np.arange(100_000), vectors)
    grown = resident() - before
    flat = faiss.IndexFlatIP(384)
    flat.add(vectors)
    ours, theirs = [], []
    faiss.omp_set_num_threads(1)
    for query in vectors[:50]:
        start = time.perf_counter()
        found = index.search(query, 10)[0]
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        _, expected = flat.search(query[None, :], 10)
        theirs.append(time.perf_counter() - start)
        assert found.tolist() == expected[0].tolist()

    assert np.median(ours) < 0.6 * np.median(theirs)
    assert grown < 1.5 * vectors.nbytes


def resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096

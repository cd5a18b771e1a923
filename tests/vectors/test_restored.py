"""An index that has its codes from a file, and its vectors as they are needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.vectors.base import Float32, Int64, unit_rows
from reasoningbank.vectors.faiss import FaissIndex, Fetch
from reasoningbank.vectors.snapshot import LONGEST_HEAD, MAGIC, Head, SnapshotError, head_of, read, write
from tests.vectors.exact import ExactIndex

DIM, BLOCK = 8, 16
HEAD: Head = {"token": "t", "generation": [1, "stub", "1", DIM, "none", 1], "covered": 7}


def rows(count: int, seed: int = 0, scale: float = 1.0) -> Float32:
    return unit_rows(np.random.default_rng(seed).standard_normal((count, DIM)) * [scale, *[1.0] * (DIM - 1)])


def filled(count: int, seed: int = 0) -> FaissIndex:
    index = FaissIndex(DIM, block_rows=BLOCK)
    index.add(np.arange(count), rows(count, seed))
    return index


class Table:
    """Stored vectors, and which of them were asked for."""

    def __init__(self, vectors: dict[int, Float32]) -> None:
        self.vectors, self.asked = vectors, list[int]()

    def fetch(self, numbers: list[int]) -> dict[int, Float32]:
        self.asked += numbers
        return {number: self.vectors[number] for number in numbers if number in self.vectors}


def table(count: int, seed: int = 0) -> Table:
    return Table(dict(enumerate(rows(count, seed))))


def restored(index: FaissIndex) -> FaissIndex:
    return FaissIndex.restored(DIM, index.coded(), block_rows=BLOCK)


def test_a_vector_is_fetched_once_and_only_when_it_may_be_among_the_best() -> None:
    index, stored = restored(filled(2_000)), table(2_000)
    query = rows(1, seed=9)[0]
    assert index.search(query, 3, fetch=stored.fetch)[0].tolist() == filled(2_000).search(query, 3)[0].tolist()
    assert len(stored.asked) < 500

    stored.asked.clear()
    index.search(query, 3, fetch=stored.fetch)
    assert not stored.asked


def test_what_is_not_given_is_left_out_of_a_search_and_missed_by_get() -> None:
    index, stored = restored(filled(40)), table(40)
    query = rows(1, seed=9)[0]
    best = filled(40).search(query, 5)[0].tolist()
    del stored.vectors[best[0]]

    assert index.search(query, 4, fetch=stored.fetch)[0].tolist() == best[1:]
    assert index.search(query, 4, allowed=np.array(best), fetch=stored.fetch)[0].tolist() == best[1:]
    with pytest.raises(KeyError, match=str(best[0])):
        index.get(np.array(best), stored.fetch)
    assert index.search(query, 40)[0].size < 40


Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "larger", "remove", "search", "reopen"]), st.integers(0, 60), st.integers(0, 5)),
    max_size=25,
)


@given(STEPS)
def test_whatever_was_changed_since_the_answers_are_the_exact_ones(steps: list[Step]) -> None:
    reference, stored = ExactIndex(DIM), table(40)
    reference.add(np.arange(40), rows(40))
    index = restored(filled(40))
    for kind, number, seed in steps:
        if kind == "remove":
            index.remove(np.array([number]))
            reference.remove(np.array([number]))
        elif kind in ("put", "larger"):
            # A component that is larger than all before makes the codes anew.
            row = rows(1, seed=100 * number + seed, scale=50.0 if kind == "larger" else 1.0)
            stored.vectors[number] = row[0]
            index.add(np.array([number]), row)
            reference.add(np.array([number]), row)
        elif kind == "reopen":
            index = restored(index)
        query = rows(1, seed=seed + 1_000)[0]
        ids, cosines = index.search(query, 7, fetch=stored.fetch)
        expected, exact = reference.search(query, 7)
        assert (ids.tolist(), cosines.tolist()) == (expected.tolist(), exact.tolist())


# -- the file ------------------------------------------------------------------------------------------------------


def saved(path: Path, count: int = 40) -> Path:
    with path.open("xb") as file:
        write(file, HEAD, ((coded, coded.ids + 1_000) for coded in filled(count).coded()))
    return path


def blocks(path: Path) -> list[tuple[Int64, Int64]]:
    return [(coded.ids, owners) for coded, owners in read(path, DIM, BLOCK)]


def test_a_snapshot_gives_back_what_was_written(tmp_path: Path) -> None:
    path = saved(tmp_path / "index")
    assert head_of(path) == HEAD
    index = FaissIndex.restored(DIM, (coded for coded, _ in read(path, DIM, BLOCK)), block_rows=BLOCK)
    for given_back, coded in zip(index.coded(), filled(40).coded(), strict=True):
        assert given_back.codes.tolist() == coded.codes.tolist()
        assert (given_back.largest, given_back.error, given_back.length) == (coded.largest, coded.error, coded.length)
    assert [len(ids) for ids, _ in blocks(path)] == [16, 16, 8]
    assert all((ids + 1_000 == owners).all() for ids, owners in blocks(path))
    assert path.stat().st_size < 40 * (DIM + 16) + 350


def test_an_empty_index_has_a_snapshot_without_blocks(tmp_path: Path) -> None:
    assert blocks(saved(tmp_path / "index", 0)) == []


def test_one_that_was_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = saved(tmp_path / "index").read_bytes()
    cut = tmp_path / "cut"
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        with pytest.raises(SnapshotError):
            blocks(cut)


def test_one_with_a_single_bit_turned_anywhere_is_refused(tmp_path: Path) -> None:
    whole = saved(tmp_path / "index").read_bytes()
    turned = tmp_path / "turned"
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        turned.write_bytes(damaged)
        with pytest.raises(SnapshotError):
            blocks(turned)


def test_one_that_goes_on_after_its_end_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "index")
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(SnapshotError, match="too early"):
        blocks(path)


def test_a_head_that_says_it_is_endless_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_bytes(MAGIC + bytes(4) + (LONGEST_HEAD + 1).to_bytes(4, "little"))
    with pytest.raises(SnapshotError, match="says that its head"):
        head_of(path)


@pytest.mark.parametrize("said", [b"{}", b"[1]", b"{", b"\xff"])
def test_a_head_that_says_too_little_is_refused(tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "index"
    path.write_bytes(MAGIC + bytes(4) + len(said).to_bytes(4, "little") + said)
    with pytest.raises(SnapshotError, match="no head that can be read"):
        head_of(path)


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_bytes(b"RBINDEX\x02" + bytes(100))
    with pytest.raises(SnapshotError, match="no snapshot of this format"):
        head_of(path)


def test_blocks_of_another_size_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "index")
    with pytest.raises(SnapshotError, match="rows where none can be"):
        list(read(path, DIM, BLOCK + 1))


def fetch_nothing(numbers: list[int]) -> dict[int, Float32]:
    return {}


def test_a_removed_row_may_be_one_whose_vector_never_came() -> None:
    index = restored(filled(BLOCK + 1))
    index.remove(np.array([0]))
    fetch: Fetch = fetch_nothing
    assert len(index) == BLOCK
    assert not index.search(rows(1)[0], 3, fetch=fetch)[0].size

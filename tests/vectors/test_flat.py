"""The index of a small bank gives what the coded one gives."""

from __future__ import annotations

import numpy as np
import pytest

from reasoningbank.vectors.base import unit_rows
from reasoningbank.vectors.faiss import FaissIndex
from reasoningbank.vectors.flat import FlatIndex


@pytest.mark.parametrize("index", [FlatIndex(8), FaissIndex(8)], ids=["flat", "coded"])
def test_only_those_that_are_near_enough_are_given_where_that_is_asked(index: FlatIndex | FaissIndex) -> None:
    rows = unit_rows(np.random.default_rng(0).standard_normal((420, 8)))
    index.add(np.arange(400), rows[:400])
    for query in rows[400:]:
        for k in (3, 400):
            every, cosines = index.search(query, k)
            near, those = index.search(query, k, least=0.6)
            assert near.tolist() == every[cosines >= np.float32(0.6)].tolist()
            assert those.tolist() == cosines[: len(near)].tolist()

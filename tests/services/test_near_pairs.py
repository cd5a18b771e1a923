"""Which rows are near to each other, a block at a time."""

from __future__ import annotations

import numpy as np
import pytest

from reasoningbank.services import links
from reasoningbank.vectors.base import unit_rows


@pytest.mark.parametrize("block", [1, 7, 20, 16_000_000])
def test_every_pair_above_the_limit_is_found_once_however_small_the_blocks_are(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = unit_rows(np.random.default_rng(3).standard_normal((7, 3)).astype(np.float32))
    monkeypatch.setattr(links, "BLOCK", block)

    found = {(i, j): cosine for i, j, cosine in links.near_pairs(rows, 0.2)}

    expected = {(i, j): float(rows[i] @ rows[j]) for i in range(7) for j in range(i + 1, 7) if rows[i] @ rows[j] > 0.2}
    assert found == pytest.approx(expected)
    assert list(links.near_pairs(rows[:0])) == []

"""Which runs lessons are withheld from."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.errors import InvalidInputError
from reasoningbank.search.holdout import SUSPECTED, Holdout, as_holdout, chances, draw, withheld

KEY = bytes(range(16))
RATES = st.floats(0.01, 0.99)
IDS = st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=6).map(sorted)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (None, None),
        (0, None),
        (0.0, None),
        ("0", None),
        (0.1, Holdout(0.1)),
        ("0.25", Holdout(0.25)),
        ("memory", Holdout(0.5, "memory")),
        ("memory:0.2", Holdout(0.2, "memory")),
        ("memory:0", None),
    ],
)
def test_a_holdout_is_a_share_of_runs_or_of_single_lessons(said: Any, meant: Holdout | None) -> None:
    assert as_holdout(said) == meant


@pytest.mark.parametrize("said", [1, -0.1, 1.5, math.nan, True, "run", "memory:", "memory:x", "memory:2", "", [0.1]])
def test_anything_else_is_refused_and_told_how(said: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"holdout .* is not allowed: give the share"):
        as_holdout(said)


@given(st.text(), st.text())
def test_a_draw_depends_on_nothing_but_key_and_names(one: str, other: str) -> None:
    assert draw(KEY, one, other) == draw(KEY, one, other)
    assert 0.0 <= draw(KEY, one, other) < 1.0
    assert draw(KEY, one + other) != draw(KEY, one, other)


def test_draws_are_spread_evenly_and_another_key_draws_others() -> None:
    drawn = [draw(KEY, "run", f"r{n}") for n in range(4000)]

    assert [sum(low <= d < low + 0.25 for d in drawn) for low in (0.0, 0.25, 0.5, 0.75)] == pytest.approx(
        [1000] * 4, abs=100
    )
    assert drawn[:100] != [draw(KEY[::-1], "run", f"r{n}") for n in range(100)]


@given(RATES, RATES, IDS, st.text())
def test_a_larger_share_holds_out_the_same_runs_and_more(one: float, other: float, ids: list[str], unit: str) -> None:
    few, many = (withheld(Holdout(r), KEY, unit, dict.fromkeys(ids, r)) for r in sorted((one, other)))

    assert few <= many
    assert few in (frozenset(), frozenset(ids))


@given(RATES, IDS, st.text())
def test_of_single_lessons_one_is_withheld_or_none(rate: float, ids: list[str], unit: str) -> None:
    holdout = Holdout(rate, "memory")
    share = dict(zip(ids, chances(holdout, range(len(ids)), {}), strict=True))
    out = withheld(holdout, KEY, unit, share)

    assert len(out) == (draw(KEY, "run", unit) < rate)
    assert out <= set(ids)
    assert out == withheld(holdout, KEY, unit, dict(reversed(share.items())))


@given(RATES, st.lists(st.integers(0, 9), unique=True, min_size=1), st.sets(st.integers(0, 9)))
def test_the_chances_of_single_lessons_add_up_to_the_rate(rate: float, lessons: list[int], harm: set[int]) -> None:
    found = chances(Holdout(rate, "memory"), lessons, dict.fromkeys(harm, 0.1))
    suspected = [share for n, share in zip(lessons, found, strict=True) if n in harm]
    others = [share for n, share in zip(lessons, found, strict=True) if n not in harm]

    assert math.fsum(found) == pytest.approx(rate)
    assert all(s == pytest.approx(SUSPECTED * o) for s in suspected for o in others)
    assert chances(Holdout(rate), lessons, {}) == (rate,) * len(lessons)


def test_each_lesson_is_withheld_as_often_as_is_said() -> None:
    holdout = Holdout(0.5, "memory")
    share = dict(zip("abc", chances(holdout, [1, 2, 3], {2: 0.1}), strict=True))
    outs = [withheld(holdout, KEY, f"r{n}", share) for n in range(4000)]

    for id_, chance in share.items():
        assert sum(id_ in out for out in outs) / len(outs) == pytest.approx(chance, abs=0.02)


def test_where_nothing_may_be_withheld_nothing_is() -> None:
    assert all(not withheld(Holdout(0.9), KEY, f"r{n}", {}) for n in range(20))

"""Blocks and the hybrid clock, as values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.replication import Block, OriginStatus, Taken, Terms, is_clock, milliseconds, ticked, written

AT = 1_700_000_000_000


def test_the_clock_follows_the_machine_and_never_goes_back() -> None:
    assert ticked("", AT) == "1700000000000.000000"
    assert ticked("1700000000000.000000", AT) == "1700000000000.000001"
    assert ticked("1700000000000.000007", AT - 600_000) == "1700000000000.000008"
    assert ticked("1700000000000.999999", AT) == "1700000000001.000000"
    assert milliseconds(ticked("", AT)) == AT


@given(st.lists(st.integers(0, 10**12), min_size=2, max_size=20))
def test_its_texts_sort_as_its_times_do(times: list[int]) -> None:
    clock, seen = "", list[str]()
    for now in times:
        clock = ticked(clock, now)
        seen.append(clock)

    assert seen == sorted(set(seen))
    assert all(map(is_clock, seen))


def test_what_is_no_time_of_the_clock_is_none() -> None:
    assert is_clock(written(0, 0))
    for wrong in (None, 7, "", "1700000000000", "170000000000a.000000", "1700000000000-000000", "1700000000000.00000٣"):
        assert not is_clock(wrong)


def test_what_is_signed_of_a_block_is_all_of_it() -> None:
    block = Block("a" * 64, 1, 2, b"body", b"signature")
    others = [
        block._replace(origin="b" * 64),
        block._replace(first=2),
        block._replace(last=3),
        block._replace(body=b""),
    ]

    assert len(block.signed) == 32
    assert block.signed not in {other.signed for other in others}
    assert block._replace(signature=b"").signed == block.signed
    assert (Terms("lima").trusted, Taken().known, OriginStatus("a", "b", 1).spent) == (False, False, {})

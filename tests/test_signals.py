from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.signals import (
    BadLineError,
    Signal,
    SignalKind,
    as_utc,
    day_number,
    from_line,
    parse_time,
    time_text,
    to_line,
)

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
# What clean_text lets through: anything that can be written as UTF-8.
STORABLE = st.text(st.characters(exclude_categories=["Cs"]))
TIMES = st.datetimes(timezones=st.just(UTC))
SIGNALS = st.builds(
    Signal,
    id=STORABLE,
    at=TIMES,
    memory=STORABLE,
    revision=st.integers(0, 2**63 - 1),
    kind=st.sampled_from(SignalKind),
    polarity=st.sampled_from([-1, 0, 1]),
    ref=STORABLE,
    strength=st.floats(0.0, 1.0, exclude_min=True),
    source=STORABLE,
    by=STORABLE,
    reason=STORABLE,
    alone=st.booleans(),
    validates=st.lists(st.sampled_from(SignalKind)).map(tuple),
)


def line(**changes: Any) -> bytes:
    """Return a good line with some of its fields changed."""
    signal = Signal("s-1", NOON, "m-1", 0, SignalKind.EXPLICIT, 1, "e-1")
    return json.dumps(json.loads(to_line(signal)) | changes).encode()


@given(SIGNALS)
def test_a_signal_comes_back_from_its_line(signal: Signal) -> None:
    written = to_line(signal)

    assert written.count(b"\n") == 1
    assert from_line(written.removesuffix(b"\n")) == signal


def test_a_byte_order_mark_and_a_carriage_return_are_tolerated() -> None:
    assert from_line(b"\xef\xbb\xbf" + line() + b"\r") == from_line(line())


def test_fields_that_may_be_left_out_have_defaults() -> None:
    required = ("v", "id", "at", "memory", "revision", "kind", "polarity", "ref")
    short = {key: value for key, value in json.loads(line()).items() if key in required}

    assert from_line(json.dumps(short).encode()) == from_line(line())


def test_a_field_of_a_later_minor_version_is_passed_over() -> None:
    assert from_line(line(weather="fine")) == from_line(line())


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"", "not JSON"),
        (b'{"memory":"m-2","kin', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1]", "not a JSON object"),
        (line(v=2), "version 2, not 1"),
        (line(v=None), "version None"),
        (line(kind="applause"), "unknown kind 'applause'"),
        (line(kind=3), "kind is not a text"),
        (line(id=None), "id is not a text"),
        (line(memory="\ud800"), "memory holds half a surrogate pair"),
        (line(at="yesterday"), "'yesterday' is not a time"),
        (line(at="0001-01-01T00:00:00+09:00"), "is not a time"),
        (line(at=12), "at is not a text"),
        (line(polarity=2), "polarity"),
        (line(polarity=True), "polarity"),
        (line(polarity="1"), "polarity"),
        (line(strength=0), "strength"),
        (line(strength=1.5), "strength"),
        (line(strength=float("nan")), "strength"),
        (line(strength=True), "strength"),
        (line(strength="1"), "strength"),
        (line(revision=1.0), "revision"),
        (line(revision=True), "revision"),
        (line(revision=2**63), "revision"),
        (line(validates="usage"), "validates"),
        (line(validates=["applause"]), "validates"),
        (line(validates=[["usage"]]), "validates"),
    ],
)
def test_a_bad_line_says_what_is_wrong_with_it(bad: bytes, why: str) -> None:
    with pytest.raises(BadLineError, match=why):
        from_line(bad)


@given(st.binary())
def test_any_bytes_are_a_signal_or_a_bad_line(noise: bytes) -> None:
    with pytest.raises(BadLineError):
        from_line(noise)


@given(TIMES, TIMES)
def test_times_sort_as_their_texts_do_and_come_back(one: datetime, other: datetime) -> None:
    assert (time_text(one) < time_text(other)) == (one < other)
    assert parse_time(time_text(one)) == one


def test_a_time_without_a_zone_is_utc() -> None:
    assert parse_time("2026-11-27T12:00:00") == NOON
    assert as_utc(NOON.replace(tzinfo=None)) == NOON


def test_a_time_of_another_zone_is_told_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))

    assert time_text(NOON.astimezone(tokyo)) == "2026-11-27T12:00:00.000000Z"
    assert as_utc(NOON.astimezone(tokyo)).tzinfo is UTC


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1970, 1, 1, 23, 59, tzinfo=UTC), 0),
        (datetime(1969, 12, 31, 23, 59, tzinfo=UTC), -1),
        (datetime(1970, 1, 2, 1, tzinfo=timezone(timedelta(hours=2))), 0),
    ],
)
def test_a_day_is_a_utc_day(at: datetime, day: int) -> None:
    assert day_number(at) == day

"""Times and spans as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from reasoningbank import InvalidInputError, moments

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
DAY = datetime(2026, 1, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "given",
    [
        "2026-01-15",
        " 2026-01-15T00:00:00Z ",
        "2026-01-15T01:00+01:00",
        date(2026, 1, 15),
        datetime(2026, 1, 15),  # noqa: DTZ001 - naive on purpose
        datetime(2026, 1, 15, 2, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_a_time_is_read_in_utc(given: Any) -> None:
    assert moments.moment("at", given) == DAY
    assert moments.moment("at", given).tzinfo is UTC
    assert moments.maybe("at", given) == DAY
    assert moments.maybe("at", None) is None


@pytest.mark.parametrize("given", ["tomorrow", "2026-13-01", 5, None, "", "0001-01-01T00:00+05:00"])
def test_what_is_no_time_is_refused_with_its_name(given: Any) -> None:
    with pytest.raises(InvalidInputError, match="is no time"):
        moments.moment("expires_at", given)


@pytest.mark.parametrize(
    ("given", "span"),
    [
        ("7d", timedelta(days=7)),
        ("1.5 H", timedelta(minutes=90)),
        ("90m", timedelta(minutes=90)),
        ("2w", timedelta(days=14)),
        ("30s", timedelta(seconds=30)),
        (60, timedelta(minutes=1)),
        (0.5, timedelta(milliseconds=500)),
        (timedelta(days=1), timedelta(days=1)),
    ],
)
def test_a_span_is_read_in_its_unit(given: Any, span: timedelta) -> None:
    assert moments.span("ttl", given) == span
    assert moments.after(NOW, "ttl", given) == moments.expiry(None, given, NOW) == NOW + span


@pytest.mark.parametrize(
    "given", ["", "7", "d", "-7d", "0d", 0, -1, True, None, float("nan"), float("inf"), "999999999w"]
)
def test_what_is_no_span_is_refused_with_its_name(given: Any) -> None:
    with pytest.raises(InvalidInputError, match="is no span of time"):
        moments.span("ttl", given)


def test_a_span_that_leads_behind_all_times_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="behind the year 9999"):
        moments.after(NOW, "ttl", timedelta.max)


def test_a_time_and_a_span_are_not_both_given() -> None:
    assert moments.expiry("2026-01-15", None, NOW) == "2026-01-15"
    with pytest.raises(InvalidInputError, match="give one of them"):
        moments.expiry("2026-01-15", "7d", NOW)


def test_since_and_until_take_times_and_how_long_ago() -> None:
    assert moments.since("7d", NOW) == moments.since(timedelta(days=7), NOW) == NOW - timedelta(days=7)
    assert moments.until("7d", NOW) == NOW - timedelta(days=7)
    assert moments.since("2026-01-15", NOW) == moments.since(DAY, NOW) == DAY
    assert moments.since(timedelta.max, NOW) == datetime.min.replace(tzinfo=UTC)


def test_a_day_as_until_is_whole() -> None:
    whole = DAY + timedelta(days=1)

    assert moments.until("2026-01-15", NOW) == moments.until(date(2026, 1, 15), NOW) == whole
    assert moments.until("2026-01-15T00:00:00", NOW) == moments.until(DAY, NOW) == DAY
    assert moments.until("9999-12-31", NOW) == datetime.max.replace(tzinfo=UTC)


def test_a_shifted_time_stays_between_the_first_and_the_last_there_is() -> None:
    assert moments.shifted(NOW, timedelta(days=7)) - NOW == NOW - moments.shifted(NOW, -timedelta(days=7))
    assert moments.shifted(moments.FIRST, -timedelta(days=1)) == moments.shifted(NOW, timedelta.min) == moments.FIRST
    assert moments.shifted(moments.LAST, timedelta(days=1)) == moments.shifted(NOW, timedelta.max) == moments.LAST

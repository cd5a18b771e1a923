from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from reasoningbank.runs.readers.values import as_time, unpacked

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECONDS = int(NOON.timestamp())


@pytest.mark.parametrize(
    "value",
    [
        NOON,
        "2026-01-01T12:00:00Z",
        "2026-01-01T12:00:00.000+00:00",
        "2026-01-01T14:00:00+02:00",
        SECONDS,
        float(SECONDS),
        SECONDS * 1_000,
        SECONDS * 10**6,
        SECONDS * 10**9,
        str(SECONDS * 1_000),
        NOON.astimezone(timezone(timedelta(hours=5))),
    ],
)
def test_a_time_is_read_in_the_common_ways_to_write_one(value: Any) -> None:
    assert as_time(value) == NOON


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "yesterday",
        "2026-01-01T12:00:00",
        NOON.replace(tzinfo=None),
        True,
        3,
        -1,
        float("nan"),
        10**30,
        "9999-01-01T00:00:00Z",
        [],
    ],
)
def test_what_is_no_time_or_has_no_zone_is_none(value: Any) -> None:
    assert as_time(value) is None


@pytest.mark.parametrize(("text", "value"), [('{"a": 1}', {"a": 1}), (" [1]", [1]), ("[1", "[1"), ("a", "a"), (3, 3)])
def test_json_in_a_text_is_taken_out(text: Any, value: Any) -> None:
    assert unpacked(text) == value

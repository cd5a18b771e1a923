"""Values of foreign records: their fields under whatever name, their times, the JSON inside their texts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

# Nothing that records runs is older or younger than this; a number outside is no time.
FIRST, LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
# Seconds, milliseconds, microseconds or nanoseconds since 1970, told by how large the number is.
TIME_SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0.0, 1.0))
TIMES = ("at", "timestamp", "created_at", "createdAt", "create_time", "time", "ts", "date")


def get(source: Any, *names: str) -> Any:
    """Return the first of the keys or attributes that is there and says something; None if none does."""
    for name in names:
        value = source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
        if value is None or value == "" or (callable(value) and not isinstance(value, str)):
            continue
        return value
    return None


def label(value: Any) -> str:
    """Return a name as it is compared: "toolUse", "tool-use", "TOOL_USE" and an enum's member are one."""
    return re.sub(r"[-_.\s]+", "", str(getattr(value, "value", value))).lower()


def is_list(value: Any) -> bool:
    """Tell whether a value is a list or another sequence, and no text."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def is_record(value: Any) -> bool:
    """Tell whether a value has named fields: a mapping, or an object that is no plain value."""
    return isinstance(value, Mapping) or not (
        value is None or is_list(value) or isinstance(value, (str, bytes, bytearray, int, float, set, frozenset))
    )


def unpacked(value: Any) -> Any:
    """Return what the JSON in a text says, if the text is a JSON object or list; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def as_time(value: Any) -> datetime | None:
    """Return an aware time from a datetime, an ISO text or a number since 1970; None from anything else.

    A time without a zone is none: it would be off by up to a day.
    """
    if isinstance(value, str):
        value = float(value) if re.fullmatch(r"\d{9,19}(\.\d{1,9})?", value) else _from_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        scale = next((scale for least, scale in TIME_SCALES if value >= least), 0.0)
        seconds = value / scale if scale else -1.0
        value = datetime.fromtimestamp(seconds, UTC) if 0 <= seconds < LAST.timestamp() else None
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    return value if FIRST <= value <= LAST else None


def _from_text(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None

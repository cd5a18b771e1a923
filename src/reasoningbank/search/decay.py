"""Fading: what has not been used for long ranks lower. What is believed of it stays: idle is not wrong."""

from __future__ import annotations

import math
from datetime import datetime, timedelta


def freshness(last_used: datetime, now: datetime, half_life: timedelta) -> float:
    """Return 1.0 for a memory used now, 0.5 after one half-life, never above 1.

    Args:
        half_life: above zero.
    """
    return min(1.0, math.exp2(-((now - last_used) / half_life)))

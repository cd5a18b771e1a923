"""How true confidences are: reliability, its figures over time, and what was learned of the evidence."""

from __future__ import annotations

from typing import Any, Final

from reasoningbank.dashboard import diagrams
from reasoningbank.dashboard.pages.overview import PARTS, WINDOWS
from reasoningbank.dashboard.site import Asked, Page
from reasoningbank.upkeep import Calibration, Period

NAMES: Final = {
    "votes": "What people said of a lesson",
    "runs": "How runs with lessons ended",
}


def shown(asked: Asked) -> Page:
    """Show how true the bank's predictions were."""
    days = int(asked.number("days") or 90)
    days = days if days in WINDOWS else 90
    metrics = asked.bank.upkeep.metrics(days, PARTS)
    values = {
        "title": "Calibration",
        "days": days,
        "windows": WINDOWS,
        "metrics": metrics,
        "measured": [_measured(name, getattr(metrics, name), metrics.trend) for name in NAMES],
        "weights": diagrams.weights(metrics.weights),
    }
    return Page("calibration.html", values)


def _measured(name: str, found: Calibration, trend: tuple[Period, ...]) -> dict[str, Any]:
    over_time = [(period.until, getattr(period, name)) for period in trend]
    rows = [(until, {"ECE": calibration.ece, "Brier": calibration.brier}) for until, calibration in over_time]
    return {
        "name": name,
        "title": NAMES[name],
        "found": found,
        "diagram": diagrams.reliability(found),
        "lines": diagrams.lines(rows),
    }

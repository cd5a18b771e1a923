"""The list of lessons: filtered, sorted, and paged by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reasoningbank.dashboard.site import Asked, Page

PER_PAGE: Final = 50
CLASSES: Final = {
    "": "In service",
    "proven": "Proven",
    "provisional": "Provisional",
    "rejected": "Rejected",
    "quarantined": "Quarantined",
    "archived": "Archived",
    "expired": "Expired",
    "all": "All there are",
}
SORTS: Final = {
    "": "Newest first",
    "recorded": "Oldest first",
    "most_believed": "Most believed",
    "least_believed": "Least believed",
    "most_used": "Most used",
    "least_used": "Least used",
}
AGES: Final = {"": "Any time", "1d": "Last day", "7d": "Last 7 days", "30d": "Last 30 days", "90d": "Last 90 days"}
USES: Final = {"": "Used or not", "yes": "Used", "no": "Never used"}
OUTCOMES: Final = {"": "Any outcome", "success": "Success", "failure": "Failure"}
FILTERS: Final = ("class", "outcome", "used", "since", "source", "tag", "text", "least", "most")


def listed(asked: Asked) -> Page:
    """Show a page of lessons."""
    bank, query = asked.bank, asked.query
    filters, kept = wanted(asked), {name: query[name] for name in (*FILTERS, "sort") if query.get(name)}
    page = bank.list(**filters, **order(query.get("sort", "")), after=query.get("after") or None, limit=PER_PAGE)
    values = {
        "title": "Lessons",
        "page": page,
        "count": bank.count(**filters),
        "kept": kept,
        "is_filtered": any(name in kept for name in FILTERS),
        "is_first": not query.get("after"),
        "query": query,
        "empty": not page.memories and not bank.count(state=None, expired=None),
        "choices": {"class": CLASSES, "outcome": OUTCOMES, "used": USES, "since": AGES, "sort": SORTS},
    }
    return Page("lessons.html", values)


def wanted(asked: Asked) -> dict[str, Any]:
    """Return the filters of a list of lessons, as `bank.list` and `bank.count` take them."""
    query = asked.query
    filters: dict[str, Any] = {
        **of_class(query.get("class", "")),
        "outcome": query.get("outcome") or None,
        "since": query.get("since") or None,
        "source": query.get("source") or None,
        "tags": [query["tag"]] if query.get("tag") else None,
        "text": query.get("text") or None,
        "used": {"yes": True, "no": False}.get(query.get("used", "")),
        "min_confidence": asked.number("least"),
        "max_confidence": asked.number("most"),
    }
    return {name: value for name, value in filters.items() if value is not None or name in ("state", "expired")}


def of_class(named: str) -> dict[str, Any]:
    """Return the filters that give the lessons of a class."""
    known: Mapping[str, dict[str, Any]] = {
        "quarantined": {"state": "quarantined", "expired": None},
        "archived": {"state": "archived", "expired": None},
        "expired": {"expired": True},
        "all": {"state": None, "expired": None},
    }
    return known.get(named, {"standing": named} if named else {})


def order(named: str) -> dict[str, Any]:
    """Return how a list is sorted, as `bank.list` takes it."""
    return {"newest_first": True} if named == "" else {} if named == "recorded" else {"sort": named}

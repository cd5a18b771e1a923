"""The review queue: one lesson at a time, for the keyboard."""

from __future__ import annotations

from typing import Final

from reasoningbank.dashboard import marks
from reasoningbank.dashboard.addresses import address
from reasoningbank.dashboard.pages.lesson import TEXTS
from reasoningbank.dashboard.pages.lessons import of_class
from reasoningbank.dashboard.site import Asked, Page

QUEUES: Final = ("quarantined", "provisional")


def queue(asked: Asked) -> Page:
    """Show the lesson that is next to be looked at."""
    bank, after = asked.bank, asked.query.get("after") or None
    waiting = {name: bank.count(**of_class(name)) for name in QUEUES}
    chosen = asked.query.get("queue", "")
    if chosen not in QUEUES:
        chosen = next((name for name in QUEUES if waiting[name]), QUEUES[0])
    at_end = asked.query.get("end") == "1"
    page = None if at_end else bank.list(**of_class(chosen), after=after, limit=1)
    memory = page.memories[0] if page and page.memories else None
    found = marks.read_findings(memory.findings) if memory else []
    # What is decided leaves the queue; the place behind it stays the same, also when it does not.
    following = address(
        asked.project, "review", queue=chosen, after=page.next if page else None, end=None if page and page.next else 1
    )
    values = {
        "title": "Review",
        "queue": chosen,
        "waiting": waiting,
        "memory": memory,
        "standing": page.standings.get(memory.id, "") if page and memory else "",
        "texts": [(label, marks.marked(name, text, found)) for name, label in TEXTS if (text := getattr(memory, name))]
        if memory
        else [],
        "findings": found,
        "following": following,
        "here": address(asked.project, "review", queue=chosen, after=after),
        "is_started": bool(after) or at_end,
    }
    return Page("review.html", values)

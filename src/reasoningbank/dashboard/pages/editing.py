"""Changing what a lesson says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reasoningbank.dashboard.addresses import address
from reasoningbank.dashboard.pages.lesson import BY
from reasoningbank.dashboard.site import Answer, Asked, Moved, Notice, Page, Undo
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import SAID, Memory

FIELDS: Final = ("title", "description", "applies_when", "content", "tags", "outcome")


def form(asked: Asked) -> Page:
    """Show what a lesson says, to be changed."""
    memory = asked.bank.get(asked.parts["memory"])
    return _form(asked, memory, _said(memory))


def save(asked: Asked) -> Answer:
    """Change a lesson as the form says; where it cannot be, show the form again with what was written."""
    bank, given = asked.bank, asked.form
    memory = bank.get(asked.parts["memory"])
    # Line ends as people's banks have them, not as forms send them.
    written = {name: given.get(name, "").replace("\r\n", "\n") for name in FIELDS}
    if given.get("version") != _version(memory):
        problem = "somebody changed this lesson meanwhile: what it says now is below, what you wrote is in the form"
        return _form(asked, memory, written, problem, 409)
    before = _said(memory)
    changes: dict[str, Any] = {name: written[name] for name in FIELDS if written[name] != before[name]}
    here = address(asked.project, "lessons", memory.id)
    if not changes:
        return Moved(here, Notice("Nothing was changed."))
    if "tags" in changes:
        changes["tags"] = _tags(changes["tags"])
    try:
        bank.update(memory.id, reason=given.get("reason") or None, by=BY, **changes)
    except InvalidInputError as error:
        return _form(asked, memory, written, str(error), 400)
    anew = any(name in SAID for name in changes)
    text = f"Changed {', '.join(name.replace('_', ' ') for name in changes)} of “{memory.title}”."
    if not anew:
        return Moved(here, Notice(text))
    newest = max(revision.number for revision in bank.revisions(memory.id))
    undo = Undo(address(asked.project, "lessons", memory.id, "restore"), {"revision": str(newest)})
    return Moved(given["back"] if given.get("back", "").startswith("/p/") else here, Notice(f"{text} {ANEW}", undo))


ANEW: Final = "It says something else now, so its evidence starts anew."


def _said(memory: Memory) -> dict[str, str]:
    texts = {name: str(getattr(memory, name)) for name in FIELDS if name != "tags"}
    return texts | {"tags": ", ".join(memory.tags)}


def _tags(written: str) -> list[str]:
    return [tag for part in written.split(",") if (tag := part.strip())]


def _version(memory: Memory) -> str:
    return f"{memory.revision}-{memory.updated_at.isoformat()}"


def _form(asked: Asked, memory: Memory, written: Mapping[str, str], problem: str = "", status: int = 200) -> Page:
    values = {
        "title": f"Edit: {memory.title}",
        "memory": memory,
        "written": written,
        "version": _version(memory),
        "problem": problem,
        "said": _said(memory) if status == 409 else None,
        "back": asked.form.get("back") or asked.query.get("back", ""),
        "here": address(asked.project, "lessons", memory.id),
    }
    return Page("edit.html", values, status)

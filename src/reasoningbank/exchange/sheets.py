"""Lessons as a page that agents read: a rule list, a skill, a playbook; and how such a page is kept up to date.

What we wrote stands between two marks. A later export replaces what is between them and leaves the rest of the file
alone; an import leaves it out, for it came from a bank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

BEGIN = "<!-- reasoningbank:begin (written by `reasoningbank export`; changes in here are lost) -->"
END = "<!-- reasoningbank:end -->"
OPENING = "<!-- reasoningbank:begin"
MARK = re.compile(r"<!--\s*reasoningbank:(begin|end)", re.IGNORECASE)

Record = Mapping[str, Any]


def without_block(text: str) -> str:
    """Return a page without what was exported into it."""
    return "".join(_around(text))


def with_block(text: str, block: str) -> str:
    """Return a page with `block` in the place of what was exported before, at its end when there is none."""
    marked = f"{BEGIN}\n{block.strip()}\n{END}\n"
    before, *after = _around(text)
    if after:
        return f"{before}{marked}{''.join(after)}"
    return f"{text.rstrip()}\n\n{marked}" if text.strip() else marked


def _around(text: str) -> list[str]:
    """Return what stands before, between and behind the blocks of a page; a block without its end is none."""
    parts, at = [], 0
    while (start := text.find(OPENING, at)) >= 0 and (end := text.find(END, start)) >= 0:
        parts.append(text[at:start])
        at = end + len(END)
        at += text.startswith("\n", at)
    return [*parts, text[at:]]


def rules(records: Sequence[Record]) -> str:
    """Return lessons as the rules of an AGENTS.md: what to do, and what to avoid."""
    return _parts(records, "## Lessons from earlier runs\n", "## Guard-rails from earlier failures\n", _rule)


def playbook(records: Sequence[Record]) -> str:
    """Return lessons as the bullets of an ACE playbook; the counts are the bank's evidence for and against each."""
    return _parts(records, "## STRATEGIES & INSIGHTS", "## COMMON MISTAKES TO AVOID", _bullet)


def _parts(records: Sequence[Record], good: str, bad: str, write: Callable[[Record], str]) -> str:
    parts = []
    for heading, outcome in ((good, "success"), (bad, "failure")):
        lines = [write(record) for record in records if record["outcome"] == outcome]
        if lines:
            parts.append("\n".join([heading, *lines]))
    return "\n\n".join(parts)


def _rule(record: Record) -> str:
    when = record.get("applies_when") or record.get("description")
    applies = f" (when: {_line(when)})" if when else ""
    return f"- {_said(record, '**')}{applies}"


def _bullet(record: Record) -> str:
    votes = [tally for tally in record["evidence"] if tally["kind"] in ("explicit", "outcome")]
    helpful, harmful = (round(sum(vote[side] for vote in votes)) for side in ("positive", "negative"))
    return f"[{record['id']}] helpful={helpful} harmful={harmful} :: {_said(record)}"


def _said(record: Record, strong: str = "") -> str:
    """Return a lesson in one line; a title that the text begins with is not said twice."""
    title, content = _line(record["title"]), _line(record["content"])
    return content if content.startswith(title.removesuffix("…")) else f"{strong}{title}{strong}: {content}"


def skill(records: Sequence[Record]) -> str:
    """Return lessons as the body of a skill."""
    return f"# Lessons learned\n\n{rules(records)}"


def skill_front(name: str) -> str:
    """Return the front matter of a new skill."""
    about = "What earlier runs of this project taught. Read it before a task and after an error."
    return f"---\nname: {name}\ndescription: {about}\n---\n"


def _line(text: str) -> str:
    # A lesson that names our marks would end the block.
    return MARK.sub(r"reasoningbank \1", " ".join(text.split()))


SHEETS: dict[str, Callable[[Sequence[Record]], str]] = {"agents-md": rules, "ace": playbook, "skill": skill}

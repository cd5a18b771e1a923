"""Search, as the agent would see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reasoningbank import Hit, SearchResult, prompt_block
from reasoningbank.dashboard.site import Asked, Page
from reasoningbank.prompt import LessonBlock

LIMIT: Final = 10
HANDED_OUT: Final = 3
TOKENS: Final = 500
POLICIES: Final = ("relevance", "cautious", "similarity", "four_factor", "weighted", "mmr")


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a score, as a piece of a bar: where it begins and how wide it is, of 300; and its number from 0."""

    name: str
    value: float
    begin: float
    width: float
    number: int


def found(asked: Asked) -> Page:
    """Show what a search finds for a task, why, and the block that a model would get."""
    query, policy = asked.query.get("q", "").strip(), asked.query.get("policy", "")
    policy = policy if policy in POLICIES else POLICIES[0]
    result = asked.bank.search(query, LIMIT, policy=policy) if query else None
    hits = result.hits if result else ()
    top = max((sum(max(0.0, part) for part in hit.why.values()) for hit in hits), default=0.0)
    parts = list(dict.fromkeys(name for hit in hits for name in hit.why))
    block = _block(result) if result and hits else None
    values = {
        "title": "Search",
        "q": query,
        "policy": policy,
        "policies": POLICIES,
        "result": result,
        "bars": {hit.memory.id: bars(hit, parts, top) for hit in hits},
        "parts": parts,
        "block": block,
        "tokens": TOKENS,
    }
    return Page("search.html", values)


def _block(result: SearchResult) -> LessonBlock:
    """Return what `recall` would hand out of these hits, with its own defaults."""
    given = result.hits[:HANDED_OUT]
    provisional = [hit.memory.id for hit in given if hit.provisional]
    memories = [hit.memory for hit in given]
    return prompt_block(memories, max_tokens=TOKENS, provisional=provisional, doubtful=result.weak)


def bars(hit: Hit, parts: list[str], top: float) -> list[Bar]:
    """Return the parts of a hit's score, side by side, in the scale of the highest."""
    row, begin = [], 0.0
    for name, value in hit.why.items():
        width = 300.0 * max(0.0, value) / top if top > 0 else 0.0
        row.append(Bar(name, value, round(begin, 1), round(width, 1), parts.index(name)))
        begin += width
    return row

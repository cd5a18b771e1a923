"""A change that upkeep proposes: what it would do to which memories, and why. Nothing is done by making one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Change:
    """One proposed change.

    Attributes:
        kind: "merge" (several memories become one, and are archived), "archive" (taken out of service, restorable) or
            "link" (two memories that belong together, or against each other, stay as they are).
        memories: ids of the memories it is about, the one whose text is kept first.
        reason: in words.
        similarity: the least cosine between any two of them; None where that plays no part.
        link: what kind of link; "" for other changes.
        result: id of the memory that came of it; None as long as it is only proposed.
    """

    kind: Literal["merge", "archive", "link"]
    memories: tuple[str, ...]
    reason: str
    similarity: float | None = None
    link: str = ""
    result: str | None = None

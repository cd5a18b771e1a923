"""The options of a search and of a recall, for calls that pass them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from reasoningbank.memory import Outcome


class SearchOptions(TypedDict, total=False):
    """What `search` takes beside its query and k."""

    min_confidence: float | None
    strict: bool
    outcome: Outcome | str | None
    tags: Sequence[str] | None
    where: Mapping[str, Any] | None
    policy: str


class RecallOptions(SearchOptions, total=False):
    """What `recall` takes beside its task and k."""

    ref: str | None
    thread: str | None
    max_tokens: int
    deadline: datetime | None
    expand_links: bool

"""What a recall asks of the levels above a project, where a handle has any."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder
    from reasoningbank.links import Conflict
    from reasoningbank.results import Recall, SearchResult
    from reasoningbank.services.search.recall import Fitted
    from reasoningbank.services.view import Edit, View

SPAN: Final = 1 << 48
"""From this number on a memory is not of the project, but of a level above it."""


class Above(Protocol):
    """What is looked through beside the project: its shared banks.

    Attributes:
        opposed: which of the hits that were named last speak against each other.
    """

    opposed: tuple[Conflict, ...]

    def read(self, embedder: Embedder) -> AbstractContextManager[View]:
        """Give one state of all levels."""

    def again(self, known: Recall, max_tokens: int) -> Recall:
        """Return what a run was handed before, with what came from above."""

    def named(self, found: SearchResult, numbers: Sequence[int]) -> tuple[SearchResult, tuple[int, ...]]:
        """Say of each hit which level it is from."""

    def note(self, edit: Edit, ref: str, fitted: Fitted) -> None:
        """Remember with a run what it is handed from above."""

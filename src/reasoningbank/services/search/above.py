"""What a recall asks of the levels above a project, where a handle has any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder
    from reasoningbank.links import Conflict
    from reasoningbank.results import Hit, Recall, SearchResult
    from reasoningbank.services.view import Edit, View

T = TypeVar("T")

SPAN: Final = 1 << 48
"""From this number on a memory is not of the project, but of a level above it."""


def of_level(numbers: Iterable[int], first: int) -> list[int]:
    """Return those row numbers that are of the level whose own begin at `first`, as that level knows them."""
    return [n - first for n in numbers if first <= n < first + SPAN]


class Above(Protocol):
    """What is looked through beside the project: its shared banks.

    Attributes:
        opposed: which of the hits that were named last speak against each other.
    """

    opposed: tuple[Conflict, ...]

    def read(self, embedder: Embedder | None) -> AbstractContextManager[View]:
        """Give one state of all levels; those whose vectors are another embedder's are left out, if one is given."""

    def again(self, known: Recall, max_tokens: int) -> Recall:
        """Return what a run was handed before, with what came from above."""

    def named(self, found: SearchResult, numbers: Sequence[int]) -> tuple[SearchResult, tuple[int, ...]]:
        """Say of each hit which level it is from."""

    def placed(self, hits: Sequence[Hit], numbers: Mapping[str, int]) -> tuple[Hit, ...]:
        """Say of hits that came along which level they are from."""

    def handed(self, view: View, ref: str) -> set[int]:
        """Return the row numbers, in what `read` gives, of what a run was handed from above before."""

    def told_apart(self, view: View, found: Mapping[int, T]) -> dict[int, T]:
        """Return what was found, by row number, without what a nearer level says too."""

    def note(self, edit: Edit, ref: str, handed_out: Mapping[int, Hit], step: int = 0) -> None:
        """Remember with a run what it is handed from above, by row number: at which of its failures, or before any."""

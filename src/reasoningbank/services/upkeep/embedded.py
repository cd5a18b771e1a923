"""What is embedded, memories and nodes of the graph: how a batch of either is read, embedded and stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from reasoningbank.embed.base import Embedder
from reasoningbank.embed.guarded import embed_each
from reasoningbank.memory import Memory
from reasoningbank.services.record.lesson_vectors import lesson_vectors
from reasoningbank.services.view import Edit, View
from reasoningbank.storage import graph, records

# Rows of vectors, as they are stored beside their owner and generation.
Rows = list[tuple[Any, ...]]


class Kind(Protocol):
    """One kind of what is embedded. An item is all that has to be the same still when its vectors are stored."""

    def missing(self, view: View, generation: int) -> list[int]:
        """Return the numbers of those without a vector of a generation."""

    def load(self, view: View, numbers: Sequence[int]) -> dict[int, Any]:
        """Return items by number."""

    def embed(self, embedder: Embedder, items: Sequence[Any]) -> list[Rows]:
        """Return the rows of each item; none for one that cannot be embedded."""

    def is_present(self, view: View, n: int, item: Any) -> bool:
        """Tell whether an item is as it was when it was read."""

    def store(self, edit: Edit, generation: int, n: int, rows: Rows) -> None:
        """Store the rows of one item in place of those it has."""


class Memories:
    """Memories, by what they say and by when they apply."""

    def missing(self, view: View, generation: int) -> list[int]:
        """Return the numbers of the memories without a lesson vector."""
        return records.not_embedded(view, generation)

    def load(self, view: View, numbers: Sequence[int]) -> dict[int, Memory]:
        """Return memories by number."""
        return {n: row.memory for n, row in view.load(numbers).items()}

    def embed(self, embedder: Embedder, items: Sequence[Memory]) -> list[Rows]:
        """Return (role, vector) of each memory."""
        return [[(role, v.tobytes()) for role, v in made.roles] for made in lesson_vectors(embedder, items)]

    def is_present(self, view: View, n: int, item: Memory) -> bool:
        """Tell whether a memory was neither changed nor deleted."""
        return records.find_revision(view, item.id) == (n, item.revision)

    def store(self, edit: Edit, generation: int, n: int, rows: Rows) -> None:
        """Store a memory's vectors."""
        records.put_vectors(edit, generation, n, [(role, vector) for role, vector in rows])


class Nodes:
    """Nodes of the memory graph, by their text."""

    def missing(self, view: View, generation: int) -> list[int]:
        """Return the numbers of the nodes without a vector."""
        return graph.not_embedded(view, generation)

    def load(self, view: View, numbers: Sequence[int]) -> dict[int, str]:
        """Return texts by number."""
        return graph.plain_texts(view, numbers)

    def embed(self, embedder: Embedder, items: Sequence[str]) -> list[Rows]:
        """Return the vector of each text."""
        embedded = embed_each(embedder, items)
        return [[] if i in embedded.failures else [(embedded.vectors[i].tobytes(),)] for i in range(len(items))]

    def is_present(self, view: View, n: int, item: str) -> bool:
        """Tell whether a node still says this."""
        return graph.plain_texts(view, [n]).get(n) == item

    def store(self, edit: Edit, generation: int, n: int, rows: Rows) -> None:
        """Store a node's vector, unless another process just did."""
        if n in graph.not_embedded(edit, generation):
            graph.add_vector(edit, n, generation, rows[0][0])

"""Moving a bank to another embedder: the next generation is filled beside the current one, then swapped in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.errors import EmbeddingError, ProjectNotFoundError
from reasoningbank.memory import Memory
from reasoningbank.services.cache.snapshots import drop_all
from reasoningbank.services.engine import Engine
from reasoningbank.services.graph.graph import embed_nodes
from reasoningbank.services.record.preparing import lesson_vectors
from reasoningbank.services.view import Edit, View, add_generation, identity_of
from reasoningbank.storage import generations, graph, records

BATCH = 64

Progress = Callable[[int, int], None]
# Rows of vectors, as they are stored beside their owner and generation.
Rows = list[tuple[Any, ...]]
# What became of one item: its rows, or none and why.
Made = tuple[Rows, str]


def reembed(engine: Engine, embedder: str | Embedder | None, progress: Progress | None) -> int:
    """Fill a generation of vectors with an embedder, and swap it in; return how many memories were embedded.

    Interrupted, it goes on where it stopped; two processes at it with the same embedder share the work. Others read
    and write the current generation meanwhile; what they record is embedded before the swap. Memories and nodes of the
    graph go the same way; what cannot be embedded is found by keyword only. What is there is never replaced by less.

    Raises:
        ProjectNotFoundError: nothing was recorded yet.
        EmbeddingError: more would be without vectors afterwards than before, and nothing was swapped; or another
            process began to re-embed with another embedder: its run is the one that counts.
    """
    if engine.project() is None:
        raise ProjectNotFoundError(engine.project_name, engine.tenant)
    chosen = engine.embedder if embedder is None else engine.know(embedder)
    with engine.write() as edit:
        generation = _filling(edit, chosen.identity)
    memories, nodes = _Share(_MEMORIES, generation), _Share(_NODES, generation)
    while True:
        left = _round(engine, generation, chosen, (memories, nodes))
        if progress is not None:
            done = memories.done + nodes.done
            progress(done, done + left)
        if not left:
            # Only now: should the new embedder fail half-way, this handle goes on with the old one.
            engine.use_embedder(chosen)
            return memories.done


def _round(engine: Engine, generation: int, embedder: Embedder, shares: Sequence[_Share]) -> int:
    """Embed and store the next batch of each kind, and return what is left; swap when that is nothing."""
    with engine.read() as view:
        for share in shares:
            share.take(view)
    for share in shares:
        share.embed(embedder)
    with engine.write() as edit:
        if _is_swapped_in(edit, generation, embedder.identity):
            return 0
        left = sum(share.store(edit) for share in shares)
        if not left:
            for share in shares:
                share.check(edit, embedder)
            drop_all(edit)
            generations.swap_in(edit, generation)
        return left


@dataclass(frozen=True, slots=True)
class _Kind:
    """What memories and nodes differ in. An item is all that has to be the same still when its vectors are stored.

    Attributes:
        name: what they are called.
        missing: the row numbers of those without vectors of a generation.
        rows: the rows of each item; none for one that cannot be embedded.
    """

    name: str
    missing: Callable[[View, int], list[int]]
    load: Callable[[View, Sequence[int]], dict[int, Any]]
    rows: Callable[[Embedder, Sequence[Any]], list[Made]]
    is_present: Callable[[View, int, Any], bool]
    put: Callable[[Edit, int, int, Rows], None]


def _lesson_rows(embedder: Embedder, items: Sequence[Memory]) -> list[Made]:
    made = lesson_vectors(embedder, items)
    return [([(role, v.tobytes()) for role, v in vectors.roles], vectors.problem) for vectors in made]


def _node_rows(embedder: Embedder, items: Sequence[str]) -> list[Made]:
    return [([] if vector is None else [(vector.tobytes(),)], "") for vector in embed_nodes(embedder, items)]


def _put_node(edit: Edit, generation: int, n: int, rows: Rows) -> None:
    # Another process may just have stored it.
    if n in graph.not_embedded(edit, generation):
        graph.add_vector(edit, n, generation, rows[0][0])


# By what they say and by when they apply.
_MEMORIES = _Kind(
    name="memories",
    missing=records.not_embedded,
    load=lambda view, numbers: {n: row.memory for n, row in view.load(numbers).items()},
    rows=_lesson_rows,
    is_present=lambda view, n, item: records.find_revision(view, item.id) == (n, item.revision),
    put=records.put_vectors,
)
# By their text.
_NODES = _Kind(
    name="nodes",
    missing=graph.not_embedded,
    load=graph.plain_texts,
    rows=_node_rows,
    is_present=lambda view, n, item: graph.plain_texts(view, [n]).get(n) == item,
    put=_put_node,
)


class _Share:
    """One kind's share of the work, a batch at a time; `done` of them got their vectors."""

    def __init__(self, kind: _Kind, generation: int) -> None:
        self._kind, self._generation = kind, generation
        self._failed: dict[int, str] = {}
        self._items: dict[int, Any] = {}
        self._embedded: dict[int, Rows] = {}
        self.done = 0

    def take(self, view: View) -> None:
        """Read the next batch."""
        asked = self._left(view)[:BATCH]
        self._items = self._kind.load(view, asked)
        self._failed |= {n: "its row is damaged" for n in asked if n not in self._items}

    def embed(self, embedder: Embedder) -> None:
        """Embed it, outside of any transaction."""
        made = self._kind.rows(embedder, list(self._items.values()))
        self._embedded = {n: rows for n, (rows, _) in zip(self._items, made, strict=True) if rows}
        self._failed |= {n: why for n, (rows, why) in zip(self._items, made, strict=True) if not rows}

    def store(self, edit: Edit) -> int:
        """Store what was embedded, and return how many are still to be embedded."""
        for n, rows in self._embedded.items():
            # Changed or deleted while it was being embedded: the next round takes it up again.
            if self._kind.is_present(edit, n, self._items[n]):
                self._kind.put(edit, self._generation, n, rows)
                self.done += 1
        return len(self._left(edit))

    def check(self, view: View, embedder: Embedder) -> None:
        """EmbeddingError when fewer would have vectors than have now, or none at all."""
        lacking, before = self._kind.missing(view, self._generation), self._kind.missing(view, view.moment.searched)
        # No generation has the number 0: all that there are.
        if len(lacking) > len(before) or (lacking and lacking == self._kind.missing(view, 0)):
            why = next(filter(None, map(self._failed.get, lacking)), "no vector was returned")
            raise EmbeddingError(
                f"{embedder.identity.name} could not embed {len(lacking)} {self._kind.name} ({why}); {len(before)} are "
                "without vectors now: nothing was replaced. Mend the embedder and run this again, which goes on here"
            )

    def _left(self, view: View) -> list[int]:
        return [n for n in self._kind.missing(view, self._generation) if n not in self._failed]


def _filling(edit: Edit, identity: EmbedderIdentity) -> int:
    """Return the generation to fill: the one that an interrupted run began with the same embedder, or a new one."""
    begun = generations.filling(edit)
    if begun is not None:
        if identity_of(begun) == identity:
            return begun.number
        generations.drop(edit, begun.number)
    return add_generation(edit, identity, "filling")


def _is_swapped_in(view: View, generation: int, identity: EmbedderIdentity) -> bool:
    """Tell whether another process finished the generation that we fill; EmbeddingError when it dropped that."""
    current, filling = view.moment.generation, generations.filling(view)
    for found in (current, filling):
        if found is not None and found.number == generation and identity_of(found) == identity:
            return found is current
    raise EmbeddingError(
        f"the re-embedding with {identity.name} was given up for one that another process began: "
        "let that one finish, or run this one again"
    )

"""The levels that a handle looks through: which answer, what their hits are called, and what they are told of runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from reasoningbank.embed.base import Embedder
from reasoningbank.errors import ReasoningBankError, SharedAccessError
from reasoningbank.links import OPPOSED, OPPOSITE, Conflict
from reasoningbank.memory import State
from reasoningbank.results import OWN, Hit, Recall, SearchResult, Twin
from reasoningbank.services.engine import Engine
from reasoningbank.services.search import recall as recalling
from reasoningbank.services.search.above import SPAN
from reasoningbank.services.search.again import as_hit
from reasoningbank.services.search.recall import as_found, as_served, block_of
from reasoningbank.services.search.retrieve import Wanted, find
from reasoningbank.services.sharing.engine import WHAT, MemberEngine
from reasoningbank.services.sharing.joined import Joined, LevelFailedError, level_of
from reasoningbank.services.upkeep.consolidate import as_lesson
from reasoningbank.services.view import Edit, View
from reasoningbank.sharing.rights import Right
from reasoningbank.storage import records, sharing
from reasoningbank.upkeep.consolidation import contradict

if TYPE_CHECKING:
    from reasoningbank.runs.results import FailureRecall
    from reasoningbank.services.search.failure import Failure

log = logging.getLogger("reasoningbank")
T = TypeVar("T")

CONTRADICTS = OPPOSED[1]


class Levels:
    """A project, and the shared banks that a handle was opened with, the nearest first.

    Attributes:
        own: the project's engine.
        banks: the shared banks, by name, in the order they were named.
    """

    def __init__(self, own: Engine, banks: Sequence[str], person: str | None) -> None:
        self.own = own
        self.banks = {name: MemberEngine(own, name, person) for name in banks}
        self._said: set[tuple[str, type[ReasoningBankError]]] = set()

    def close(self) -> None:
        """Close the shared banks' files."""
        for engine in self.banks.values():
            engine.close()

    def bank(self, name: str) -> MemberEngine:
        """Return a shared bank that this handle was opened with; SharedAccessError for any other."""
        if name not in self.banks:
            raise SharedAccessError(name, WHAT[Right.READ])
        return self.banks[name]

    def left_out(self, bank: str, error: ReasoningBankError) -> str:
        """Return in words that a shared bank is left out, and log each kind of reason once."""
        said = f"shared bank {bank!r} is left out: {error}"
        if (bank, type(error)) not in self._said:
            self._said.add((bank, type(error)))
            log.warning("%s", said)
        return said

    def looked(self, look: Callable[[Look], T]) -> T:
        """Return what a look through all levels gives; one that fails meanwhile is left out, and said so."""
        without: dict[str, str] = {}
        while True:
            try:
                return look(Look(self, without))
            except LevelFailedError as failed:
                without[failed.bank] = self.left_out(failed.bank, failed.error)


class Look:
    """One look through the levels that answer.

    Attributes:
        degraded: which do not, and why, in words.
        opposed: which of the hits of different levels speak against each other, the nearer one first.
    """

    def __init__(self, levels: Levels, without: dict[str, str]) -> None:
        self._levels, self._without = levels, without
        self.degraded: tuple[str, ...] = ()
        self.opposed: tuple[Conflict, ...] = ()

    @contextmanager
    def read(self, embedder: Embedder | None) -> Iterator[Joined]:
        """Give one state of each level; those that do not answer, or are not open to this project, are left out."""
        with self._levels.own.read() as own, ExitStack() as opened:
            views, degraded = [own], list(self._without.values())
            for name, engine in self._levels.banks.items():
                if name in self._without:
                    continue
                try:
                    view = opened.enter_context(engine.read())
                    if embedder is not None:
                        view.check_embedder(embedder.identity)
                except ReasoningBankError as error:
                    degraded.append(self._levels.left_out(name, error))
                else:
                    views.append(view)
            self.degraded = tuple(degraded)
            self._joined = joined = Joined(views)
            yield joined

    def named(self, found: SearchResult, numbers: Sequence[int]) -> tuple[SearchResult, tuple[int, ...]]:
        """Say of each hit which level it is from, and what says the same there; of opposites the nearer is first."""
        joined = self._joined
        hits = [_with_level(joined, hit, n) for hit, n in zip(found.hits, numbers, strict=True)]
        order, opposites = [*range(len(hits))], _opposites(joined, hits, numbers)
        for near, far in opposites:
            if order.index(near) > order.index(far):
                order.remove(near)
                order.insert(order.index(far), near)
        self.opposed = tuple(Conflict(hits[i].memory.id, hits[j].memory.id, CONTRADICTS, 1.0, "") for i, j in opposites)
        degraded = (*found.degraded, *self.degraded)
        named = replace(found, hits=tuple(hits[i] for i in order), degraded=degraded)
        return named, tuple(numbers[i] for i in order)

    def placed(self, hits: Sequence[Hit], numbers: Mapping[str, int]) -> tuple[Hit, ...]:
        """Say of hits that came along which level they are from."""
        return tuple(
            hit if hit.level != OWN else replace(hit, level=_level(self._joined, numbers[hit.memory.id]))
            for hit in hits
        )

    def again(self, known: Recall, max_tokens: int) -> Recall:
        """Return what a run was handed before, with what came from shared banks that are still open."""
        hits, degraded = [*known.hits], list[str]()
        with self._levels.own.read() as own:
            handed = sharing.run(own, known.ref)
            pin_tokens = own.engine.settings.pin_tokens
        for bank, served in handed.items():
            try:
                with self._levels.bank(bank).read() as view:
                    numbers = records.numbers_of(view, [each.memory for each in served])
                    shown = {memory.id: memory for memory in view.shown(numbers.values()).values()}
            except ReasoningBankError as error:
                degraded.append(self._levels.left_out(bank, error))
                continue
            now = self._levels.own.now()
            there = {m.id: m for m in shown.values() if m.state is State.ACTIVE and not m.has_expired(now)}
            hits += [
                replace(as_hit(s, there[s.memory]), level=bank) for s in served if s.memory in there and not s.step
            ]
        if len(hits) == len(known.hits):
            return replace(known, degraded=(*known.degraded, *degraded))
        hits.sort(key=lambda hit: -hit.score)
        block = block_of(as_found(hits), max_tokens, known.conflicts, pin_tokens, doubtful=known.weak)
        return replace(
            known,
            hits=tuple(hits),
            text=block.text,
            tokens=block.tokens,
            shortened=block.shortened,
            degraded=(*known.degraded, *degraded),
        )

    def handed(self, view: View, ref: str) -> set[int]:
        """Return the row numbers, in what `read` gives, of what a run was handed from shared banks before."""
        joined, found = cast("Joined", view), set[int]()
        handed = sharing.run(view, ref)
        for level, each in enumerate(joined.levels[1:], 1):
            ids = [served.memory for served in handed.get(each.engine.project_name, ())]
            numbers = joined.joined.ask(level, partial(records.numbers_of, ids=ids)) if ids else {}
            found |= {n + level * SPAN for n in numbers.values()}
        return found

    def told_apart(self, view: View, found: Mapping[int, T]) -> dict[int, T]:
        """Return what was found, by row number, without what a nearer level says too."""
        view.engine.cache.follow(view)
        numbers = np.array(sorted(found), dtype=np.int64)
        there = view.engine.cache.candidates(view, numbers)["there"]
        return {n: found[n] for n in numbers[there].tolist()}

    def note(self, edit: Edit, ref: str, handed_out: Mapping[int, Hit], step: int = 0) -> None:
        """Remember with a run what it is handed from shared banks, so that those can be told of it."""
        by_bank: dict[str, list[Hit]] = {}
        known = sharing.run(edit, ref)
        for n, hit in handed_out.items():
            if n >= SPAN:
                by_bank.setdefault(hit.level, []).append(hit)
        for bank, hits in by_bank.items():
            before = known.get(bank, ())
            there = {served.memory for served in before}
            new = [hit for hit in hits if hit.memory.id not in there]
            known[bank] = (*before, *(as_served(hit, place, step) for place, hit in enumerate(new, len(before))))
        if by_bank:
            sharing.note_run(edit, ref, known)


def recall(levels: Levels, task: str, wanted: Wanted, **how: Any) -> Recall:
    """Hand out the memories of all levels that fit a task, and open its episode."""
    from reasoningbank.services.sharing.credit import settle

    found = levels.looked(lambda look: recalling.recall(levels.own, task, wanted, levels=look, **how))
    settle(levels)
    return found


def recall_failure(levels: Levels, failure: Failure, **how: Any) -> FailureRecall:
    """Hand out the memories of all levels that answer the errors of a failure."""
    from reasoningbank.services.search import failure as failing
    from reasoningbank.services.sharing.credit import settle

    found = levels.looked(lambda look: failing.recall_failure(levels.own, failure, levels=look, **how))
    settle(levels)
    return found


def search(levels: Levels, text: str, wanted: Wanted) -> SearchResult:
    """Find the memories of all levels that fit a query; nothing is changed."""

    def attempt(embedder: Embedder) -> SearchResult:
        query = levels.own.queries.query(embedder, text)

        def look(each: Look) -> SearchResult:
            with each.read(embedder) as joined:
                return each.named(*find(joined, query, wanted))[0]

        return levels.looked(look)

    return levels.own.with_embedder(attempt)


def _with_level(joined: Joined, hit: Hit, number: int) -> Hit:
    twins = joined.joined.twins.get(number, [])
    rows = joined.joined.known(joined, np.array(twins, dtype=np.int64))
    also = tuple(
        Twin(_name(joined, n), row["memory"].id, float(row["mean"]), int(row["usage"]))
        for n, row in zip(twins, rows, strict=True)
    )
    return replace(hit, also=also, level=_level(joined, number))


def _level(joined: Joined, number: int) -> str:
    return _name(joined, number) if level_of(number) else OWN


def _name(joined: Joined, number: int) -> str:
    return joined.levels[level_of(number)].engine.project_name


def _opposites(joined: Joined, hits: Sequence[Hit], numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places of hits of different levels that speak against each other, that of the nearer level first."""
    places = np.array(numbers, dtype=np.int64)
    if len({*(places // SPAN).tolist()}) < 2:
        return []
    vectors = joined.joined.lesson_vectors(places)
    near = vectors @ vectors.T > OPPOSITE
    found = []
    for i, j in np.argwhere(near & (places[:, None] // SPAN < places[None, :] // SPAN)).tolist():
        if contradict(as_lesson(hits[i].memory), as_lesson(hits[j].memory)):
            found.append((i, j))
    return found

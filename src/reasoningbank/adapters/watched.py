"""Runs under way, and what was recalled in them: which lessons a model has been shown, as far as that can be known."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from reasoningbank.adapters.shown import marks_of
from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import EpisodeNotFoundError
from reasoningbank.results import Recall
from reasoningbank.verdict import Verdict

_left: ContextVar[bool] = ContextVar("reasoningbank_left", default=False)


@contextmanager
def left() -> Iterator[None]:
    """Runs that end inside were left by whoever read their stream: what they gave so far is no result."""
    token = _left.set(True)
    try:
        yield
    finally:
        _left.reset(token)


def is_left() -> bool:
    """Tell whether a run that ends now was left."""
    return _left.get()


@dataclass(slots=True, eq=False)
class Handed:
    """What was recalled in a run, and what a model has been shown of it.

    Attributes:
        marks: by memory: what shows in a text that it is there.
        under: the runs that recalled something of it, each with the memories that it was given.
        seen: memories that stood in a model's input.
        models: how many model calls came after the recall.
        unwatched: what was shown of it cannot be known, and is taken to be all.
        must_read: no model is shown it unless a node takes the text.
        readers: the nodes that took the text.
        reached: by run that recalled: what the outermost retriever around it gave of that.
        held_out: something is withheld from the run.
        settled: it is closed.
        messages: what the last model call was given; before the first, what was asked.
        state, loop: the run's state as a node near its end saw it, and where async code of the run is awaited.
    """

    bank: ReasoningBank
    ref: str
    marks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    under: dict[WatchedRun, set[str]] = field(default_factory=dict)
    must_read: bool = False
    seen: set[str] = field(default_factory=set)
    models: int = 0
    unwatched: bool = False
    readers: list[WatchedRun] = field(default_factory=list)
    reached: dict[WatchedRun, set[str]] = field(default_factory=dict)
    held_out: bool = False
    settled: bool = False
    messages: Any = None
    state: Any = None
    loop: asyncio.AbstractEventLoop | None = None

    def unshown(self) -> set[str]:
        """Return the memories that were in no model's input, as far as that can be known."""
        if self.unwatched or any(not reader.models for reader in self.readers):
            return set()  # a node that took the text and called no model that is watched calls one that is not
        if self.models:
            return set(self.marks) - self.seen
        if self.reached:
            return set(self.marks).difference(*(self.reached.get(run, ids) for run, ids in self.under.items()))
        return set(self.marks) if self.must_read and not self.readers else set()

    def result(self, outputs: Any) -> Any:
        """Return the run's state with its outputs, which are newer: nodes may have run beside the one that saw it."""
        state = self.state
        if state is None or not isinstance(outputs, Mapping):
            return outputs if state is None else state
        if isinstance(state, Mapping):
            return {**state, **outputs}
        newer = {name: value for name, value in outputs.items() if hasattr(state, name)}
        copy = getattr(state, "model_copy", None)
        return dataclasses.replace(state, **newer) if copy is None else copy(update=newer)

    def add(self, recall: Recall, under: WatchedRun) -> None:
        """Something was recalled under a run, which belongs to this."""
        self.marks.update({memory.id: marks_of(memory) for memory in recall.memories})
        self.held_out |= recall.held_out
        self.under.setdefault(under, set()).update(memory.id for memory in recall.memories)

    def retrieved(self, run: WatchedRun, given: set[str]) -> None:
        """A retriever's run ended with these memories: of what was recalled below it, those are left."""
        for under, ids in self.under.items():
            if run in under.up():
                self.reached[under] = ids & given

    def look(self, given: str) -> None:
        """A model is given this, as `letters`."""
        self.models += 1
        self.seen |= {m for m, marks in self.marks.items() if m not in self.seen and any(k in given for k in marks)}


@dataclass(slots=True, eq=False)
class WatchedRun:
    """A run that is under way.

    Attributes:
        name: its id, or that of the first attempt when it is tried again: the reference of what is recalled in it.
        path: where it stands in nested graphs; "" at the top.
        models: how many model calls there were in it.
        handed: what was recalled in it, by `key_of`.
        asked: the references under which something was, or is being, recalled in it.
        is_again: it was tried before, and failed.
        resumed, paused, settled: it goes on with an earlier run; it waits for somebody; its episode was closed.
        by_hand: references that the program closed itself.
    """

    id: Hashable
    name: str
    parent: WatchedRun | None
    path: str
    metadata: Mapping[str, Any]
    is_retriever: bool = False
    handed: dict[Hashable, Handed] = field(default_factory=dict)
    below: set[Hashable] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    is_again: bool = False
    resumed: bool = False
    paused: bool = False
    settled: bool = False
    models: int = 0
    by_hand: set[str] = field(default_factory=set)

    def up(self) -> Iterator[WatchedRun]:
        """Yield it and the runs that it stands in, up to the root."""
        run: WatchedRun | None = self
        while run is not None:
            yield run
            run = run.parent

    @property
    def root(self) -> WatchedRun:
        """The outermost run that is watched."""
        return list(self.up())[-1]

    def holder(self, bank: ReasoningBank) -> tuple[WatchedRun, Handed] | None:
        """Return the nearest run, of this and those that it stands in, in which something was recalled from a bank."""
        for run in self.up():
            for handed in run.handed.values():
                if key_of(handed.bank, handed.ref) == key_of(bank, handed.ref):
                    return run, handed
        return None


def key_of(bank: ReasoningBank, ref: str) -> tuple[str, str, str]:
    """Return what names an episode: references are unique in a bank, not among banks."""
    return bank.tenant, bank.project, ref


def unfinished(bank: ReasoningBank, thread: str) -> list[tuple[ReasoningBank, str]]:
    """Return the newest episode of a thread, if it is open or was closed by an exception alone."""
    try:
        episode = bank.runs.get(thread=thread)
    except EpisodeNotFoundError:
        return []
    goes_on = episode.is_open or (episode.verdict is Verdict.FAILURE and not episode.by)
    return [(bank, episode.ref)] if goes_on else []

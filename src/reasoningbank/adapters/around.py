"""The watched runs that code is in: the episode it belongs to, and whether lessons are withheld around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reasoningbank.adapters.arms import is_held_out
from reasoningbank.adapters.callbacks import RunWatch
from reasoningbank.adapters.threads import thread_of
from reasoningbank.adapters.watched import WatchedRun
from reasoningbank.bank import ReasoningBank
from reasoningbank.results import Recall


@dataclass(frozen=True)
class Place:
    """The run for which something is recalled by code that has no episode of its own, such as a tool.

    Attributes:
        ref: the episode's reference.
        watch, run: who watches the run, and the run that the episode belongs to.
    """

    ref: str
    watch: RunWatch
    run: WatchedRun

    def opened(self, bank: ReasoningBank, recall: Recall, under: Any = None) -> None:
        """Something was recalled for it; see `RunWatch.opened`."""
        self.watch.opened(self.run, bank, recall, under=under)


def watching(config: Mapping[str, Any]) -> Iterator[tuple[RunWatch, WatchedRun]]:
    """Yield who watches the run of a config, the innermost first, and the run that this code is in."""
    manager = config.get("callbacks")
    for handler in reversed(getattr(manager, "handlers", ())):
        if isinstance(handler, RunWatch) and (run := handler.run(getattr(manager, "parent_run_id", None))) is not None:
            yield handler, run


def place_in(config: Mapping[str, Any], bank: ReasoningBank, own: str | None = None) -> Place | None:
    """Return where something that is recalled here belongs; None in a run that nobody watches.

    That is the episode that the run, or one around it, has in the bank; or else the outermost run.

    Args:
        own: the reference that the program gave to the run.
    """
    runs = list(watching(config))
    for watch, run in runs:
        if (found := run.holder(bank)) is not None:
            holder, handed = found
            return Place(handed.ref, watch, holder)
    return next((outermost(watch, run, own) for watch, run in runs), None)


def outermost(watch: RunWatch, run: WatchedRun, own: str | None) -> Place:
    """Return the outermost run that somebody watches, of those around a run, as the place where something belongs."""
    root = run.root
    root.name = own or root.name
    root.asked.add(root.name)
    return Place(root.name, watch, root)


def is_held_out_around(bank: ReasoningBank, config: Mapping[str, Any], thread: str | None) -> bool:
    """Tell whether lessons are withheld from a run around the one of this config.

    What is withheld from an agent must not come in by its sub-agents.

    Args:
        thread: the conversation of the run itself.
    """
    outer = thread_of((config.get("configurable") or {}).get("thread_id"))
    if outer != thread and is_held_out(bank, None, outer):
        return True
    found = [holder[1] for _, run in watching(config) if (holder := run.holder(bank)) is not None]
    return any(handed.held_out and is_held_out(bank, handed.ref, None) for handed in found)

"""Whose bank a run uses: one that is fixed, or what a resolver says of the run's own config and context."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakSet

from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import ReasoningBankError, ScopeError

log = logging.getLogger("reasoningbank")


class RunScope(dict[str, Any]):
    """The config of a run as a resolver sees it: `run["configurable"]["tenant"]`, and `run.context.tenant`.

    Nothing that a model says is in it.

    Attributes:
        context: what the caller gave as the run's context; None when nothing was given.
    """

    def __init__(self, config: Mapping[str, Any] | None, context: Any = None) -> None:
        super().__init__({"configurable": {}, "metadata": {}, **(config or {})})
        self.context = context


BankResolver = Callable[[RunScope], ReasoningBank]
"""Tells whose bank a run uses, such as `lambda run: root.open(run["configurable"]["project"])`."""

Banks = ReasoningBank | BankResolver
"""What adapters take as `bank=`."""


def bank_of(banks: Banks, config: Mapping[str, Any] | None = None, context: Any = None) -> ReasoningBank:
    """Return the bank of a run.

    Raises:
        ScopeError: the resolver gave no bank. What it raises itself is raised: a run is never given somebody's bank
            because its own could not be told.
    """
    if isinstance(banks, ReasoningBank):
        return banks
    found = banks(RunScope(config, context))
    if not isinstance(found, ReasoningBank):
        raise ScopeError(f"the resolver given as bank= returned {found!r:.80}: it must return a ReasoningBank")
    return found


_ready: WeakSet[ReasoningBank] = WeakSet()
_preparing = threading.Lock()


def prepare(banks: Banks) -> None:
    """Load what a first recall would wait for; in a coroutine by a thread of its own, so that no event loop waits.

    The banks of a resolver are made ready as they are met.
    """
    if not isinstance(banks, ReasoningBank):
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        make_ready(banks)
    else:
        threading.Thread(target=make_ready, args=(banks,), name="reasoningbank-ready", daemon=True).start()


def make_ready(bank: ReasoningBank) -> None:
    """Load what a recall needs, once a bank: it takes longer than a recall may. What goes wrong the recall will say."""
    if bank in _ready:
        return
    with _preparing:
        if bank not in _ready:
            try:
                bank.upkeep.warm()
            except ReasoningBankError as error:
                log.debug("the bank could not be made ready: %s", error)
            _ready.add(bank)

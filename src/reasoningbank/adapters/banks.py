"""Whose bank a run uses: one that is fixed, or what a resolver says of the run's own config and context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import ScopeError


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


def bank_of(banks: Banks, scope: RunScope, shared: Sequence[str] = ()) -> ReasoningBank:
    """Return the bank of a run, which looks through shared banks, too, where some are named.

    Raises:
        ScopeError: the resolver gave no bank. What it raises itself is raised: a run is never given somebody's bank
            because its own could not be told.
    """
    if isinstance(banks, ReasoningBank):
        return banks.with_shared(shared) if shared else banks
    found = banks(scope)
    if not isinstance(found, ReasoningBank):
        raise ScopeError(f"the resolver given as bank= returned {found!r:.80}: it must return a ReasoningBank")
    return found.with_shared(shared) if shared else found

"""Recall for a run that must neither wait nor break, and the text of its lessons, which is in no state."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reasoningbank.adapters.around import is_held_out_around
from reasoningbank.adapters.banks import Banks, RunScope, bank_of
from reasoningbank.arguments import holdout as check_holdout
from reasoningbank.arguments import one_of
from reasoningbank.bank import ReasoningBank
from reasoningbank.bank.sharing import checked_banks as check_shared
from reasoningbank.errors import ReasoningBankError
from reasoningbank.filters import WEAK
from reasoningbank.results import Recall

# Texts of runs under way are kept up to so many; others are read again from the bank.
KEPT = 1_024


@dataclass(frozen=True)
class Recalling:
    """How an adapter recalls.

    Attributes:
        banks: a bank, or a resolver of the run's config and context.
        limit: how many lessons at the most.
        max_tokens: budget of the block.
        min_confidence: confidence from which a lesson is proven; the bank's setting when None.
        timeout: seconds a recall may take.
        fail_open: when a recall fails or comes too late, go on without lessons.
        filters: those of `recall`, by name: tags, where, outcome, source, since, until.
        expand_links: bring along what the lessons require.
        holdout: withhold lessons from a share of the runs; the bank's setting when None.
        weak: what becomes of lessons of which none is clearly about the task, as in `recall`.
        shared: shared banks that are looked through, too, the nearest first; those of the bank when none are named.

    Raises:
        InvalidInputError: the hold-out is none, or `weak` no way to treat lessons.
    """

    banks: Banks
    limit: int = 3
    max_tokens: int = 500
    min_confidence: float | None = None
    timeout: float | None = 0.5
    fail_open: bool = True
    filters: Mapping[str, Any] | None = None
    expand_links: bool = False
    holdout: float | str | None = None
    weak: str = "mark"
    shared: Sequence[str] = ()
    _texts: OrderedDict[Hashable, str] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        """Say at once what would end the first run."""
        check_holdout(self.holdout)
        one_of("weak", self.weak, WEAK)
        check_shared(self.shared)

    def bank(self, config: Mapping[str, Any], context: Any = None) -> ReasoningBank:
        """Return the bank of a run."""
        return bank_of(self.banks, RunScope(config, context), self.shared)

    def recall(
        self,
        bank: ReasoningBank,
        task: str,
        *,
        ref: str | None,
        thread: str | None,
        config: Mapping[str, Any] | None = None,
    ) -> Recall:
        """Recall for a task, and keep the text for `text`.

        Args:
            config: of the run that recalls: where lessons are withheld around it, it gets none.
        """
        if config is not None and is_held_out_around(bank, config, thread):
            if ref:
                self._keep(bank, ref, "")
            return Recall(ref="", task=task, held_out=True)
        recall = bank.recall(
            task,
            self.limit,
            ref=ref,
            thread=thread,
            max_tokens=self.max_tokens,
            min_confidence=self.min_confidence,
            timeout=self.timeout,
            fail_open=self.fail_open,
            expand_links=self.expand_links,
            holdout=self.holdout,
            weak=self.weak,
            **(self.filters or {}),
        )
        if kept := recall.ref or ref:
            self._keep(bank, kept, recall.text)
        return recall

    def known(self, bank: ReasoningBank, ref: str) -> str | None:
        """Return the text that was recalled under a reference, if it is at hand; empty when nothing was."""
        with self._lock:
            return self._texts.get((bank.tenant, bank.project, ref))

    def text(self, bank: ReasoningBank, ref: str) -> str:
        """Return the text that was recalled under a reference, read again where an earlier process recalled it."""
        known = self.known(bank, ref)
        if known is None:
            try:
                known = self.recall(bank, bank.runs.get(ref).task, ref=ref, thread=None).text
            except ReasoningBankError:
                known = ""  # it was never opened, or is gone
        return known

    def forget(self, bank: ReasoningBank, ref: str) -> None:
        """Keep the text of a run that is over no longer."""
        with self._lock:
            self._texts.pop((bank.tenant, bank.project, ref), None)

    def _keep(self, bank: ReasoningBank, ref: str, text: str) -> None:
        with self._lock:
            self._texts[bank.tenant, bank.project, ref] = text
            while len(self._texts) > KEPT:
                self._texts.popitem(last=False)

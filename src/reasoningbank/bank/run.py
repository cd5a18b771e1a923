"""A run in plain Python: what was recalled for it, and its verdict."""

from __future__ import annotations

from typing import Protocol

from reasoningbank.episode import Verdict
from reasoningbank.results import Hit, Recall, Reported


class _Reporter(Protocol):
    def report(
        self,
        verdict: Verdict | str | bool,
        *,
        ref: str | None = None,
        thread: str | None = None,
        reason: str | None = None,
        by: str | None = None,
    ) -> Reported: ...


class Run:
    """One run of a task, inside `with bank.episode(task) as run`.

    Attributes:
        recall: what was handed out.
    """

    def __init__(self, bank: _Reporter, recall: Recall) -> None:
        self._bank = bank
        self.recall = recall

    @property
    def ref(self) -> str:
        """The episode's reference."""
        return self.recall.ref

    @property
    def text(self) -> str:
        """The prompt block with the recalled lessons; empty when nothing fits."""
        return self.recall.text

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The memories handed out."""
        return self.recall.hits

    def report(self, verdict: Verdict | str | bool, *, reason: str | None = None, by: str | None = None) -> Reported:
        """Say how the run ended; a later verdict replaces an earlier one."""
        return self._bank.report(verdict, ref=self.ref, reason=reason, by=by)

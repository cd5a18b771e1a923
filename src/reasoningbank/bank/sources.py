"""bank.sources: who brought memories and signals, and who is blocked."""

from __future__ import annotations

from reasoningbank.bank.handle import Namespace
from reasoningbank.results import Blocked


class Sources(Namespace):
    """People, agents and sessions, by the name that memories and signals came under."""

    def block(self, source: str) -> Blocked:
        """Archive everything that came from a source, and let its signals count for nothing.

        What it brings later is quarantined. Nothing is deleted: `unblock` undoes it.

        Args:
            source: the `by` of memories and judges, or the session they came from.

        Raises:
            InvalidInputError: the name is blank.
        """
        from reasoningbank.services.record import trust

        return trust.forget(self._engine, source, forgotten=True)

    def unblock(self, source: str) -> Blocked:
        """Undo `block`: its memories are served and its signals count again.

        Raises:
            InvalidInputError: the name is blank.
        """
        from reasoningbank.services.record import trust

        return trust.forget(self._engine, source, forgotten=False)

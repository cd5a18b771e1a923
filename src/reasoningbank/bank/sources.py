"""bank.sources: who brought memories and signals, and who is blocked."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.results import Blocked

if TYPE_CHECKING:
    from reasoningbank.services.record import trust
else:
    trust = Later("reasoningbank.services.record.trust")


class Sources(Namespace):
    """People, agents and sessions, by the name that memories and signals came under: the `by` or the session."""

    def block(self, source: str) -> Blocked:
        """Archive everything that came from a source, and let its signals count for nothing.

        What it brings later is quarantined. Nothing is deleted: `unblock` undoes it.

        Args:
            source: the `by` of memories and judges, or the session they came from.

        Raises:
            InvalidInputError: nothing came from a source of this name.
        """
        return trust.block(self._engine, arguments.source(source))

    def unblock(self, source: str) -> Blocked:
        """Undo `block`: its memories are served, its signals count again. InvalidInputError when it is not blocked."""
        return trust.unblock(self._engine, arguments.source(source))

    def forget(self, source: str) -> Blocked:
        """Block a source as `block` does, and delete for good every memory that came from it, with its evidence."""
        return trust.forget(self._engine, arguments.source(source))

    def list(self) -> builtins.list[str]:
        """Return the names of the sources that are blocked, sorted."""
        return trust.blocked(self._engine)

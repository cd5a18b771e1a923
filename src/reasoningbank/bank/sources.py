"""bank.sources: who brought memories and signals, who is trusted and who is blocked."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.results import Blocked
from reasoningbank.status import SourceCounts

if TYPE_CHECKING:
    from reasoningbank.services.record import trust
else:
    trust = Later("reasoningbank.services.record.trust")


class Sources(Namespace):
    """People, agents and sessions, by the name that memories and signals came under: the `by` or the session."""

    def overview(self) -> builtins.list[SourceCounts]:
        """Say who brought memories and judged them, and what of it is trusted; the one with the most memories first."""
        return trust.overview(self._engine)

    def trust(self, source: str, trusted: bool = True) -> tuple[str, ...]:
        """Let what came from a source take more than one place of a result, as what was recorded by hand does.

        It is about what is there: what the source brings later is as untrusted as before. What is quarantined stays so.

        Args:
            source: the `by` of memories, or the session they came from; of an import the file's name.
            trusted: False undoes it.

        Returns:
            Ids of the memories for which that is new.

        Raises:
            InvalidInputError: nothing came from a source of this name.
        """
        return trust.trust_source(self._engine, arguments.source(source), trusted=arguments.flag("trusted", trusted))

    def block(self, source: str) -> Blocked:
        """Archive everything that came from a source, and let its signals count for nothing.

        What it changed of others' memories says again what it said before, with the evidence that it had, unless
        somebody else changed it since; what it retired is served again. What it brings later is quarantined. Nothing is
        deleted: `unblock` undoes it.

        Args:
            source: the `by` of memories and judges, or the session they came from.

        Raises:
            InvalidInputError: nothing came from a source of this name.
        """
        return trust.block(self._engine, arguments.source(source))

    def unblock(self, source: str) -> Blocked:
        """Undo `block`: its memories are served, its signals count, and what it changed or retired is so again.

        InvalidInputError when it is not blocked.
        """
        return trust.unblock(self._engine, arguments.source(source))

    def forget(self, source: str) -> Blocked:
        """Block a source as `block` does, and delete for good every memory that came from it, with its evidence.

        What it made of others' memories is deleted from their history too; what it voted stays, and counts for nothing.
        """
        return trust.forget(self._engine, arguments.source(source))

    def list(self) -> builtins.list[str]:
        """Return the names of the sources that are blocked, sorted."""
        return trust.blocked(self._engine)

"""bank.sources: who brought memories and signals, who is trusted and who is blocked."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.results import Blocked
from reasoningbank.status import Erased, SourceCounts

if TYPE_CHECKING:
    from reasoningbank.services.record import erasing, trust
else:
    erasing, trust = Later.each("reasoningbank.services.record", "erasing", "trust")


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

    def forget(self, source: str, *, dry_run: bool = False) -> Blocked:
        """Block a source as `block` does, and delete for good every memory that came from it, with its evidence.

        What it made of others' memories is deleted from their history too; what it voted stays, and counts for nothing.

        Args:
            source: as for `block`.
            dry_run: only say which memories came from it.

        Raises:
            InvalidInputError: nothing came from a source of this name.
        """
        return trust.forget(self._engine, arguments.source(source), dry_run=arguments.flag("dry_run", dry_run))

    def erase(self, name: str, *, dry_run: bool = False) -> Erased:
        """Delete for good all that was recorded under a name, and the name: what a person may ask for.

        Gone are the memories it brought, the runs of its thread with their tasks, steps and jobs, the lessons that were
        distilled from those alone, its nodes of the graph, and, as `forget` has it, what it did to the memories of
        others. What it voted and reported counts on, under no name and without reasons: a confidence changes only by
        what was learned of it as a judge. It is not blocked. Cut short, it can be called again.

        Args:
            name: the `by` of memories and judges, a session, a thread, or the reference of a run.
            dry_run: only count what it would delete.

        Raises:
            InvalidInputError: nothing was recorded under this name.
        """
        return erasing.erase(self._engine, arguments.source(name), dry_run=arguments.flag("dry_run", dry_run))

    def list(self) -> builtins.list[str]:
        """Return the names of the sources that are blocked, sorted."""
        return trust.blocked(self._engine)

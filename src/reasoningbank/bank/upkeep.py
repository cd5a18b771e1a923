"""The upkeep part of the API: status, maintenance, repair, re-embedding, backups."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reasoningbank.bank.handle import Handle
from reasoningbank.signals import as_utc
from reasoningbank.status import Maintained, Metrics, Repair, Status

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder


class Upkeep(Handle):
    """Status, metrics, warm, maintain, doctor, rebuild, reembed, backup, close."""

    def status(self) -> Status:
        """Say where the bank is, what is in it, and what is not as it should be. Changes nothing."""
        from reasoningbank.services.upkeep import state as upkeep

        return upkeep.status(self._engine)

    def metrics(self, days: int = 30) -> Metrics:
        """Say how well the bank did within the last `days`: what it promised, and what came of it. Changes nothing.

        Raises:
            InvalidInputError: days is not a whole number from 1 to 36,500.
        """
        from reasoningbank.services.credit import metrics

        return metrics.metrics(self._engine, days)

    def warm(self) -> None:
        """Load the embedder and the index ahead of time, so that the first recall does not wait for them."""
        self._engine.warm()

    def maintain(self, now: datetime | None = None, *, dry_run: bool = False) -> Maintained:
        """Do a round of upkeep; one a day is plenty.

        Always: old segments of the signal log are rolled up, episodes that stayed open for too long are closed, the
        change feed and kept runs are trimmed; no confidence changes by it. At most once a day links are suggested, and
        none is set (off with the setting `auto_suggest` false). Off by default: with `auto_consolidate`, duplicates are
        merged, at most once a day; with `auto_prune`, what `prune` proposes is archived, also what is more than
        `max_memories`. Safe to run twice, and by several processes at once.

        Args:
            now: the time to go by; the bank's clock when None.
            dry_run: only say what would be done, and propose merges, pruning and links whatever the settings.
        """
        from reasoningbank.services.upkeep import maintain

        return maintain.maintain(self._engine, self._engine.now() if now is None else as_utc(now), dry_run=dry_run)

    def doctor(self, *, dry_run: bool = False) -> list[Repair]:
        """Compare what is derived with what it is derived from, and derive again what differs.

        Of memories and of the graph: keyword indexes, vectors, tallies and verdicts. Links, edges and pointers whose
        end is gone are removed. Memories, nodes and signals are never touched.

        Args:
            dry_run: only say what would be done.
        """
        from reasoningbank.services.upkeep import state as upkeep

        return upkeep.doctor(self._engine, dry_run=dry_run)

    def rebuild(self) -> None:
        """Derive the keyword indexes, the tallies and the vector indexes again; they come out the same.

        Of memories and of nodes of the graph; what leads nowhere (a link, an edge, a vector) is removed.

        Raises:
            ProjectNotFoundError: nothing was recorded yet.
        """
        from reasoningbank.services.upkeep import state as upkeep

        upkeep.rebuild(self._engine)

    def reembed(
        self, embedder: str | Embedder | None = None, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Embed all memories and nodes of the graph anew, with another embedder or the same, and use it from then on.

        Interrupted, it goes on where it stopped. Other processes go on reading and writing until the swap; from then
        on those with the old embedder are told so (EmbedderMismatchError).

        Args:
            embedder: the new one; this handle's own when None, which also embeds what could not be embedded before.
            progress: called with (done, to do in all).

        Returns:
            How many memories were embedded.

        Raises:
            ProjectNotFoundError: nothing was recorded yet.
            EmbeddingError: the embedder cannot be used.
        """
        from reasoningbank.services.upkeep import reembed

        return reembed.reembed(self._engine, embedder, progress)

    def backup(self, target: str | os.PathLike[str]) -> None:
        """Copy the project, as it is at one moment, into a new folder.

        Put back in the project's place, it is the project. A plain copy of the files of a bank in use is not safe.

        Raises:
            InvalidInputError: the folder is there already.
            ProjectNotFoundError: nothing was recorded yet.
        """
        from reasoningbank.services.upkeep import state as upkeep

        upkeep.backup(self._engine, Path(target).expanduser().absolute())

    def close(self) -> None:
        """Close the files. Closing twice is fine; using a closed bank is not."""
        self._engine.close()

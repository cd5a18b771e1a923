"""The consolidating part of the API: near-duplicates become one, and what does not help goes out of service."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reasoningbank.bank.handle import Handle
from reasoningbank.results import Consolidated, Pruned, Unmerged
from reasoningbank.upkeep import THRESHOLD
from reasoningbank.upkeep.pruning import UNUSED

if TYPE_CHECKING:
    from reasoningbank.llm.base import Chat


class Consolidating(Handle):
    """Consolidate, undo a merge, prune."""

    def consolidate(
        self,
        *,
        threshold: float = THRESHOLD,
        dry_run: bool = True,
        max_clusters: int | None = None,
        chat: Chat | Callable[..., Any] | None = None,
        force: bool = False,
    ) -> Consolidated:
        """Find memories that say the same in other words; with `dry_run` False, merge them.

        Merged is only what agrees in everything that tells lessons apart: outcome, names, numbers, negation and the
        words that carry meaning. The sources are archived, with all their evidence, which counts for the merged memory
        as long as the merge stands; `undo_merge` takes it apart again. Memories that speak against each other are
        linked (`contradicts`) and never merged.

        Args:
            threshold: cosine above which two memories are compared at all, in [0, 1].
            dry_run: only propose.
            max_clusters: the most merges; all when None.
            chat: a model that writes the merged lesson. Without one, the text of the best source stands.
            force: also when the last consolidation was less than a day ago.

        Raises:
            InvalidInputError: an argument that is not allowed.
        """
        from reasoningbank.services.upkeep import consolidate

        asked = None
        if chat is not None:
            from reasoningbank.llm.base import as_chat

            asked = as_chat(chat)
        return consolidate.consolidate(
            self._engine,
            self._engine.now(),
            threshold=threshold,
            dry_run=dry_run,
            max_clusters=max_clusters,
            chat=asked,
            force=force,
        )

    def prune(self, *, dry_run: bool = True, unused_days: float = UNUSED.days) -> Pruned:
        """Say what should be taken out of service; with `dry_run` False, archive it. `restore` undoes each.

        These are proposed: what has evidence against it (confidence below 0.3, with a weight of 3 and more against);
        what was not used for `unused_days` and is doubted (confidence below 0.5); and, above the setting
        `max_memories`, what is believed least, of equals what was not touched for longest, and last of all what is
        newer than 30 days and judged by nobody. What somebody changed or restored is not taken for old evidence
        against it.

        Raises:
            InvalidInputError: an argument that is not allowed.
        """
        from reasoningbank.services.upkeep import prune

        return prune.prune(self._engine, self._engine.now(), dry_run=dry_run, unused_days=unused_days)

    def undo_merge(self, memory_id: str) -> Unmerged:
        """Take a merged memory apart: its sources are served again, each with its own evidence, and it is archived.

        They are not merged with each other again.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
            InvalidInputError: it was not merged from others, or its sources are gone.
        """
        from reasoningbank.services.upkeep import consolidate

        return consolidate.undo_merge(self._engine, memory_id)

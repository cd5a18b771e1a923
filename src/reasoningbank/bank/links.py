"""bank.links: how memories relate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace

if TYPE_CHECKING:
    from reasoningbank.links import Link, Linked, SuggestedLink
    from reasoningbank.services import links
else:
    links = Later("reasoningbank.services.links")


class Links(Namespace):
    """Set, removed, shown and suggested. An id that is not in this project raises MemoryNotFoundError."""

    def add(
        self,
        source_id: str,
        target_id: str,
        type: str,
        *,
        strength: float = 1.0,
        evidence: str = "",
        by: str | None = None,
    ) -> Linked:
        """Say how one memory relates to another: "source type target", as in "a requires b".

        Set again, a link takes the new strength, evidence and judge. It goes when one of its memories is deleted.

        Args:
            type: causes, requires, conflicts, enhances, alternative, duplicate_of, contradicts, refines or
                architectural_analogy; another is taken with a warning. `recall(expand_links=True)` brings along what
                is required, and warns of what conflicts or contradicts.
            strength: above 0, up to 1.
            evidence: why, in words, up to 1,000 characters; secrets are removed.
            by: who says so.

        Raises:
            InvalidInputError: both are the same, or a value that is not allowed.
        """
        source, target = arguments.memory_id(source_id), arguments.memory_id(target_id)
        return links.link(self._engine, source, target, type, strength=strength, evidence=evidence, by=by)

    def remove(self, source_id: str, target_id: str, type: str | None = None) -> int:
        """Remove the links from one memory to another, of one type or of all; return how many there were."""
        source, target = arguments.memory_id(source_id), arguments.memory_id(target_id)
        return links.unlink(self._engine, source, target, type)

    def of(self, memory_id: str) -> list[Link]:
        """Return the links of a memory: those from it first, then those to it."""
        return links.links_of(self._engine, arguments.memory_id(memory_id))

    def suggest(self, limit: int = 100) -> list[SuggestedLink]:
        """Return links that the evidence speaks for, the strongest first. Nothing is set: `add` does that.

        Two memories that were handed out in the same runs, at least three and half of all runs of either, enhance each
        other, or conflict where most of those runs failed. Two that are alike are alternatives, duplicates when nearly
        the same, and contradict each other when one is from a success and the other from a failure. Pairs that are
        linked already are left out.

        Args:
            limit: 1 to 1,000.
        """
        return links.suggest_links(self._engine, arguments.page_limit(limit))

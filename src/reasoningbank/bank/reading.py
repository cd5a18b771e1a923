"""The reading half of the API. Nothing here changes anything on the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reasoningbank.bank.filtering import as_outcome, as_states, filters_of
from reasoningbank.bank.handle import Handle
from reasoningbank.memory import Memory, Outcome, State
from reasoningbank.results import Page, Recommendation, SearchResult

if TYPE_CHECKING:
    from reasoningbank.services.search.retrieve import Wanted


class Reading(Handle):
    """Search, recommend, get, list and count."""

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        min_confidence: float | None = None,
        strict: bool = False,
        outcome: Outcome | str | None = None,
        tags: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        policy: str = "relevance",
    ) -> SearchResult:
        """Find the memories that fit a query, best first. Nothing is changed or counted.

        Args:
            query: what is to be done, in words.
            k: how many are wanted, at least 1; fewer come when fewer are relevant.
            min_confidence: the floor, in [0, 1]; the bank's setting (0.7) when None. Memories at or above it are proven
                and come first; rejected ones are withheld; the rest, new lessons among them, fill the slots left.
            strict: proven memories only.
            outcome: only lessons from successes, or only from failures.
            tags: only memories that have all of these.
            where: only memories whose metadata hold these values.
            policy: how to rank: relevance, similarity, four_factor, weighted or mmr.

        Raises:
            InvalidInputError: an empty query, or an argument that is not allowed.
            EmbedderMismatchError: the bank holds vectors of another embedder.
        """
        from reasoningbank.services.search import retrieve

        wanted = self._wanted(
            k, min_confidence=min_confidence, strict=strict, outcome=outcome, tags=tags, where=where, policy=policy
        )
        return retrieve.search(self._engine, retrieve.checked_query(query), wanted)

    def recommend(self, task: str) -> Recommendation:
        """Return the strategy that fits a task best, with its confidence, what speaks for it, and the runner-up.

        Strategies are lessons from successes. Nothing is changed or counted: `recall` hands lessons out.

        Raises:
            InvalidInputError: an empty task.
            EmbedderMismatchError: the bank holds vectors of another embedder.
        """
        from reasoningbank.services.search import recommend, retrieve

        wanted = self._wanted(
            2, min_confidence=None, strict=False, outcome=Outcome.SUCCESS, tags=None, where=None, policy="relevance"
        )
        return recommend.recommend(self._engine, retrieve.checked_query(task), wanted)

    def _wanted(
        self,
        k: int,
        *,
        min_confidence: float | None,
        strict: bool,
        outcome: Outcome | str | None,
        tags: Sequence[str] | None,
        where: Mapping[str, Any] | None,
        policy: str,
    ) -> Wanted:
        from reasoningbank.services.search import retrieve

        return retrieve.Wanted(
            k=retrieve.checked_k(k),
            floor=retrieve.checked_floor(self._settings.floor if min_confidence is None else min_confidence),
            strict=strict,
            filters=filters_of(outcome=outcome, tags=tags, where=where),
            policy=retrieve.checked_policy(policy),
        )

    def get(self, memory_id: str) -> Memory:
        """Return a memory, whatever its state.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.record import record

        return record.get(self._engine, memory_id)

    def list(
        self,
        *,
        tag: str | None = None,
        outcome: Outcome | str | None = None,
        state: State | str | None = State.ACTIVE,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> Page:
        """Return a page of memories in the order they were recorded.

        Args:
            state: active, archived, quarantined, or None for all.
            text: must occur in title, description, content or applies_when, whatever the case.
            metadata: values that the metadata must hold.
            after: `next` of the page before.
            limit: 1 to 1,000.
        """
        from reasoningbank.services.record import record

        filters = filters_of(
            outcome=outcome, tags=None if tag is None else [tag], where=metadata, states=as_states(state), text=text
        )
        memories, following = record.page(self._engine, filters, after or 0, record.checked_limit(limit))
        return Page(tuple(memories), following)

    def count(
        self,
        *,
        tag: str | None = None,
        outcome: Outcome | str | None = None,
        state: State | str | None = State.ACTIVE,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> int:
        """Return how many memories pass the filters of `list`."""
        from reasoningbank.services.record import record

        filters = filters_of(
            outcome=as_outcome(outcome),
            tags=None if tag is None else [tag],
            where=metadata,
            states=as_states(state),
            text=text,
        )
        return record.count(self._engine, filters)

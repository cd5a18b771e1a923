"""The writing part of the API: recording, changing and deleting memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reasoningbank.bank.handle import Handle
from reasoningbank.memory import Draft, Memory, Outcome, Source
from reasoningbank.results import Recorded
from reasoningbank.validation import validated


class Writing(Handle):
    """Record, update and delete."""

    def record(
        self,
        title: str,
        content: str,
        *,
        outcome: Outcome | str,
        description: str = "",
        applies_when: str = "",
        tags: Sequence[str] = (),
        confidence: float | None = None,
        source: Source | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Recorded:
        """Store a lesson.

        The same lesson, exactly or trivially rewritten, is not stored twice: the one that is there comes back, with
        `created` False. A near duplicate is stored and reported as `possible_duplicate_of`.

        Args:
            title: a few words, up to 200 characters.
            content: what to do, up to 20,000 characters.
            outcome: "success" for a strategy that worked, "failure" for a guard-rail.
            description: one sentence on what it is about, up to 1,000 characters.
            applies_when: when it applies, and when not, up to 1,000 characters.
            tags: up to 64, of up to 64 characters.
            confidence: the belief to start from, in [0, 1]; 0.8 by hand, 0.6 or 0.5 distilled when None.
            source: where it comes from.
            metadata: anything JSON can hold.

        Raises:
            InvalidInputError: a value that is not allowed; LimitExceededError names the limit.
            StorageError: the disk refused; nothing was stored.
        """
        from reasoningbank.services.record import record

        draft = validated(
            Draft,
            {
                "title": title,
                "content": content,
                "outcome": outcome,
                "description": description,
                "applies_when": applies_when,
                "tags": tags,
                "confidence": confidence,
                "source": Source() if source is None else source,
                "metadata": {} if metadata is None else dict(metadata),
            },
        )
        return record.record(self._engine, draft)

    def record_many(
        self, drafts: Iterable[Draft | Mapping[str, Any]], *, ids: Sequence[str | None] | None = None
    ) -> list[Recorded]:
        """Store many lessons at once, in their order. Near duplicates are not looked for.

        Each batch is one short transaction, so that other writers are not kept waiting; a batch is whole or not there.

        Args:
            drafts: lessons, or dictionaries of the arguments of `record`.
            ids: the id that each is to have, or None for a new one; a memory with this id is left as it is.

        Raises:
            InvalidInputError: one of them is not allowed; nothing was stored.
        """
        from reasoningbank.services.record import record

        checked = [draft if isinstance(draft, Draft) else validated(Draft, draft) for draft in drafts]
        wanted = [None] * len(checked) if ids is None else list(ids)
        return record.record_many(self._engine, list(zip(checked, wanted, strict=True)))

    def update(self, memory_id: str, /, **changes: Any) -> Memory:
        """Change some fields of a memory; what is not named stays.

        Changing what it says (title, content, description, applies_when) starts its evidence anew: trust in one text is
        not trust in another.

        Args:
            changes: title, content, description, applies_when, outcome, tags, metadata, source, confidence (the belief
                to start from).

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
            InvalidInputError: an unknown field or a value that is not allowed.
        """
        from reasoningbank.services.record import record

        return record.update(self._engine, memory_id, changes)

    def delete(self, memory_id: str) -> bool:
        """Delete a memory for good, with its evidence; False when there was none.

        Raises:
            InvalidInputError: the id is blank or no text.
        """
        from reasoningbank.services.record import record

        return record.delete(self._engine, [memory_id])[memory_id]

    def delete_many(self, memory_ids: Iterable[str]) -> dict[str, bool]:
        """Delete several memories in one transaction; say for each id whether there was one."""
        from reasoningbank.services.record import record

        return record.delete(self._engine, memory_ids)

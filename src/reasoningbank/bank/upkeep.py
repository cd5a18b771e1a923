"""bank.upkeep: status, maintenance and repair, and which memories are in service."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Memory
from reasoningbank.results import Consolidated, Pruned, Unmerged
from reasoningbank.signals import as_utc
from reasoningbank.status import Maintained, Metrics, Pin, Repair, Salvaged, Status
from reasoningbank.upkeep import THRESHOLD
from reasoningbank.upkeep.pruning import UNUSED

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder
    from reasoningbank.llm import base
    from reasoningbank.llm.base import Chat
    from reasoningbank.services.credit import metrics
    from reasoningbank.services.record import browsing, history, pinning, record, trust
    from reasoningbank.services.sharing import state as sharing
    from reasoningbank.services.upkeep import consolidate, maintain, reembed, saving, state
else:
    base, metrics = Later.each("reasoningbank", "llm.base", "services.credit.metrics")
    browsing, history, pinning = Later.each("reasoningbank.services.record", "browsing", "history", "pinning")
    record, trust = Later.each("reasoningbank.services.record", "record", "trust")
    consolidate, maintain = Later.each("reasoningbank.services.upkeep", "consolidate", "maintain")
    sharing = Later("reasoningbank.services.sharing.state")
    reembed, saving, state = Later.each("reasoningbank.services.upkeep", "reembed", "saving", "state")


LONGEST_WINDOW = 36_500
MOST_PARTS = 100


class Upkeep(Namespace):
    """Status and metrics, maintenance and repair, and which memories are in service.

    `status` and `metrics` change nothing. But for deleting, an id that is not in this project raises
    MemoryNotFoundError.
    """

    def status(self) -> Status:
        """Say where the bank is, what is in it, and what is not as it should be. Changes nothing."""
        found = state.status(self._engine)
        return replace(found, shared=tuple(sharing.status(self._handle.levels))) if self._handle.shared else found

    def metrics(self, days: int = 30, parts: int = 0) -> Metrics:
        """Say how well the bank did in the last 1 to 36,500 days: what it promised, and what came of it.

        Args:
            parts: also the figures of so many equal parts of these days (`trend`), up to 100.
        """
        window = arguments.whole("days", days, 1, LONGEST_WINDOW)
        return metrics.metrics(self._engine, window, arguments.whole("parts", parts, 0, MOST_PARTS))

    def standings(self) -> dict[str, int]:
        """Return how many memories are proven, provisional and rejected, by the setting `floor`; those out of service
        are counted as archived and quarantined."""
        return browsing.counts(self._engine, self._handle.settings.floor)

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
        return maintain.maintain(self._engine, self._engine.now() if now is None else as_utc(now), dry_run=dry_run)

    def doctor(self, *, dry_run: bool = False) -> list[Repair]:
        """Compare what is derived with what it is derived from, and derive again what differs.

        Of memories and of the graph: keyword indexes, vectors, tallies and verdicts. Links, edges and pointers whose
        end is gone are removed. Memories, nodes and signals are never touched.

        Args:
            dry_run: only say what would be done.
        """
        return state.doctor(self._engine, dry_run=dry_run)

    def rebuild(self) -> None:
        """Derive the keyword indexes, the tallies and the vector indexes again; they come out the same.

        Of memories and of nodes of the graph; what leads nowhere (a link, an edge, a vector) is removed.

        Raises:
            ProjectNotFoundError: nothing was recorded yet.
        """
        state.rebuild(self._engine)

    def reembed(
        self, embedder: str | Embedder | None = None, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Embed all memories and nodes of the graph anew, with another embedder or the same, and use it from then on.

        Returns how many memories were embedded. Interrupted, it goes on where it stopped. Other processes go on reading
        and writing until the swap; from then on those with the old embedder are told so (EmbedderMismatchError).

        Args:
            embedder: the new one; this handle's own when None, which also embeds what could not be embedded before.
            progress: called with (done, to do in all).

        Raises:
            ProjectNotFoundError: nothing was recorded yet.
            EmbeddingError: the embedder cannot be used, or more would be without vectors than before; nothing was
                replaced then.
        """
        return reembed.reembed(self._engine, embedder, progress)

    def backup(self, target: str | os.PathLike[str]) -> None:
        """Copy the project, as it is at one moment, into a new folder.

        Put back in the project's place, it is the project. A plain copy of the files of a bank in use is not safe.

        Raises:
            InvalidInputError: the folder is there already.
            ProjectNotFoundError: nothing was recorded yet.
        """
        state.backup(self._engine, Path(target).expanduser().absolute())

    def restore_backup(self, source: str | os.PathLike[str]) -> Path | None:
        """Put a backup (of `backup`, or of `salvage`) in the project's place, and derive again what is derived.

        What was there is kept, in a folder inside the new one. Handles that others have open refuse from then on.

        Returns:
            Where what was there is kept; None when there was nothing.

        Raises:
            InvalidInputError: it is no backup.
            ScopeError: it is another project's.
            StorageError: it is damaged, or the disk refuses; what was there stays.
        """
        return saving.restore_backup(self._engine, Path(source).expanduser().absolute())

    def salvage(self, target: str | os.PathLike[str]) -> Salvaged:
        """Save what can be read of a damaged project into a new folder, which `restore_backup` puts in its place.

        Nothing in the project changes. The signal log is copied whole, and what is derived is made anew from it.

        Raises:
            InvalidInputError: the folder is there already.
            ProjectNotFoundError: there is no database.
            CorruptionError: nothing at all can be read of it.
        """
        return saving.salvage(self._engine, Path(target).expanduser().absolute())

    # -- which memories are in service ---------------------------------------------------------------------------------

    def review(self, limit: int = 100) -> list[Memory]:
        """Return what a person should look at, with what was found in each (`findings`), up to 1,000 memories.

        First what is quarantined, then what is served in doubt (`memory.doubted`): behind others that fit as well. Both
        in the order they were recorded. `approve` ends it, `archive` takes the memory out of service.
        """
        return trust.review(self._engine, arguments.whole("limit", limit, 1, 1_000))

    def approve(self, memory_id: str) -> Memory:
        """Serve a quarantined memory from now on, or end the doubt about one. `review` shows them, with what was found.

        Raises:
            InvalidInputError: it is neither quarantined nor in doubt, or another memory in service says the same.
        """
        return trust.approve(self._engine, arguments.memory_id(memory_id))

    def archive(self, memory_id: str, *, reason: str | None = None, by: str | None = None) -> Memory:
        """Take a memory out of service. It stays, with its evidence; `restore` undoes it.

        Args:
            reason: why, in words, up to 1,000 characters; a lesson that says the same is held back for it.
            by: who says so; a person when None.
        """
        return trust.archive(self._engine, arguments.memory_id(memory_id), reason=reason, by=by)

    def restore(self, memory_id: str, *, revision: int | None = None) -> Memory:
        """Put an archived memory back into the state it was in; or let a memory say again what it said.

        Args:
            revision: number of one of `bank.revisions(memory_id)`: its text comes back, with the evidence that it had
                then, which can no longer be revised. What the memory says now is kept as a revision. Its state stays.

        Raises:
            InvalidInputError: it is not archived, it has no such revision, or another memory in service says the same.
        """
        if revision is not None:
            number = arguments.whole("revision", revision, 1)
            return history.restore_revision(self._engine, arguments.memory_id(memory_id), number)
        return trust.restore(self._engine, arguments.memory_id(memory_id))

    def pin(self, memory_id: str, tag: str | None = None) -> Pin:
        """Show a memory at every recall, whatever the task and the filters: before what fits, and credited like that.

        Pins take no room from what is recalled: all together they have the tokens of the setting `pin_tokens`, where
        what is believed most comes first and the rest is counted in `withheld`. A hold-out never withholds them,
        `prune` and `consolidate` leave them alone. What is out of service is not shown while it is.

        Args:
            tag: show it only where a recall asks for this tag (in `all` or `any`); always when None. A recall that
                leaves out a tag (`none`) is shown no pin that has it.

        Raises:
            InvalidInputError: it is archived or quarantined.
        """
        return pinning.pin(self._engine, arguments.memory_id(memory_id), arguments.tag(tag) or "")

    def unpin(self, memory_id: str, tag: str | None = None) -> bool:
        """Remove a memory's pin under a tag, or all of its pins when None; say whether there was one."""
        return pinning.unpin(self._engine, arguments.memory_id(memory_id), arguments.tag(tag))

    def pins(self) -> list[Pin]:
        """Return what is pinned, also what is out of service, in the order the memories were recorded."""
        return pinning.every_pin(self._engine)

    def delete_many(self, memory_ids: Iterable[str], *, mark: bool = True) -> dict[str, bool]:
        """Delete several memories for good, in one transaction; say for each id whether there was one.

        Args:
            mark: as in `bank.delete`.
        """
        ids = arguments.memory_ids(memory_ids)
        deleted = record.delete(self._engine, [*ids.values()], mark=arguments.flag("mark", mark))
        return {given: deleted[memory_id] for given, memory_id in ids.items()}

    def consolidate(
        self,
        *,
        threshold: float = THRESHOLD,
        dry_run: bool = True,
        max_clusters: int | None = None,
        chat: Chat | Callable[..., Any] | None = None,
        force: bool = False,
    ) -> Consolidated:
        """Find memories that say the same; with `dry_run` False, merge those that do so beyond doubt.

        Merged unasked is only what is the same word for word, but for spelling, markup, articles and where a clause
        stands. What says the same in other words, as far as outcome, names, numbers, negation and the words that carry
        meaning tell, is `proposed`: `merge` carries one of those out. The sources of a merge are archived, with all
        their evidence, which counts for the merged memory as long as the merge stands; `undo_merge` takes it apart
        again. Memories that speak against each other are linked (`contradicts`) and never merged.

        Args:
            threshold: cosine above which two memories are compared at all, in [0, 1].
            dry_run: only propose.
            max_clusters: the most merges, proposed ones included; all when None.
            chat: a model that writes the merged lesson. Without one, the text of the best source stands.
            force: also when the last consolidation was less than a day ago.
        """
        return consolidate.consolidate(
            self._engine,
            self._engine.now(),
            threshold=arguments.number("threshold", threshold, 0, 1),
            dry_run=dry_run,
            max_clusters=None if max_clusters is None else arguments.whole("max_clusters", max_clusters, 0),
            chat=None if chat is None else base.as_chat(chat),
            force=force,
        )

    def prune(self, *, dry_run: bool = True, unused_days: float = UNUSED.days) -> Pruned:
        """Say what should be taken out of service; with `dry_run` False, archive it. `restore` undoes each.

        These are proposed: what has evidence against it (confidence below 0.3, with a weight of 3 and more against);
        what was not used for `unused_days` and is doubted (confidence below 0.5); and, above the setting
        `max_memories`, what is believed least, of equals what was not touched for longest, and last of all what is
        newer than 30 days and judged by nobody. What somebody changed or restored is not taken for old evidence
        against it.
        """
        unused = arguments.number("unused_days", unused_days, 0)
        return maintain.prune(self._engine, self._engine.now(), dry_run=dry_run, unused_days=unused)

    def merge(self, memory_ids: Iterable[str], *, chat: Chat | Callable[..., Any] | None = None) -> Memory:
        """Make one memory of two and more, because somebody says that they say the same; return it.

        The sources are archived, with all their evidence, which counts for the merged memory; `undo_merge` takes it
        apart again.

        Args:
            memory_ids: of those to merge: the text of the first stands.
            chat: a model that writes the merged lesson.

        Raises:
            InvalidInputError: fewer than two, or one is not in service, or their outcomes differ, or an untrusted one
                is of another source than the others.
            MemoryNotFoundError: one is not in this project.
            DistillationError: the model gave no lesson that could be taken.
        """
        ids = [*arguments.memory_ids(memory_ids).values()]
        if len(ids) < 2:
            raise InvalidInputError(f"to merge takes two memories and more, and there are {len(ids)}")
        return consolidate.merge_these(self._engine, ids, None if chat is None else base.as_chat(chat))

    def undo_merge(self, memory_id: str) -> Unmerged:
        """Take a merged memory apart: its sources are served again, each with its own evidence, and it is archived.

        They are not merged with each other again.

        Raises:
            InvalidInputError: it was not merged from others, or its sources are gone.
        """
        return consolidate.undo_merge(self._engine, arguments.memory_id(memory_id))

"""The learning part of the API: recall before a task, credit after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Event
from typing import Any, Unpack

from reasoningbank.bank.options import RecallOptions
from reasoningbank.bank.reading import Reading
from reasoningbank.bank.run import Run
from reasoningbank.bank.runs import Runs
from reasoningbank.episode import Episode, EpisodePage, Verdict, as_verdict
from reasoningbank.memory import Outcome
from reasoningbank.results import Feedback, Recall, Reported


class Learning(Reading, Runs):
    """Recall, episodes, feedback and reports."""

    def recall(
        self,
        task: str,
        k: int = 3,
        *,
        ref: str | None = None,
        thread: str | None = None,
        max_tokens: int = 500,
        deadline: datetime | None = None,
        expand_links: bool = False,
        min_confidence: float | None = None,
        strict: bool = False,
        outcome: Outcome | str | None = None,
        tags: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        policy: str = "relevance",
    ) -> Recall:
        """Hand out the memories that fit a task, and open its episode.

        One usage signal is counted for each memory handed out, and for no other.

        Args:
            task: what is to be done, in words.
            k: how many memories at the most.
            ref: the reference to open the episode under; a new one when None. A reference that is known already gives
                back what was handed out then, and counts nothing anew.
            thread: the conversation or checkpoint thread, by which a resume can find the episode.
            max_tokens: budget of the prompt block `text`; whole lessons only.
            deadline: when the clock is past it, also at the very end, no episode is opened.
            expand_links: bring along what the memories found require (see `link`), up to 5 beyond `k`, whatever the
                filters, in the same token budget and with the same credit; and warn of those that conflict.

        The other arguments are those of `search`.

        Raises:
            DeadlineExceededError: it came too late, and left nothing behind.
            InvalidInputError, EmbedderMismatchError, StorageError: as in `search` and `record`.
        """
        return self._recalling(
            task,
            k,
            ref=ref,
            thread=thread,
            max_tokens=max_tokens,
            deadline=deadline,
            expand_links=expand_links,
            min_confidence=min_confidence,
            strict=strict,
            outcome=outcome,
            tags=tags,
            where=where,
            policy=policy,
        )(None)

    def _recalling(self, task: str, k: int, **options: Unpack[RecallOptions]) -> Callable[[Event | None], Recall]:
        """Check the arguments, and return what recalls; it opens no episode once its event is set."""
        from reasoningbank.services.search import recall, retrieve

        query = retrieve.checked_query(task)
        wanted = self._wanted(
            k,
            min_confidence=options.get("min_confidence"),
            strict=options.get("strict", False),
            outcome=options.get("outcome"),
            tags=options.get("tags"),
            where=options.get("where"),
            policy=options.get("policy", "relevance"),
        )
        return lambda given_up: recall.recall(
            self._engine,
            query,
            wanted,
            ref=options.get("ref"),
            thread=options.get("thread"),
            max_tokens=options.get("max_tokens", 500),
            deadline=options.get("deadline"),
            expand_links=options.get("expand_links", False),
            given_up=given_up,
        )

    def recall_within(
        self, task: str, k: int = 3, *, timeout: float = 0.5, fail_open: bool = True, **options: Unpack[RecallOptions]
    ) -> Recall:
        """Recall for an agent that must not wait, and must not break: `recall` with a time budget.

        A recall that fails or comes too late leaves no episode behind, and an empty Recall comes back: its `ref` is
        empty and `degraded` says why, which is also logged once at WARNING. Errors of scope and of the caller are
        raised all the same.

        Args:
            timeout: seconds to wait.
            fail_open: False raises instead of giving an empty Recall.
            task, k, options: those of `recall`.
        """
        run = self._recalling(task, k, **options)
        return self._engine.patience.recall(task, run, timeout=timeout, fail_open=fail_open)

    @contextmanager
    def episode(self, task: str, k: int = 3, **options: Unpack[RecallOptions]) -> Iterator[Run]:
        """Recall for a task, run it, and credit how it ended.

            with bank.episode("rename the files in ./in") as episode:
                answer = agent(episode.text)
                episode.report("success" if check(answer) else "failure")

        An exception is a failure, and goes on; an end without a report is unknown, which teaches nothing.

        Args:
            task, k, options: those of `recall`.
        """
        from reasoningbank.services.credit import credit

        run = Run(self, self.recall(task, k, **options))
        try:
            yield run
        except Exception as error:
            credit.close_if_open(self._engine, run.ref, Verdict.FAILURE, f"{type(error).__name__}: {error}"[:500])
            raise
        else:
            credit.close_if_open(self._engine, run.ref, Verdict.UNKNOWN, "ended without a report")

    def get_episode(self, ref: str | None = None, *, thread: str | None = None) -> Episode:
        """Return an episode: what was recalled for it, and how it ended.

        Args:
            ref: its reference.
            thread: in its place: the newest episode of this thread, as long as it could still be open.

        Raises:
            EpisodeNotFoundError: there is none.
            InvalidInputError: not exactly one of ref and thread.
        """
        from reasoningbank.services.credit import credit

        return credit.get_episode(self._engine, ref=ref, thread=thread)

    def list_episodes(
        self,
        *,
        thread: str | None = None,
        verdict: Verdict | str | None = None,
        is_open: bool | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> EpisodePage:
        """Return a page of episodes, the newest first.

        Args:
            thread: only those of this conversation.
            verdict: only those that ended so.
            is_open: only those without a verdict (True), or with one (False).
            after: `next` of the page before.
            limit: 1 to 1,000.

        Raises:
            EpisodeNotFoundError: there is no episode `after`.
        """
        from reasoningbank.services.credit import episodes

        return episodes.list_episodes(
            self._engine,
            after=after,
            thread=thread,
            verdict=None if verdict is None else as_verdict(verdict),
            is_open=is_open,
            limit=limit,
        )

    def report(
        self,
        verdict: Verdict | str | bool,
        *,
        ref: str | None = None,
        thread: str | None = None,
        reason: str | None = None,
        by: str | None = None,
        revise: bool = True,
    ) -> Reported:
        """Say how a run ended; exactly the memories that were recalled for it are credited.

        The same verdict again changes nothing; another verdict replaces the first. `unknown` teaches nothing, and takes
        back what an earlier verdict taught.

        Args:
            verdict: success, failure or unknown; True and False for the first two.
            ref: the episode's reference, as `recall` returned it.
            thread: in its place: the newest episode of this thread, as long as it could still be open.
            reason: in words; secrets are removed.
            by: who judged.
            revise: False leaves an episode that has a verdict already as it is.

        Raises:
            EpisodeNotFoundError: no such episode, or none of this thread within the time an episode stays open.
            InvalidInputError: not exactly one of ref and thread, or no verdict.
        """
        from reasoningbank.services.credit import credit

        return credit.report(
            self._engine, as_verdict(verdict), ref=ref, thread=thread, reason=reason, by=by, revise=revise
        )

    def feedback(
        self, memory_id: str, helpful: bool, *, ref: str | None = None, by: str | None = None, reason: str | None = None
    ) -> Feedback:
        """Count an explicit vote about one memory.

        One vote counts per memory and reference; the opposite one replaces it.

        Args:
            ref: the episode it is about, or any key that makes a repeated call count once. When None, the newest open
                episode that served the memory; when there is none, the vote stands for itself.
            by: who judged.
            reason: in words; secrets are removed.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.credit import credit

        return credit.feedback(self._engine, memory_id, helpful, ref=ref, by=by, reason=reason)

    def report_memory(self, memory_id: str, succeeded: bool, *, session_id: str | None = None) -> Feedback:
        """Count the outcome of a run for one memory alone (contextd's `memory_outcome`).

        Args:
            session_id: one outcome counts per memory and session. When None, the newest open episode that served the
                memory takes its place.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.credit import credit

        return credit.report_memory(self._engine, memory_id, succeeded, session_id=session_id)

    def report_stability(
        self, memory_id: str, survived: bool, *, ref: str | None = None, by: str | None = None
    ) -> Feedback:
        """Count whether a change that followed a memory survived seven days, or was reverted.

        Args:
            ref: the episode it is about, or any key that makes a repeated call count once.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.credit import credit

        return credit.report_stability(self._engine, memory_id, survived, ref=ref, by=by)

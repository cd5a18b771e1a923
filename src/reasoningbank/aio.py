"""The async facade: each call makes one hop to a worker thread, and has no logic of its own."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack

from reasoningbank.bank import ReasoningBank, Run
from reasoningbank.bank.options import RecallOptions
from reasoningbank.results import Hit, Recall

if TYPE_CHECKING:
    from reasoningbank.runs.trajectory import Trajectory

P = ParamSpec("P")
R = TypeVar("R")
Behind_co = TypeVar("Behind_co", covariant=True)


class _Facade(Generic[Behind_co]):
    """What is called through worker threads."""

    def __init__(self, behind: Behind_co) -> None:
        self._behind = behind


def _hop(
    method: Callable[Concatenate[Behind_co, P], R],
) -> Callable[Concatenate[_Facade[Behind_co], P], Coroutine[Any, Any, R]]:
    async def call(self: _Facade[Behind_co], /, *args: P.args, **kwargs: P.kwargs) -> R:
        from anyio import to_thread

        # Not abandoned on cancel: a write is either whole or not there, and no lock is left behind.
        return await to_thread.run_sync(functools.partial(method, self._behind, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


class AsyncRun(_Facade[Run]):
    """One run of a task in async code: `async with bank.episode(task) as run`; `step` and `report` are awaited."""

    @property
    def run(self) -> Run:
        """The run behind it."""
        return self._behind

    @property
    def recall(self) -> Recall:
        """What was handed out."""
        return self._behind.recall

    @property
    def ref(self) -> str:
        """The episode's reference."""
        return self._behind.ref

    @property
    def text(self) -> str:
        """The prompt block with the recalled lessons; empty when nothing fits."""
        return self._behind.text

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The memories handed out."""
        return self._behind.hits

    @property
    def trajectory(self) -> Trajectory:
        """The task and the steps so far, with the verdict if one was given: what `distill` and `enqueue` take."""
        return self._behind.trajectory

    step = _hop(Run.step)
    report = _hop(Run.report)


class AsyncReasoningBank(_Facade[ReasoningBank]):
    """A bank for async code. It works in any event loop, and in several."""

    def __init__(self, bank: ReasoningBank) -> None:
        super().__init__(bank)

    @property
    def bank(self) -> ReasoningBank:
        """The bank behind it; closing is its owner's."""
        return self._behind

    record = _hop(ReasoningBank.record)
    record_many = _hop(ReasoningBank.record_many)
    update = _hop(ReasoningBank.update)
    delete = _hop(ReasoningBank.delete)
    delete_many = _hop(ReasoningBank.delete_many)
    import_from = _hop(ReasoningBank.import_from)
    export_to = _hop(ReasoningBank.export_to)
    search = _hop(ReasoningBank.search)
    recommend = _hop(ReasoningBank.recommend)
    get = _hop(ReasoningBank.get)
    list = _hop(ReasoningBank.list)
    count = _hop(ReasoningBank.count)
    recall = _hop(ReasoningBank.recall)
    recall_within = _hop(ReasoningBank.recall_within)
    get_episode = _hop(ReasoningBank.get_episode)
    list_episodes = _hop(ReasoningBank.list_episodes)
    report = _hop(ReasoningBank.report)
    feedback = _hop(ReasoningBank.feedback)
    report_memory = _hop(ReasoningBank.report_memory)
    report_stability = _hop(ReasoningBank.report_stability)
    distill = _hop(ReasoningBank.distill)
    contrast = _hop(ReasoningBank.contrast)
    scale = _hop(ReasoningBank.scale)
    enqueue = _hop(ReasoningBank.enqueue)
    enqueue_anti_pattern = _hop(ReasoningBank.enqueue_anti_pattern)
    job = _hop(ReasoningBank.job)
    jobs = _hop(ReasoningBank.jobs)
    retry = _hop(ReasoningBank.retry)
    approve = _hop(ReasoningBank.approve)
    archive = _hop(ReasoningBank.archive)
    restore = _hop(ReasoningBank.restore)
    forget = _hop(ReasoningBank.forget)
    remember = _hop(ReasoningBank.remember)
    add_steps = _hop(ReasoningBank.add_steps)
    trajectory = _hop(ReasoningBank.trajectory)
    runs_of = _hop(ReasoningBank.runs_of)
    link = _hop(ReasoningBank.link)
    unlink = _hop(ReasoningBank.unlink)
    links = _hop(ReasoningBank.links)
    suggest_links = _hop(ReasoningBank.suggest_links)
    consolidate = _hop(ReasoningBank.consolidate)
    prune = _hop(ReasoningBank.prune)
    undo_merge = _hop(ReasoningBank.undo_merge)
    add_node = _hop(ReasoningBank.add_node)
    add_edge = _hop(ReasoningBank.add_edge)
    get_node = _hop(ReasoningBank.get_node)
    edges_of = _hop(ReasoningBank.edges_of)
    list_nodes = _hop(ReasoningBank.list_nodes)
    link_nodes = _hop(ReasoningBank.link_nodes)
    approve_node = _hop(ReasoningBank.approve_node)
    delete_node = _hop(ReasoningBank.delete_node)
    delete_edge = _hop(ReasoningBank.delete_edge)
    search_nodes = _hop(ReasoningBank.search_nodes)
    recall_paths = _hop(ReasoningBank.recall_paths)
    export_graph = _hop(ReasoningBank.export_graph)
    import_graph = _hop(ReasoningBank.import_graph)
    status = _hop(ReasoningBank.status)
    metrics = _hop(ReasoningBank.metrics)
    warm = _hop(ReasoningBank.warm)
    maintain = _hop(ReasoningBank.maintain)
    doctor = _hop(ReasoningBank.doctor)
    rebuild = _hop(ReasoningBank.rebuild)
    reembed = _hop(ReasoningBank.reembed)
    backup = _hop(ReasoningBank.backup)
    close = _hop(ReasoningBank.close)

    @asynccontextmanager
    async def episode(self, task: str, k: int = 3, **options: Unpack[RecallOptions]) -> AsyncIterator[AsyncRun]:
        """Recall for a task, run it, and credit how it ended; see ReasoningBank.episode.

        async with bank.episode("rename the files in ./in") as run:
            answer = await agent(run.text)
            await run.report("success" if check(answer) else "failure")
        """
        from anyio import to_thread

        manager = self.bank.episode(task, k, **options)
        run = await to_thread.run_sync(manager.__enter__)
        try:
            yield AsyncRun(run)
        except Exception as error:
            await to_thread.run_sync(manager.__exit__, type(error), error, error.__traceback__)
            raise
        else:
            await to_thread.run_sync(manager.__exit__, None, None, None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

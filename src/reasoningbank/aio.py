"""The async facade: each call makes one hop to a worker thread, and has no logic of its own."""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack

from reasoningbank.address import ServerAddress
from reasoningbank.bank import (
    Exchange,
    Graph,
    Links,
    Queue,
    ReasoningBank,
    Replication,
    Run,
    Runs,
    Sharing,
    Sources,
    Upkeep,
)
from reasoningbank.bank.handle import RecallOptions, utc_now
from reasoningbank.config import Settings
from reasoningbank.errors import ReasoningBankError

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder
    from reasoningbank.formats.scrub_rules import ScrubRules
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
    """One run of a task in async code: `async with bank.episode(task) as run`; `step` and `report` are awaited.

    Attributes:
        run: the run behind it.
        recall, ref, text, hits: as in Run.
    """

    def __init__(self, behind: Run) -> None:
        super().__init__(behind)
        self.run = behind
        self.recall, self.ref, self.text, self.hits = behind.recall, behind.ref, behind.text, behind.hits

    @property
    def trajectory(self) -> Trajectory:
        """The task and the steps so far, with the verdict if one was given: what `distill` and `queue.put` take."""
        return self._behind.trajectory

    step = _hop(Run.step)
    failed = _hop(Run.failed)
    worked = _hop(Run.worked)
    report = _hop(Run.report)
    check = _hop(Run.check)


class AsyncGraph(_Facade[Graph]):
    """`bank.graph` in async code."""

    add_node = _hop(Graph.add_node)
    add_edge = _hop(Graph.add_edge)
    get_node = _hop(Graph.get_node)
    edges_of = _hop(Graph.edges_of)
    edges_among = _hop(Graph.edges_among)
    list_nodes = _hop(Graph.list_nodes)
    nodes_of = _hop(Graph.nodes_of)
    approve_node = _hop(Graph.approve_node)
    delete_node = _hop(Graph.delete_node)
    delete_edge = _hop(Graph.delete_edge)
    search = _hop(Graph.search)
    recall_paths = _hop(Graph.recall_paths)
    export_to = _hop(Graph.export_to)
    import_from = _hop(Graph.import_from)


class AsyncLinks(_Facade[Links]):
    """`bank.links` in async code."""

    add = _hop(Links.add)
    remove = _hop(Links.remove)
    of = _hop(Links.of)
    suggest = _hop(Links.suggest)


class AsyncQueue(_Facade[Queue]):
    """`bank.queue` in async code."""

    put = _hop(Queue.put)
    put_anti_pattern = _hop(Queue.put_anti_pattern)
    get = _hop(Queue.get)
    list = _hop(Queue.list)
    retry = _hop(Queue.retry)


class AsyncSources(_Facade[Sources]):
    """`bank.sources` in async code."""

    overview = _hop(Sources.overview)
    trust = _hop(Sources.trust)
    block = _hop(Sources.block)
    unblock = _hop(Sources.unblock)
    forget = _hop(Sources.forget)
    erase = _hop(Sources.erase)
    list = _hop(Sources.list)


class AsyncReplication(_Facade[Replication]):
    """`bank.replication` in async code."""

    capture = _hop(Replication.capture)
    have = _hop(Replication.have)
    blocks = _hop(Replication.blocks)
    ends = _hop(Replication.ends)
    take = _hop(Replication.take)
    refuse = _hop(Replication.refuse)
    heard = _hop(Replication.heard)
    status = _hop(Replication.status)


class AsyncRuns(_Facade[Runs]):
    """`bank.runs` in async code."""

    get = _hop(Runs.get)
    list = _hop(Runs.list)
    add_steps = _hop(Runs.add_steps)
    take_back = _hop(Runs.take_back)
    was_read = _hop(Runs.was_read)
    note_read = _hop(Runs.note_read)
    trajectory = _hop(Runs.trajectory)
    of = _hop(Runs.of)
    lessons = _hop(Runs.lessons)
    distill_many = _hop(Runs.distill_many)
    best_of = _hop(Runs.best_of)


class AsyncExchange(_Facade[Exchange]):
    """`bank.exchange` in async code."""

    import_from = _hop(Exchange.import_from)
    export_to = _hop(Exchange.export_to)


class AsyncUpkeep(_Facade[Upkeep]):
    """`bank.upkeep` in async code."""

    status = _hop(Upkeep.status)
    metrics = _hop(Upkeep.metrics)
    standings = _hop(Upkeep.standings)
    warm = _hop(Upkeep.warm)
    maintain = _hop(Upkeep.maintain)
    doctor = _hop(Upkeep.doctor)
    rebuild = _hop(Upkeep.rebuild)
    reembed = _hop(Upkeep.reembed)
    backup = _hop(Upkeep.backup)
    review = _hop(Upkeep.review)
    approve = _hop(Upkeep.approve)
    archive = _hop(Upkeep.archive)
    restore = _hop(Upkeep.restore)
    pin = _hop(Upkeep.pin)
    restore_backup = _hop(Upkeep.restore_backup)
    salvage = _hop(Upkeep.salvage)
    unpin = _hop(Upkeep.unpin)
    pins = _hop(Upkeep.pins)
    delete_many = _hop(Upkeep.delete_many)
    consolidate = _hop(Upkeep.consolidate)
    merge = _hop(Upkeep.merge)
    undo_merge = _hop(Upkeep.undo_merge)
    prune = _hop(Upkeep.prune)


class AsyncSharing(_Facade[Sharing]):
    """`bank.sharing` in async code."""

    status = _hop(Sharing.status)
    check = _hop(Sharing.check)
    promote = _hop(Sharing.promote)
    suggest_promotions = _hop(Sharing.suggest_promotions)
    review = _hop(Sharing.review)
    approve = _hop(Sharing.approve)
    demote = _hop(Sharing.demote)
    links = _hop(Sharing.links)
    correct = _hop(Sharing.correct)


class AsyncReasoningBank(_Facade[ReasoningBank]):
    """A bank for async code. It works in any event loop, and in several.

    Attributes:
        bank: the bank behind it; closing is its owner's. A worker of its queue is made with this one.
        graph, links, queue, sources, runs, exchange, replication, upkeep, sharing: its parts, as in ReasoningBank.
    """

    @classmethod
    async def create(
        cls,
        root: str | os.PathLike[str] | ServerAddress | None = None,
        *,
        tenant: str,
        project: str,
        embedder: str | Embedder | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        scrub_rules: ScrubRules | None = None,
        clock: Callable[[], datetime] = utc_now,
        shared: Sequence[str] = (),
        person: str | None = None,
    ) -> Self:
        """Return a bank that is made and made ready in a worker thread, so that no event loop waits.

        The arguments are those of ReasoningBank. What cannot be made ready, such as an endpoint that is down, its first
        call will say.
        """
        from anyio import to_thread

        def make() -> ReasoningBank:
            bank = ReasoningBank(
                root,
                tenant=tenant,
                project=project,
                embedder=embedder,
                settings=settings,
                scrub_rules=scrub_rules,
                clock=clock,
                shared=shared,
                person=person,
            )
            with suppress(ReasoningBankError):
                bank.upkeep.warm()
            return bank

        return cls(await to_thread.run_sync(make))

    def __init__(self, bank: ReasoningBank) -> None:
        super().__init__(bank)
        self.bank = bank
        self.graph, self.links, self.queue = AsyncGraph(bank.graph), AsyncLinks(bank.links), AsyncQueue(bank.queue)
        self.sources, self.runs = AsyncSources(bank.sources), AsyncRuns(bank.runs)
        self.exchange, self.upkeep = AsyncExchange(bank.exchange), AsyncUpkeep(bank.upkeep)
        self.sharing, self.replication = AsyncSharing(bank.sharing), AsyncReplication(bank.replication)

    now = _hop(ReasoningBank.now)
    record = _hop(ReasoningBank.record)
    record_many = _hop(ReasoningBank.record_many)
    update = _hop(ReasoningBank.update)
    revisions = _hop(ReasoningBank.revisions)
    supersede = _hop(ReasoningBank.supersede)
    delete = _hop(ReasoningBank.delete)
    get = _hop(ReasoningBank.get)
    resolve = _hop(ReasoningBank.resolve)
    list = _hop(ReasoningBank.list)
    count = _hop(ReasoningBank.count)
    evidence = _hop(ReasoningBank.evidence)
    search = _hop(ReasoningBank.search)
    recommend = _hop(ReasoningBank.recommend)
    recall = _hop(ReasoningBank.recall)
    recall_failure = _hop(ReasoningBank.recall_failure)
    report_act = _hop(ReasoningBank.report_act)
    report = _hop(ReasoningBank.report)
    vote = _hop(ReasoningBank.vote)
    lift = _hop(ReasoningBank.lift)
    distill = _hop(ReasoningBank.distill)
    close = _hop(ReasoningBank.close)
    with_shared = _hop(ReasoningBank.with_shared)

    @asynccontextmanager
    async def episode(self, task: str, limit: int = 3, **options: Unpack[RecallOptions]) -> AsyncIterator[AsyncRun]:
        """Recall for a task, run it, and credit how it ended; see ReasoningBank.episode.

        async with bank.episode("rename the files in ./in") as run:
            answer = await agent(run.text)
            await run.report("success" if check(answer) else "failure")
        """
        from anyio import to_thread

        manager = self.bank.episode(task, limit, **options)
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

    async def __aexit__(self, *_: object) -> None:
        await self.close()

# long: the whole API of every day, read as one page
"""The bank: one handle, bound to one project of one tenant."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar, Unpack

from reasoningbank import arguments, moments
from reasoningbank.address import ServerAddress
from reasoningbank.bank.exchange import Exchange
from reasoningbank.bank.graph import Graph
from reasoningbank.bank.handle import Handle, Later, Namespace, RecallOptions, as_distiller, as_run_judge, utc_now
from reasoningbank.bank.links import Links
from reasoningbank.bank.queue import Queue
from reasoningbank.bank.replication import Replication
from reasoningbank.bank.runs import Run, Runs
from reasoningbank.bank.sharing import Sharing, checked_banks
from reasoningbank.bank.sources import Sources
from reasoningbank.bank.upkeep import LONGEST_WINDOW, Upkeep
from reasoningbank.belief.belief import Standing
from reasoningbank.config import Settings
from reasoningbank.corrections import Revision, Superseded
from reasoningbank.filters import WEAK, FilterOptions, Filters
from reasoningbank.memory import Draft, Memory, Source, State
from reasoningbank.results import Page, Recall, Recommendation, Recorded, Reported, SearchResult, Voted
from reasoningbank.runs.results import FailureRecall
from reasoningbank.services.deadline import OF_THE_CALLER
from reasoningbank.signals import Evidence
from reasoningbank.storage.root import checked_name
from reasoningbank.validation import validated
from reasoningbank.verdict import Verdict

if TYPE_CHECKING:
    from reasoningbank.bank.handle import AnyJudge
    from reasoningbank.distill.distillation import Distilled
    from reasoningbank.distill.distiller import Distiller
    from reasoningbank.embed.base import Embedder
    from reasoningbank.formats.scrub_rules import ScrubRules
    from reasoningbank.measures.lift_results import LiftReport
    from reasoningbank.screening import door
    from reasoningbank.services.credit import credit, lift, trail
    from reasoningbank.services.record import browsing, history, record
    from reasoningbank.services.record.browsing import Sort
    from reasoningbank.services.runs import distilling, trajectories
    from reasoningbank.services.search import failure as failing
    from reasoningbank.services.search import recall, recommend, repair, retrieve
    from reasoningbank.services.search.retrieve import Wanted
    from reasoningbank.services.sharing import credit as sharing_credit
    from reasoningbank.services.sharing import levels
    from reasoningbank.services.sharing import state as sharing_state
else:
    (door,) = Later.each("reasoningbank.screening", "door")
    credit, lift, trail = Later.each("reasoningbank.services.credit", "credit", "lift", "trail")
    browsing, history, record = Later.each("reasoningbank.services.record", "browsing", "history", "record")
    distilling, trajectories = Later.each("reasoningbank.services.runs", "distilling", "trajectories")
    recall, recommend, retrieve = Later.each("reasoningbank.services.search", "recall", "recommend", "retrieve")
    failing, repair = Later.each("reasoningbank.services.search", "failure", "repair")
    sharing_credit, levels, sharing_state = Later.each("reasoningbank.services.sharing", "credit", "levels", "state")

T = TypeVar("T")
PARTS: Final[tuple[Literal["tag", "memory"], ...]] = ("tag", "memory")
SORTS: Final[tuple[Sort, ...]] = ("most_believed", "least_believed", "most_used", "least_used")
KINDS: Final = ("memory", "run", "node", "edge", "job")


class ReasoningBank(Namespace):
    """An experience memory for agents: lessons from what worked, guard-rails from what failed.

        with ReasoningBank(tenant="acme", project="billing") as bank:
            bank.record("Quote paths", "Put paths in quotes: names hold blanks.", outcome="failure")
            with bank.episode("rename the scans in ./in") as run:
                answer = agent(run.text)
                run.report("success" if check(answer) else "failure")

    What is called every day stands on the bank itself; the rest is in its parts: `graph` (what was asked, answered,
    done and found, and how it is connected), `links` (how memories relate), `queue` (runs that wait to be distilled,
    and the workers that do it), `sources` (who brought memories and signals, and who is blocked), `runs`, `exchange`
    (memories in and out), `replication` (what banks that share no database tell one another), `upkeep` (status,
    maintenance and repair, and which memories are in service) and `sharing` (lessons that other projects have, too).

    But for deleting, an id that is not in this project raises MemoryNotFoundError; an argument that is not allowed
    InvalidInputError.

    A handle is safe for threads, for several processes on one folder, and across a fork. It opens its files at its
    first use; reading never makes a project.

    Args:
        root: the folder that holds the data; the user's data folder when None.
        tenant: whose data it is. There is no default.
        project: which project's. There is no default.
        embedder: "minilm" (local), "hash", "openai:<model>", a fastembed model's name, or an object with the contract;
            when None the one whose vectors the project holds, "minilm" where there are none yet.
        settings: a Settings, or a dictionary of its fields.
        scrub_rules: what else is a secret, and what is none: a RuleSet, rules, or a file of them (see
            docs/guides/security.md); the setting `scrub_rules` when None.
        clock: the only source of time.
        shared: the tenant's shared banks that are looked through, too, the nearest first, such as ("team:payments",
            "org"); see docs/guides/sharing.md. What is recorded goes to the project.
        person: who acts, where shared banks give rights to people.

    Attributes:
        root: the absolute root folder.
        tenant, project: their names, in NFC.
        shared, person: as they were given.
        settings: the settings in force.

    Raises:
        ScopeError: no tenant or no project.
        InvalidNameError: a name that is not allowed.
        InvalidInputError: an unknown setting, or a value that is not allowed.
    """

    def __init__(
        self,
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
    ) -> None:
        handle = Handle(
            root,
            tenant=tenant,
            project=project,
            embedder=embedder,
            settings=settings,
            scrub_rules=scrub_rules,
            clock=clock,
        )
        super().__init__(handle)
        handle.shared = checked_banks(shared)
        handle.person = None if person is None else checked_name(person, "person")
        self.shared: Final = handle.shared
        self.person: Final = handle.person
        self.root: Final = handle.root
        self.tenant: Final = handle.tenant
        self.project: Final = handle.project
        self.settings: Final = handle.settings
        self.graph, self.links, self.queue, self.sources = Graph(handle), Links(handle), Queue(handle), Sources(handle)
        self.exchange, self.upkeep, self.sharing = Exchange(handle), Upkeep(handle), Sharing(handle)
        self._with: dict[tuple[tuple[str, ...], str | None], ReasoningBank] = {}
        self.replication = Replication(handle)

    def __repr__(self) -> str:
        return f"ReasoningBank({str(self.root)!r}, tenant={self.tenant!r}, project={self.project!r})"

    def close(self) -> None:
        """Close the files. Closing twice is fine; using a closed bank is not."""
        for other in self._with.values():
            other.close()
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def with_shared(self, shared: Sequence[str], person: str | None = None) -> ReasoningBank:
        """Return this bank as one that looks through these shared banks, too; the same one each time.

        It uses this one's files, and is closed with it.
        """
        key = checked_banks(shared), self.person if person is None else checked_name(person, "person")
        if key == (self.shared, self.person):
            return self
        if key not in self._with:
            handle, other = self._handle.beside(*key), copy(self)
            other.__dict__ |= {"_handle": handle, "shared": key[0], "person": key[1], "_with": {}}
            other.__dict__ |= {"sharing": Sharing(handle), "upkeep": Upkeep(handle)}
            self._with[key] = other
        return self._with[key]

    @property
    def exists(self) -> bool:
        """Whether anything was begun in the project yet. Nothing is made."""
        return self._engine.project() is not None

    def now(self) -> datetime:
        """Return the time by the bank's clock, in UTC."""
        return self._engine.now()

    @property
    def runs(self) -> Runs:
        """Episodes, the steps that are kept of them, and lessons from several runs of a task."""
        return Runs(self._handle, self)

    # -- memories ----------------------------------------------------------------------------------------------------

    def record(
        self,
        title: str,
        content: str,
        *,
        outcome: Verdict | str,
        description: str = "",
        applies_when: str = "",
        tags: Sequence[str] = (),
        confidence: float | None = None,
        source: Source | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        signatures: Sequence[str] | None = None,
        occurred_at: datetime | date | str | None = None,
        expires_at: datetime | date | str | None = None,
        ttl: timedelta | float | str | None = None,
    ) -> Recorded:
        """Store a lesson.

        The same lesson is not stored twice: the one that is there comes back, with `created` False. The same is what
        nothing but Unicode form and white space outside code and quotes tells apart, of the same outcome. What is the
        same in a looser form, or near by meaning, is stored and names the other as `possible_duplicate_of`. A lesson
        that somebody took out of service stays there, and `held` says why.

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
            signatures: the errors it answers, up to 16 messages or whole outputs; those that its text names when None.
            occurred_at: when what it tells of happened, as a time or ISO 8601; a time without a zone is in UTC.
            expires_at: from then on it is not served, but kept until `maintain` archives it. A day is its beginning.
            ttl: in its place, how long it is served from now on: seconds, or a text such as "90m" or "7d".

        Raises:
            InvalidInputError: a value that is not allowed; LimitExceededError names the limit.
            StorageError: the disk refused; nothing was stored.
        """
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
                "signatures": signatures,
                "occurred_at": occurred_at,
                "expires_at": expires_at if ttl is None else moments.expiry(expires_at, ttl, self.now()),
            },
        )
        return record.record(self._engine, draft)

    def record_many(
        self, drafts: Iterable[Draft | Mapping[str, Any]], *, ids: Sequence[str | None] | None = None
    ) -> builtins.list[Recorded]:
        """Store many lessons at once, in their order. Those that are near by meaning are not looked for.

        Each batch is one short transaction, so that other writers are not kept waiting; a batch is whole or not there.

        Args:
            drafts: lessons, or dictionaries of the arguments of `record`.
            ids: the id that each is to have, or None for a new one; a memory with this id is left as it is.

        Raises:
            InvalidInputError: one of them is not allowed; nothing was stored.
        """
        checked = [draft if isinstance(draft, Draft) else validated(Draft, self._timed(draft)) for draft in drafts]
        wanted = arguments.own_ids(ids, len(checked))
        return record.record_many(self._engine, [*zip(checked, wanted, strict=True)])

    def update(self, memory_id: str, /, *, reason: str | None = None, by: str | None = None, **changes: Any) -> Memory:
        """Change some fields of a memory; what is not named stays.

        Changing what it says (title, content, description, applies_when) starts its evidence anew: trust in one text is
        not trust in another. What it said before is kept: `revisions` shows it, and `upkeep.restore` of one brings it
        back, with its evidence.

        Args:
            reason: why, in words; kept with what was replaced.
            by: who changes it.
            changes: title, content, description, applies_when, outcome, tags, metadata, source, signatures, confidence
                (the belief to start from), occurred_at, expires_at (None for never) or ttl.

        Raises:
            InvalidInputError: an unknown field, a value that is not allowed, or another memory in service says this.
        """
        return history.update(self._engine, arguments.memory_id(memory_id), self._timed(changes), reason=reason, by=by)

    def _timed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return fields of a lesson with the time at which it expires in place of how long it is served."""
        fields = dict(given)
        if "ttl" in fields:
            fields["expires_at"] = moments.expiry(fields.get("expires_at"), fields.pop("ttl"), self.now())
        return fields

    def revisions(self, memory_id: str) -> builtins.list[Revision]:
        """Return what a memory said before it was changed, the first first; nothing when it never was."""
        return history.history(self._engine, arguments.memory_id(memory_id))

    def supersede(self, old_id: str, new_id: str, *, reason: str, by: str | None = None) -> Superseded:
        """Let one memory take another's place: the old one goes out of service, and both are linked (`supersedes`).

        What required the old one requires the new one too. `upkeep.restore` of the old one undoes it.

        Args:
            reason: why, in words, up to 1,000 characters; secrets are removed.
            by: who says so.

        Raises:
            InvalidInputError: both are the same, no reason, or the new one is not served.
        """
        old, new = arguments.memory_id(old_id), arguments.memory_id(new_id)
        return history.supersede(self._engine, old, new, reason=reason, by=by)

    def delete(self, memory_id: str, *, mark: bool = True) -> bool:
        """Delete a memory for good, with its history and its evidence; False when there was none.

        Args:
            mark: keep a hash of it, keyed by this bank, by which the same lesson is known when it is distilled or
                imported again, and stays out; recording it by hand lifts that. No word of it is kept. Who has the files
                and guesses the whole text can tell that it was here; without a mark nothing can be told.
        """
        memory_id = arguments.memory_id(memory_id)
        return record.delete(self._engine, [memory_id], mark=arguments.flag("mark", mark))[memory_id]

    def get(self, memory_id: str) -> Memory:
        """Return a memory, whatever its state."""
        memory_id = arguments.memory_id(memory_id)
        return sharing_state.get(self._handle.levels, memory_id) if self.shared else record.get(self._engine, memory_id)

    def resolve(self, beginning: str, kind: Literal["memory", "run", "node", "edge", "job"] = "memory") -> str:
        """Return the one id that begins so, of those that this bank gave: `bank.get(bank.resolve("4780b1a1"))`.

        What is given comes back as it is when nothing begins so, when it is shorter than four characters, or when it is
        an id already. Ids that others gave are known whole only.

        Args:
            kind: what it is the id of; "run" for the refs of episodes.

        Raises:
            InvalidInputError: several begin so; the message names them.
        """
        given, of = arguments.identifier("id", beginning), arguments.one_of("kind", kind, KINDS)
        if self.shared and of == "memory":
            return sharing_state.resolve(self._handle.levels, given)
        return record.resolve(self._engine, given, of)

    def list(
        self,
        *,
        state: State | str | None = State.ACTIVE,
        text: str | None = None,
        expired: bool | None = False,
        newest_first: bool = False,
        standing: str | None = None,
        used: bool | None = None,
        min_confidence: float | None = None,
        max_confidence: float | None = None,
        sort: Sort | None = None,
        after: str | None = None,
        limit: int = 100,
        **filters: Unpack[FilterOptions],
    ) -> Page:
        """Return a page of memories in the order they were recorded.

        Args:
            state: active, archived, quarantined, or None for all.
            text: must occur in title, description, content or applies_when, whatever the case.
            expired: False leaves out what has expired, True what has not, None nothing.
            newest_first: in the order of time instead: what happened last comes first.
            standing: proven, provisional or rejected, by what is believed now and the setting `floor`.
            used: only what was handed out at least once (True), or never (False).
            min_confidence, max_confidence: only what is believed so much at least, or at the most, in [0, 1].
            sort: by a number instead: most_believed, least_believed, most_used or least_used; those that are alike in
                the order they were recorded.
            after: `next` of the page before.
            limit: 1 to 1,000.
            filters: see FilterOptions.
        """
        wanted = arguments.listed(filters, self.now, state=state, text=text, expired=expired)
        most = arguments.page_limit(limit)
        sifted = self._sifted(standing, used, min_confidence, max_confidence)
        if sort is not None or sifted is not None:
            order = arguments.one_of("sort", sort, SORTS) if sort else "newest" if newest_first else "recorded"
            return browsing.page(self._engine, wanted, sifted, order, after, most)
        if newest_first:
            return record.newest_page(self._engine, wanted, arguments.place(after), most)
        return record.page(self._engine, wanted, arguments.position("memories", after), most)

    def count(
        self,
        *,
        state: State | str | None = State.ACTIVE,
        text: str | None = None,
        expired: bool | None = False,
        standing: str | None = None,
        used: bool | None = None,
        min_confidence: float | None = None,
        max_confidence: float | None = None,
        **filters: Unpack[FilterOptions],
    ) -> int:
        """Return how many memories pass the filters of `list`.

        InvalidInputError where `where` asks for a key of metadata that no memory has, or for a kind of value that is
        not there under it: nothing was counted then.
        """
        wanted = arguments.listed(filters, self.now, state=state, text=text, expired=expired)
        sifted = self._sifted(standing, used, min_confidence, max_confidence)
        return record.count(self._engine, wanted) if sifted is None else browsing.count(self._engine, wanted, sifted)

    def _sifted(
        self, standing: str | None, used: bool | None, least: float | None, most: float | None
    ) -> browsing.Sifted | None:
        if standing is None and used is None and least is None and most is None:
            return None
        return browsing.Sifted(
            self.settings.floor,
            None if standing is None else arguments.label(Standing, "standing", standing),
            None if used is None else arguments.flag("used", used),
            least=0.0 if least is None else arguments.number("min_confidence", least, 0, 1),
            most=1.0 if most is None else arguments.number("max_confidence", most, 0, 1),
        )

    def evidence(self, memory_id: str, limit: int = 200) -> Evidence:
        """Return what is known of a memory, piece by piece, with what was believed after each: why it is believed.

        It is what counts now, by the model as it is now. What was taken back is not in it, and neither is what was said
        of another text; of what was rolled up (setting `keep_days`), the pieces of a day and judge are one.

        Args:
            limit: how many pieces at the most, the newest; 1 to 1,000.
        """
        return trail.evidence(self._engine, arguments.memory_id(memory_id), arguments.page_limit(limit))

    # -- looking -----------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        min_confidence: float | None = None,
        strict: bool = False,
        policy: str = "relevance",
        newest_first: bool = False,
        timeout: float | None = None,
        fail_open: bool | None = None,
        **filters: Unpack[FilterOptions],
    ) -> SearchResult:
        """Find the memories that fit a query, best first. Nothing is changed or counted.

        Args:
            query: what is to be done, in words.
            limit: how many are wanted, at least 1; fewer come when fewer are relevant.
            min_confidence: the floor, in [0, 1]; the bank's setting (0.7) when None. Memories at or above it are
                proven, others are marked as provisional.
            strict: proven memories only.
            policy: relevance (what is likeliest to help), cautious (proven lessons first), similarity, four_factor,
                weighted or mmr.
            newest_first: of those that are found, what happened last comes first.
            timeout, fail_open: as in `recall`; what comes too late is an empty result whose `degraded` says why.
            filters: see FilterOptions.

        Raises:
            DeadlineExceededError: it came too late.
            InvalidInputError: an empty query, or an argument that is not allowed.
            EmbedderMismatchError: the bank holds vectors of another embedder.
        """

        def prepared() -> Callable[..., SearchResult]:
            checked = arguments.filters(filters, self.now)
            wanted = self._wanted(limit, checked, min_confidence, policy, strict=strict, cost=0.0)
            text = arguments.query(query)

            def look(attempt: object) -> SearchResult:  # noqa: ARG001 - given up, it leaves nothing behind
                if self.shared:
                    return levels.search(self._handle.levels, text, wanted)
                return retrieve.search(self._engine, text, wanted)

            return look

        found = self._bounded(
            prepared,
            timeout=arguments.seconds(timeout),
            fail_open=fail_open,
            otherwise=lambda why: SearchResult(degraded=(why,)),
        )
        if newest_first:
            found = replace(found, hits=tuple(sorted(found.hits, key=lambda h: h.memory.happened_at, reverse=True)))
        return found

    def _bounded(
        self,
        prepared: Callable[[], Callable[..., T]],
        *,
        timeout: float | None,
        fail_open: bool | None,
        otherwise: Callable[[str], T],
    ) -> T:
        """Return what `prepared()`, called with an `attempt`, returns; or what there is otherwise (see `Deadlines`).

        Preparing it may already be what fails: the libraries behind the bank are loaded at its first use, and "7d" asks
        the clock.
        """
        if timeout is None and not fail_open:
            return prepared()(attempt=None)
        fail_open = fail_open is not False
        try:
            run = prepared()
        except Exception as error:
            if not fail_open or isinstance(error, (*OF_THE_CALLER, TypeError)):
                raise
            return otherwise(self._handle.deadlines.told(error))
        return self._handle.deadlines.bounded(
            lambda attempt: run(attempt=attempt), timeout=timeout, fail_open=fail_open, otherwise=otherwise
        )

    def recommend(self, task: str) -> Recommendation:
        """Return the strategy that fits a task best, with its confidence, what speaks for it, and the runner-up.

        Strategies are lessons from successes. Nothing is changed or counted: `recall` hands lessons out.

        Raises:
            InvalidInputError: an empty task.
            EmbedderMismatchError: the bank holds vectors of another embedder.
        """
        return recommend.recommend(self._engine, arguments.query(task))

    def _wanted(
        self,
        limit: int,
        filters: Filters,
        min_confidence: float | None,
        policy: str,
        *,
        strict: bool,
        cost: float,
        weak: str = "give",
    ) -> Wanted:
        floor = self.settings.floor if min_confidence is None else min_confidence
        return retrieve.Wanted(
            k=arguments.whole("limit", limit, 1),
            floor=arguments.number("min_confidence", floor, 0, 1),
            strict=strict,
            filters=filters,
            policy=arguments.policy(policy),
            cost=cost,
            weak=arguments.one_of("weak", weak, WEAK),
        )

    # -- the loop: recall before a task, credit after it -------------------------------------------------------------

    def recall(
        self,
        task: str,
        limit: int = 3,
        *,
        ref: str | None = None,
        thread: str | None = None,
        join: bool = False,
        max_tokens: int = 500,
        deadline: datetime | None = None,
        expand_links: bool = False,
        min_confidence: float | None = None,
        strict: bool = False,
        policy: str = "relevance",
        holdout: float | str | None = None,
        weak: str = "mark",
        timeout: float | None = None,
        fail_open: bool | None = None,
        **filters: Unpack[FilterOptions],
    ) -> Recall:
        """Hand out the memories that fit a task, and open its episode.

        One usage signal is counted for each memory handed out, and for no other.

        An agent that must not wait gives a `timeout`, and then must not break either: a recall that fails or comes too
        late leaves no episode behind, and an empty Recall comes back. Its `ref` is empty and `degraded` says why, which
        is also logged at WARNING, for each kind of reason once a minute at the most. Errors of scope and of the caller
        are raised all the same.

        Args:
            task: what is to be done, in words.
            limit: how many memories at the most.
            ref: the reference to open the episode under; a new one when None. A reference that is known already gives
                back what was handed out then, and counts nothing anew.
            thread: the conversation or checkpoint thread, by which a resume can find the episode.
            join: under a `ref` that is known, search all the same, and add what is new to its episode: a run that asks
                several times is one episode, in which each memory counts once.
            max_tokens: budget of the prompt block `text`; whole lessons only.
            deadline: when the clock is past it, also at the very end, no episode is opened.
            weak: what becomes of lessons of which none is clearly about the task: "mark" says so in `text`, and hands
                out none where nothing is about it at all, "omit" hands out none, "give" all of them like others.
            expand_links: bring along what the memories found require (see `links.add`), up to 5 beyond `limit`,
                whatever the filters, in the same token budget and with the same credit; and warn of those that
                conflict.
            holdout: withhold lessons from a share of the runs, such as 0.1, so that `lift` can say what lessons do;
                "memory" withholds one of them. 0 for none; the setting `holdout` when None. See
                docs/guides/does-it-help.md.
            timeout: seconds of work. Waiting for a turn, behind other recalls of this process, is not counted; in all
                nobody waits longer than 60 times this. As long as it takes when None.
            fail_open: give an empty Recall instead of raising; with a timeout True when None, else False.

        The other arguments are those of `search`.

        Raises:
            DeadlineExceededError: it came too late, and left nothing behind.
            InvalidInputError, EmbedderMismatchError, StorageError: as in `search` and `record`.
        """

        def prepared() -> Callable[..., Recall]:
            checked, cost = arguments.filters(filters, self.now), self.settings.lesson_cost
            return partial(
                partial(levels.recall, self._handle.levels) if self.shared else partial(recall.recall, self._engine),
                arguments.query(task),
                self._wanted(limit, checked, min_confidence, policy, strict=strict, cost=cost, weak=weak),
                ref=arguments.reference(ref),
                thread=arguments.reference(thread, "thread"),
                join=join,
                max_tokens=arguments.whole("max_tokens", max_tokens, 0),
                deadline=None if deadline is None else moments.moment("deadline", deadline),
                expand_links=expand_links,
                holdout=arguments.holdout(self.settings.holdout if holdout is None else holdout),
            )

        return self._bounded(
            prepared,
            timeout=arguments.seconds(timeout),
            fail_open=fail_open,
            otherwise=lambda why: Recall(ref="", task=task, degraded=(why,)),
        )

    def recall_failure(
        self,
        output: str,
        *,
        tool: str | None = None,
        command: str | None = None,
        exit_code: int | None = None,
        task: str | None = None,
        ref: str | None = None,
        limit: int = 3,
        max_tokens: int | None = None,
        holdout: float | str | None = None,
        timeout: float | None = None,
        fail_open: bool | None = None,
        **filters: Unpack[FilterOptions],
    ) -> FailureRecall:
        """Hand out the memories that answer the errors in the output of what failed.

        The errors are taken out of the output. Memories that answer one of them exactly (`Memory.signatures`) come
        first, then those that answer it with other numbers, ids or files; where there are none, those that a search
        finds for errors of their kind. An output that names no error, and an error of which nothing is known, give
        nothing and leave no trace.

        What is handed out joins the run's episode, and is credited with it. What a run was shown before is not shown
        again; the same error again gives nothing, says so (`repeated`), and counts against what was handed out at it;
        `report_act` counts for it. A run is handed something at most `failure_recalls` times (a setting).

        Args:
            output: all that was printed; of a long one the begin and the end are read.
            tool: the agent's tool that failed, such as "bash".
            command: the command that it ran.
            exit_code: 0 is no failure, and neither is an interrupt.
            task: what is being done, for an episode that is opened here.
            ref: the run's reference; a new episode is opened when None, or when there is none under it.
            limit: how many memories at the most.
            max_tokens: budget of `text`; the setting `failure_tokens` when None.
            holdout: as in `recall`; a run from which lessons are withheld already stays so.
            timeout, fail_open: as in `recall`.
            filters: see FilterOptions; where no memory passes them, `reason` says what they ask for that none has.

        Raises:
            InvalidInputError: an argument that is not allowed.
            DeadlineExceededError, EmbedderMismatchError, StorageError: as in `recall`.
        """
        budget = self.settings.failure_tokens if max_tokens is None else max_tokens
        named = arguments.reference(ref)

        def prepared() -> Callable[..., FailureRecall]:
            return partial(
                partial(levels.recall_failure, self._handle.levels)
                if self.shared
                else partial(failing.recall_failure, self._engine),
                failing.Failure(*arguments.failure(output, tool, command, exit_code)),
                task=None if task is None else arguments.query(task),
                ref=named,
                limit=arguments.whole("limit", limit, 1),
                max_tokens=arguments.whole("max_tokens", budget, 0),
                filters=arguments.filters(filters, self.now),
                holdout=arguments.holdout(self.settings.holdout if holdout is None else holdout),
            )

        return self._bounded(
            prepared,
            timeout=arguments.seconds(timeout),
            fail_open=fail_open,
            otherwise=lambda why: FailureRecall(ref=named or "", reason=why, degraded=(why,)),
        )

    def report_act(
        self, ref: str, *, tool: str | None = None, command: str | None = None, succeeded: bool = True
    ) -> tuple[str, ...]:
        """Say how an act of a run went; return the ids of the memories that are credited for it.

        When what failed before succeeds within the next five acts, the memories that were handed out at the failure get
        a signal of kind `repair`. The same is the same program with the same first word (`git push`), or else the same
        tool. Without such a failure nothing is written.
        """
        told = arguments.failure("", tool, command, None)
        credited = repair.report_act(
            self._engine, arguments.episode_ref(ref), tool=told[1], command=told[2], succeeded=succeeded
        )
        if credited:
            self._tell_shared()
        return credited

    @contextmanager
    def episode(self, task: str, limit: int = 3, **options: Unpack[RecallOptions]) -> Iterator[Run]:
        """Recall for a task, run it, and credit how it ended.

            with bank.episode("rename the files in ./in") as run:
                answer = agent(run.text)
                run.report("success" if check(answer) else "failure")

        An exception is a failure, and goes on; an end without a report is unknown, which teaches nothing.

        Args:
            task, limit, options: those of `recall`, but for timeout and fail_open.
        """
        run = Run(self, self.recall(task, limit, **options))
        try:
            yield run
        except Exception as error:
            credit.close_if_open(self._engine, run.ref, Verdict.FAILURE, door.said_by(error))
            self._tell_shared()
            raise
        else:
            credit.close_if_open(self._engine, run.ref, Verdict.UNKNOWN, "ended without a report")
            self._tell_shared()

    def _tell_shared(self) -> None:
        """Tell the shared banks how runs ended with their lessons."""
        if self.shared:
            sharing_credit.settle(self._handle.levels)

    def report(
        self,
        verdict: Any,
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
            verdict: success, failure or unknown; True and False for the first two; or anything that judges, evaluators
                and test runners give: a score from 0 to 1, which counts by its distance from one half, a dictionary or
                record with a score, criteria, an exit code, a test report (`reasoningbank.adapters.as_judgement` says
                which). A partial success counts as unknown.
            ref: the episode's reference, as `recall` returned it.
            thread: in its place: the newest episode of this thread, as long as it could still be open.
            reason: in words, in place of what the verdict says itself; secrets are removed. The reason for a failure
                also becomes a guard-rail of its own, if it says anything (three words or more).
            by: who judged, also a kind of check. How far each is to be believed is learned.
            revise: False leaves an episode that has a verdict already as it is.

        Raises:
            EpisodeNotFoundError: no such episode, or none of this thread within the time an episode stays open.
            InvalidInputError: not exactly one of ref and thread, or no verdict.
        """
        ref, thread = arguments.run_of(ref, thread)
        given = arguments.judgement(verdict)
        # A partial success says too little about the lessons to credit them.
        ended = Verdict.UNKNOWN if given.verdict is Verdict.PARTIAL else given.verdict
        told = credit.report(
            self._engine,
            ended,
            ref=ref,
            thread=thread,
            reason=given.reason if reason is None else reason,
            by=given.by if by is None else by,
            revise=revise,
            strength=given.strength,
        )
        if self.shared:
            there = sharing_credit.settle(self._handle.levels, given.strength, told.episode.ref)
            told = replace(told, credited=(*told.credited, *there))
        if not reason or given.verdict not in (Verdict.FAILURE, Verdict.PARTIAL) or told.episode.verdict is not ended:
            return told
        return replace(told, lessons=distilling.learn_reason(self._engine, told.episode, reason))

    def vote(
        self,
        memory_id: str,
        helpful: bool,
        *,
        kind: Literal["explicit", "outcome", "stability"] = "explicit",
        ref: str | None = None,
        by: str | None = None,
        reason: str | None = None,
    ) -> Voted:
        """Count one piece of evidence about one memory alone; how a whole run ended is a `report`.

        One counts per memory, kind and reference; the opposite one replaces it.

        Args:
            helpful: whether it speaks for the memory.
            kind: "explicit": somebody judged the memory. "outcome": a run that used it succeeded, or failed; a report
                on the whole run does not replace it. "stability": a change that followed it survived seven days, or was
                reverted.
            ref: the episode it is about, or any key that makes a repeated call count once. When None, the newest open
                episode that served the memory; when there is none, it stands for itself.
            by: who judged.
            reason: in words; secrets are removed.

        Raises:
            InvalidInputError: an unknown kind, or a value that is not allowed.
        """
        memory_id = arguments.memory_id(memory_id)
        return (
            partial(sharing_credit.vote, self._handle.levels) if self.shared else partial(credit.vote, self._engine)
        )(
            memory_id,
            arguments.flag("helpful", helpful),
            kind=arguments.vote_kind(kind),
            ref=arguments.reference(ref),
            by=by,
            reason=reason,
        )

    def lift(self, days: int | None = None, by: Literal["tag", "memory"] | None = None) -> LiftReport:
        """Say what lessons do: runs that were given them, beside runs from which a hold-out withheld them.

        This is an experiment, since chance alone decides (see `holdout` of `recall`), and each run counts in the arm
        that it was assigned to. The shares of success come with the 95 % interval of their difference, with one that
        holds however often one looks, with what such a sample can show, and in plain words. Changes nothing.

        Args:
            days: only runs of the last 1 to 36,500 days; all when None, as for the interval that always holds.
            by: also for the lessons of each tag, or for each lesson.
        """
        window = None if days is None else arguments.whole("days", days, 1, LONGEST_WINDOW)
        return lift.lift(self._engine, window, None if by is None else arguments.one_of("by", by, PARTS))

    def distill(
        self,
        run: Any,
        verdict: Verdict | str | bool | None = None,
        *,
        distiller: Distiller | None = None,
        judge: AnyJudge | None = None,
        earlier: Sequence[Any] = (),
        ref: str | None = None,
    ) -> Distilled:
        """Draw lessons from a finished run and store them, now. `queue.put` lets a worker do it.

        What a lesson must not come from is taken out of the run before: recalled lessons, system prompts, secrets. A
        lesson that is in the bank already, in words that say the same and with the same outcome, is not stored again.

        Args:
            run: a Trajectory, or anything that `Trajectory.of` reads: a dictionary, a list of steps or of messages.
            verdict: how it ended; what the run says itself when None. Unknown, and without a judge, it teaches nothing.
            distiller: the template distiller, which needs no model, when None.
            judge: asked when there is no verdict: an LLMJudge, or any callable from a run to a verdict.
            earlier: other runs of the same task, to compare with.
            ref: the episode that it is the run of: its lessons say so (`runs.of`), and its steps are kept with the
                episode if the settings say so and none are yet.

        Raises:
            EpisodeNotFoundError: a ref that is not of this project.
            InvalidInputError: it cannot be read as a run.
            JudgeUnavailableError: there is no verdict, and the judge gave none.
        """
        others = [distilling.read_run(self._engine, other).run for other in earlier]
        cleaned = trajectories.of_episode(
            self._engine, distilling.read_run(self._engine, run, verdict), arguments.reference(ref)
        )
        return distilling.distill(self._engine, cleaned, as_distiller(distiller), as_run_judge(judge), others)

"""The memory tools as data: names, descriptions, closed schemas, and what they do. Every door offers these.

Nothing that decides whose data is touched is an argument: the scope is that of the bank.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field

from reasoningbank.adapters.arms import is_held_out, run_of, told
from reasoningbank.adapters.coercion import Count, Object, Reference, Share, Text, Words, to_choice
from reasoningbank.adapters.correcting import allowed_tools, check_allowed
from reasoningbank.adapters.judging import judging_tools
from reasoningbank.adapters.narrowing import narrowed
from reasoningbank.adapters.reviewing import list_tool
from reasoningbank.adapters.tool import Arguments, MemoryTool, ToolAnswer, ToolSpec, with_account
from reasoningbank.bank import ReasoningBank
from reasoningbank.diagnostics import diagnostics, written
from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import FilterOptions
from reasoningbank.memory import CONTENT_LIMIT, DESCRIPTION_LIMIT, TITLE_LIMIT, Memory, Source
from reasoningbank.results import HELD_OUT, OVER_BUDGET, Hit, Recall
from reasoningbank.screening.scrub import scrub
from reasoningbank.services.search.prompt import prompt_block

# Tokens of memory_search's text at the most.
LONGEST_ANSWER = 1_500

Learned = Annotated[Literal["success", "failure"], BeforeValidator(to_choice)]
MaybeLearned = Annotated[Literal["success", "failure"] | None, BeforeValidator(to_choice)]


class SearchArguments(Arguments):
    """Arguments of memory_search."""

    query: str = Field(min_length=1, description="What you are about to do, in one sentence.")
    limit: Count = Field(default=None, ge=1, le=20, description="How many lessons at the most, 1 to 20; null for 5.")
    min_confidence: Share = Field(
        default=None,
        ge=0.0,
        le=1.0,
        description="Confidence from which a lesson is proven, 0 to 1; or null.",
    )
    outcome: MaybeLearned = Field(
        default=None, description="Only lessons from successes, or only from failures; null for both."
    )
    tags: Words = Field(default=None, description="Only lessons that have all of these tags; null for any.")
    where: Object = Field(
        default=None,
        description="Only lessons whose metadata holds this: a value by key, or an object of eq, in, gte, gt, lte, lt, "
        'such as {"priority": {"gte": 3}}; null for any.',
    )
    since: Reference = Field(
        default=None, description='Only what happened since then: a date, or so long ago as "7d"; null for any time.'
    )
    until: Reference = Field(
        default=None, description='Only what happened until then: a date, or so long ago as "7d"; null for any time.'
    )
    error: Reference = Field(
        default=None, description="What a command that failed printed: lessons about its errors, in place of the rest."
    )
    ref: Reference = Field(
        default=None, description="With error: the ref that memory_search gave for this task; or null."
    )


class RecordArguments(Arguments):
    """Arguments of memory_record."""

    title: Text = Field(min_length=1, max_length=TITLE_LIMIT, description="The lesson's name, in a few words.")
    content: str = Field(
        min_length=1, max_length=CONTENT_LIMIT, description="What to do, or not to do, in one to three sentences."
    )
    outcome: Learned = Field(description="success for a strategy that worked, failure for a guard-rail.")
    description: Reference = Field(
        default=None, max_length=DESCRIPTION_LIMIT, description="What it is about, in one sentence; or null."
    )
    applies_when: Reference = Field(
        default=None, max_length=DESCRIPTION_LIMIT, description="When it applies, and when not; or null."
    )
    tags: Words = Field(default=None, description="Words to filter by, such as a language or a tool; or null.")


_UNANSWERED = "No lesson answers this error."
# Which filters a model may ask for.
ASKED = ("outcome", "tags", "where", "since", "until")
_LOOK_UP = "Look up lessons from earlier runs before you start a task: what worked, and what to avoid."
_THEN = "Keep the ref, and report how the task ended with memory_outcome."
MEMORY_SEARCH = ToolSpec("memory_search", f"{_LOOK_UP} {_THEN}", SearchArguments)
MEMORY_LOOKUP = ToolSpec("memory_search", _LOOK_UP, SearchArguments, read_only=True, idempotent=True)
MEMORY_RECORD = ToolSpec(
    "memory_record",
    "Store a lesson that a later run can use: a strategy that worked, or a guard-rail against what failed.",
    RecordArguments,
    idempotent=True,
)


def memory_tools(
    bank: ReasoningBank,
    *,
    read_only: bool = False,
    limit: int = 5,
    by: str = "agent",
    trusted: bool = True,
    filters: FilterOptions | None = None,
    allow: Collection[str] = (),
    within: str = "",
    thread: str | None = None,
    holdout: float | str | None = None,
    withheld: bool = False,
    recalled: Callable[[Recall], None] | None = None,
) -> list[MemoryTool]:
    """Return the tools of a bank: memory_search, and unless read-only memory_record, memory_feedback, memory_outcome.

    Args:
        read_only: only memory_search, which then opens no episode and counts nothing.
        limit: how many lessons memory_search gives when it is not told.
        by: who records, votes and reports through these tools.
        trusted: whether what is recorded through them is trusted (see docs/guides/security.md).
        filters: of memory_search and memory_list, whatever is asked: what a model asks for narrows them, and takes
            none away.
        allow: what an agent may do to lessons that are there: "list", "update", "retire" and "approve" offer
            memory_list, memory_update, memory_retire and memory_approve. None deletes anything, and all can be undone.
        within: the reference of the run they are called in. What memory_search hands out joins its episode, so that a
            run is one episode, is drawn once for a hold-out, and counts once for a lesson. Without it each call is a
            run of its own.
        thread: the conversation they are called in: where a hold-out withholds lessons from it, they give none.
        holdout: as in `bank.recall`.
        withheld: memory_search gives none, since they are withheld from a run around this one.
        recalled: is told of what memory_search hands out.

    Raises:
        InvalidInputError: something else is to be allowed, or anything beside read-only.
    """
    check_allowed(allow, read_only=read_only, trusted=trusted)
    doors = _Doors(bank, limit, by, trusted, read_only, filters or {}, within, thread, holdout, withheld, recalled)
    listing = list_tool(bank, filters=filters or {}, within=within, thread=thread, withheld=withheld)
    more = allowed_tools(bank, allow, listing, by=by, trusted=trusted)
    if read_only:
        return [MemoryTool(MEMORY_LOOKUP, doors.search), *more]
    return [
        MemoryTool(MEMORY_SEARCH, doors.search),
        MemoryTool(MEMORY_RECORD, doors.record),
        *judging_tools(bank, by=by, trusted=trusted),
        *more,
    ]


@dataclass(frozen=True)
class _Doors:
    bank: ReasoningBank
    limit: int
    by: str
    trusted: bool
    read_only: bool
    filters: FilterOptions
    within: str
    thread: str | None
    holdout: float | str | None
    withheld: bool
    recalled: Callable[[Recall], None] | None

    def search(self, given: SearchArguments) -> ToolAnswer:
        asked = cast("FilterOptions", {name: getattr(given, name) for name in ASKED})
        filters = narrowed(self.filters, asked, self.bank.now())
        limit = given.limit or self.limit
        # A recall is drawn with its run and its conversation; what counts nothing, and errors, have to ask.
        asks = self.read_only or given.error is not None
        if self.withheld or (asks and is_held_out(self.bank, self.within, self.thread)):
            return self._withheld(given)
        if given.error is not None:
            return self._failed(given.error, given.query, limit, given.ref or self.within or None, filters)
        options: dict[str, Any] = {"min_confidence": given.min_confidence, **filters}
        if self.read_only:
            return self._look_up(given.query, limit, options)
        run: dict[str, Any] = {"ref": self.within or None, "join": True, "thread": self.thread}
        recall = self.bank.recall(given.query, limit, max_tokens=LONGEST_ANSWER, holdout=self.holdout, **run, **options)
        if self.recalled is not None:
            self.recalled(recall)
        too_long = list(recall.shortened)
        if OVER_BUDGET in recall.withheld and not recall.held_out:
            # Searched again, which changes nothing: a recall says how many did not fit, not which.
            shown = {memory.id for memory in recall.memories}
            found = self.bank.search(given.query, limit, **options)
            too_long += [memory.id for memory in found.memories if memory.id not in shown]
        more = {"withheld": told(recall.withheld), "weak": recall.weak}
        return _found(recall.text, recall.hits, more, ref=recall.ref, degraded=recall.degraded, too_long=too_long)

    def _withheld(self, given: SearchArguments) -> ToolAnswer:
        """Answer as where nothing is known, with the ref that the run is reported by."""
        run = None if self.read_only else run_of(self.bank, given.ref or self.within, self.thread)
        ref = self.within if run is None else run.ref
        if given.error is None:
            return _found("", (), {"withheld": {}, "weak": False}, ref=ref)
        errors = [scrub(written(each)).text for each in diagnostics(given.error)]
        return _found(_UNANSWERED, (), {"errors": errors, "match": "", "repeated": False}, ref=ref)

    def _failed(self, error: str, task: str, limit: int, ref: str | None, filters: FilterOptions) -> ToolAnswer:
        if self.read_only:
            raise InvalidInputError("error needs a server that may count what it hands out: this one is read-only")
        found = self.bank.recall_failure(error, task=task, ref=ref, limit=limit, max_tokens=LONGEST_ANSWER, **filters)
        known = not found.reason or found.reason == HELD_OUT
        text = found.text or (_UNANSWERED if known else f"{_UNANSWERED[:-1]}: {found.reason}.")
        more = {"errors": list(found.errors), "match": found.match, "repeated": found.repeated}
        return _found(text, found.hits, more, ref=found.ref, degraded=found.degraded, too_long=found.shortened)

    def _look_up(self, query: str, limit: int, options: dict[str, Any]) -> ToolAnswer:
        result = self.bank.search(query, limit, **options)
        unproven = [hit.memory.id for hit in result.hits if hit.provisional]
        block = prompt_block(result.memories, max_tokens=LONGEST_ANSWER, provisional=unproven, doubtful=result.weak)
        hits = tuple(hit for hit in result.hits if hit.memory.id in block.included)
        more = {"withheld": result.withheld, "weak": result.weak}
        too_long = (*block.shortened, *block.dropped)
        return _found(block.text, hits, more, degraded=result.degraded, too_long=too_long)

    def record(self, given: RecordArguments) -> ToolAnswer:
        recorded = self.bank.record(
            given.title,
            given.content,
            outcome=given.outcome,
            description=given.description or "",
            applies_when=given.applies_when or "",
            tags=given.tags or (),
            source=Source(by=self.by, trusted=self.trusted),
        )
        data: dict[str, Any] = {
            "memory_id": recorded.memory.id,
            "created": recorded.created,
            "confidence": round(recorded.memory.confidence, 4),
            "state": recorded.memory.state.value,
        }
        text = f"Recorded as {recorded.memory.id}." if recorded.created else f"Known already: {recorded.memory.id}."
        if recorded.possible_duplicate_of:
            data["possible_duplicate_of"] = recorded.possible_duplicate_of
            text += f" It may say the same as {recorded.possible_duplicate_of}."
        if recorded.held:
            data["held"] = recorded.held
            text += f" It stays out of service, as was decided ({recorded.held}); a person can restore it."
        if recorded.memory.state.value == "quarantined":
            text += " It is withheld until a person approves it: it reads like instructions to an agent."
        if recorded.memory.doubted:
            text += " It is served in doubt until a person approves it: parts of it read like instructions to an agent."
        return with_account(text, data, redactions=recorded.redactions, degraded=recorded.degraded)


def _found(
    text: str,
    hits: Sequence[Hit],
    more: Mapping[str, Any] = MappingProxyType({}),
    *,
    ref: str = "",
    degraded: Sequence[str] = (),
    too_long: Sequence[str] = (),
) -> ToolAnswer:
    data = {"memories": [hit_data(hit) for hit in hits if hit.memory.id not in too_long], **more}
    left_out = ", ".join(f"{many} {reason}" for reason, many in data.get("withheld", {}).items())
    said = {"ref": ref, "degraded": list(degraded), "too_long": list(too_long)}
    lines = {
        f"Left out: {left_out}.": left_out,
        f"Degraded: {'; '.join(degraded)}.": degraded,
        f"ref: {ref}": ref,
        f"Found, but too long to show here as a whole: {', '.join(too_long)}.": too_long,
    }
    told = [text or "No lesson fits.", *(line for line, holds in lines.items() if holds)]
    return ToolAnswer("\n\n".join(told), data | {name: value for name, value in said.items() if value})


HIT_FIELDS = ("memory_id", "project", "title", "content", "description", "applies_when", "outcome", "tags")


def hit_data(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON, as every door shows it: what a reader needs to use the lesson, and no more."""
    memory = memory_data(hit.memory)
    return {
        **{name: memory[name] for name in HIT_FIELDS},
        **{name: round(getattr(hit, name), 4) for name in ("confidence", "similarity", "keyword", "score")},
        "provisional": hit.provisional,
    }


def memory_data(memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON, as every door shows it."""
    data = memory.as_json()
    del data["id"], data["confidence"]
    return {"memory_id": memory.id, **data, "confidence": round(memory.confidence, 4)}

"""Two tools by which an agent says how its runs went, and what a lesson was worth in one: once a run, however often.

An agent that praises its own work is no second witness: what it says of one lesson counts as that run's outcome for
this lesson, never as the vote of somebody who looked at it, and repeating it changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from pydantic import Field

from reasoningbank.adapters.coercion import Flag, Reference, Switch, Text
from reasoningbank.adapters.tool import Arguments, MemoryTool, ToolAnswer, ToolSpec, secrets_in, with_account
from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import EpisodeNotFoundError, InvalidInputError
from reasoningbank.judgement import Judgement
from reasoningbank.results import Reported, Voted
from reasoningbank.verdict import Verdict


class FeedbackArguments(Arguments):
    """Arguments of memory_feedback."""

    memory_id: Text = Field(min_length=1, description="The lesson's id, as memory_search gave it.")
    helpful: Flag = Field(description="true if the lesson helped, false if it misled.")
    reason: Reference = Field(default=None, description="Why, in one sentence; or null.")


class OutcomeArguments(Arguments):
    """Arguments of memory_outcome."""

    succeeded: Flag = Field(description="true if the task succeeded, false if it failed.")
    ref: Reference = Field(
        default=None, description="The ref that memory_search gave: all lessons it gave are credited. Or null."
    )
    memory_id: Reference = Field(
        default=None, description="One lesson's id: only that one is credited, with a ref or without; or null."
    )
    reason: Reference = Field(default=None, description="Why, in one sentence; or null.")
    stability: Switch = Field(
        default=None,
        description="With memory_id: true if succeeded says whether a change made with that lesson was still there "
        "after seven days (false: it was reverted), rather than how the task ended; or null.",
    )


MEMORY_FEEDBACK = ToolSpec(
    "memory_feedback",
    "Say whether one lesson helped in your task.",
    FeedbackArguments,
    idempotent=True,
)
MEMORY_OUTCOME = ToolSpec(
    "memory_outcome",
    "Say how a task ended, so that the lessons recalled for it are credited. Once, when it has ended.",
    OutcomeArguments,
    idempotent=True,
)


def judging_tools(bank: ReasoningBank, *, by: str, trusted: bool) -> list[MemoryTool]:
    """Return memory_feedback and memory_outcome for a bank; `by` says who judges, and whether what it says is trusted.

    One who is not trusted leaves no lesson behind by the reason for a failure.
    """
    doors = _Doors(bank, by, trusted)
    return [MemoryTool(MEMORY_FEEDBACK, doors.feedback), MemoryTool(MEMORY_OUTCOME, doors.outcome)]


@dataclass(frozen=True)
class _Doors:
    bank: ReasoningBank
    by: str
    trusted: bool

    def feedback(self, given: FeedbackArguments) -> ToolAnswer:
        told, text = self._of_one(given.memory_id, given.helpful, "outcome", None, given.reason, otherwise="votes")
        data = self._counted(told)
        text += f" The confidence of {told.memory.id} is {data['confidence']}."
        return with_account(text, data, redactions=secrets_in(given.reason))

    def outcome(self, given: OutcomeArguments) -> ToolAnswer:
        if given.ref is None and given.memory_id is None:
            example = '{"ref": "<ref of memory_search>", "succeeded": true}'
            raise InvalidInputError(f"give the ref of the run, or the memory_id of one lesson: {example}")
        if given.stability and given.memory_id is None:
            raise InvalidInputError("stability is about one lesson: give its memory_id")
        if given.memory_id is not None:
            kind: Literal["stability", "outcome"] = "stability" if given.stability else "outcome"
            told, text = self._of_one(given.memory_id, given.succeeded, kind, given.ref, given.reason)
            return with_account(text, self._counted(told), redactions=secrets_in(given.reason))
        reported = self._report(given)
        data: dict[str, Any] = {"ref": reported.episode.ref, "recorded": reported.recorded}
        data["credited"] = list(reported.credited)
        data |= {"lessons": list(reported.lessons)} if reported.lessons else {}
        data |= {"too_late": True} if reported.too_late else {}
        return with_account(_said_of(reported), data, redactions=secrets_in(given.reason))

    def _report(self, given: OutcomeArguments) -> Reported:
        if self.trusted or not given.reason:
            return self.bank.report(given.succeeded, ref=given.ref, reason=given.reason, by=self.by)
        # A reason that comes with the verdict is kept with the run, and makes no lesson.
        verdict = Verdict.SUCCESS if given.succeeded else Verdict.FAILURE
        return self.bank.report(Judgement(verdict, (given.reason,)), ref=given.ref, by=self.by)

    def _of_one(
        self,
        memory_id: str,
        good: bool,
        kind: Literal["stability", "outcome"],
        ref: str | None,
        reason: str | None,
        otherwise: str = "outcomes",
    ) -> tuple[Voted, str]:
        under = self._run_of(memory_id, ref) or f"{self.by[:100]}: {otherwise}"
        told = self.bank.vote(memory_id, good, kind=kind, ref=under, by=self.by, reason=reason)
        text = "Counted." if told.recorded else "Counted before."
        if ref is not None and under != ref:
            text += f" No run here has the ref {ref!r}: it counts once for this lesson, whatever ref is given."
        return told, text

    def _run_of(self, memory_id: str, ref: str | None) -> str:
        """Return the run that a judgement of one lesson is about, where it counts once; "" where there is none.

        That is the one that is named, else the newest that the lesson was given to, as long as that can be revised. An
        agent that used it in none, or makes up references, has one vote and one outcome to say of it in all.
        """
        if ref is not None and self._is_run(ref):
            return ref
        served = self.bank.runs.of(memory_id, limit=1).used_in if ref is None else ()
        oldest = self.bank.now() - timedelta(days=self.bank.settings.keep_days)
        if served and served[0].opened_at is not None and served[0].opened_at > oldest:
            return served[0].ref
        return ""

    def _is_run(self, ref: str) -> bool:
        try:
            self.bank.runs.get(ref)
        except EpisodeNotFoundError:
            return False
        return True

    def _counted(self, told: Voted) -> dict[str, Any]:
        confidence = round(told.memory.confidence, 4)
        run = {"ref": told.ref} if self._is_run(told.ref) else {}
        return {"memory_id": told.memory.id, "confidence": confidence, "recorded": told.recorded, **run}


def _said_of(reported: Reported) -> str:
    if reported.too_late:
        return f"Not counted: run {reported.episode.ref} was closed for good, and its verdict can no longer be revised."
    if not reported.recorded:
        return f"Counted before, for run {reported.episode.ref}."
    text = f"Counted for {len(reported.credited)} lessons, run {reported.episode.ref}."
    return f"{text} The reason is kept as lesson {', '.join(reported.lessons)}." if reported.lessons else text

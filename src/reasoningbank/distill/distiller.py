"""Distilling with a model: one question, one other at most if its answer was of no use, lessons checked singly.

And one lesson out of several that say the same (`merge`): one question, and its answer checked against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from reasoningbank.distill import prompts
from reasoningbank.distill.answering import answered_by
from reasoningbank.distill.cleaning import pack
from reasoningbank.distill.distillation import Distillation, Rejection
from reasoningbank.distill.items import NO_OUTCOME, Rules, sort_items
from reasoningbank.distill.lenient import CUT
from reasoningbank.distill.parse import MARKDOWN, Answer, read_answer
from reasoningbank.errors import ChatError, DistillationError
from reasoningbank.llm.base import Chat, ChatMessage, ChatReply, ChatRequest, FinishReason, as_chat
from reasoningbank.memory import OUTCOMES, Draft, Memory, Source, fingerprint_text
from reasoningbank.prompt.stripping import strip_lessons
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.verdict import Verdict

RUN_TOKENS = 6_000
ANSWER_TOKENS = 1_500
TEMPERATURE = 0.3

PROMPTS = {
    Verdict.SUCCESS: prompts.SUCCESS_V1,
    Verdict.FAILURE: prompts.FAILURE_V1,
    Verdict.PARTIAL: prompts.PARTIAL_V1,
}


@runtime_checkable
class Distiller(Protocol):
    """Anything that draws lessons from runs."""

    @property
    def name(self) -> str:
        """What lessons carry as their source."""

    def distill(self, run: Trajectory, earlier: Sequence[Trajectory] = ()) -> Distillation:
        """Draw lessons from a cleaned run; `earlier` are other runs of the same task."""

    def distill_many(self, runs: Sequence[Trajectory]) -> Distillation:
        """Draw lessons from several cleaned runs of one task, by comparing them."""


class LLMDistiller:
    """A distiller that asks a model.

    Args:
        chat: a Chat, or any callable from messages to text.
        run_tokens: what a run may take of the prompt; several runs share it. The prompt holds nothing of the bank,
            so it does not grow with it.
        answer_tokens: what the answer may take; an answer that was cut off is asked for once with twice as much.
        examples: lessons shown as examples; an answer that copies one is not taken.
    """

    def __init__(
        self,
        chat: Chat | Callable[..., Any],
        *,
        run_tokens: int = RUN_TOKENS,
        answer_tokens: int = ANSWER_TOKENS,
        temperature: float = TEMPERATURE,
        examples: Sequence[dict[str, Any]] = tuple(map(dict, prompts.EXAMPLES)),
    ) -> None:
        self._chat = as_chat(chat)
        self._run_tokens = run_tokens
        self._answer_tokens = answer_tokens
        self._temperature = temperature
        self._examples = tuple(examples)

    @property
    def name(self) -> str:
        """The model's name and the version of the prompts."""
        return f"{self._chat.name} (prompts {prompts.VERSION})"[:200]

    def distill(self, run: Trajectory, earlier: Sequence[Trajectory] = ()) -> Distillation:
        """Draw at most 3 lessons from a run; an earlier run of the task that ended otherwise is shown beside it."""
        if run.verdict not in PROMPTS:
            return self._nothing("the verdict is unknown: that a run ended does not say that it succeeded")
        if run.is_empty:
            return self._nothing("the run has no steps and no result")
        other = [before for before in earlier if before.verdict in OUTCOMES and before.verdict is not run.verdict][:1]
        runs = [*other, run]
        prompt = prompts.CONTRAST_V1 if other else PROMPTS[run.verdict]
        outcome = run.verdict if not other and run.verdict in OUTCOMES else None
        return self._ask(prompt, runs, prompts.ITEMS_PER_RUN, outcome)

    def distill_many(self, runs: Sequence[Trajectory]) -> Distillation:
        """Draw at most 5 lessons from several runs of one task. Each goes in with its verdict."""
        judged = [run for run in runs if run.verdict in PROMPTS and not run.is_empty]
        if not judged:
            return self._nothing("no run was judged")
        if len(judged) == 1:
            return self.distill(judged[0])
        return self._ask(prompts.CONTRAST_V1, judged, prompts.ITEMS_PER_CONTRAST, None)

    def _nothing(self, reason: str) -> Distillation:
        return Distillation(DistillStatus.EMPTY, reason=reason, by=self.name)

    def _ask(self, prompt: str, runs: Sequence[Trajectory], cap: int, outcome: Verdict | None) -> Distillation:
        request = self._request(prompt, runs, cap)
        trusted = all(run.trusted for run in runs)
        rules = Rules(
            cap=cap,
            outcome=outcome,
            source=Source(how="distilled", by=self.name, session=runs[-1].session, trusted=trusted),
            tags=runs[-1].tags,
            examples=frozenset(map(_words_of, self._examples)),
        )
        try:
            reply = self._chat.complete(request)
        except ChatError as error:
            return Distillation(DistillStatus.FAILED, reason=str(error), attempts=1, by=self.name)
        first = _answering(read_reply(reply, rules, self.name), runs)
        again = second_request(request, reply, first)
        if again is None:
            return first
        try:
            second_reply = self._chat.complete(again)
        except ChatError as error:
            return replace(first, attempts=2, reason=f"{first.reason}; asked again: {error}")
        second = _answering(read_reply(second_reply, rules, self.name), runs)
        # Asked about one lesson, a model may answer with that one alone.
        better = first if len(second.drafts) < len(first.drafts) else second
        return replace(better, attempts=2, usage=first.usage + second.usage)

    def _request(self, prompt: str, runs: Sequence[Trajectory], cap: int) -> ChatRequest:
        budget = self._run_tokens // len(runs)
        texts = [pack(run, max_tokens=budget).text for run in runs]
        content = prompt.format(
            rules=prompts.RULES_V1.format(cap=cap),
            examples=prompts.examples_text(self._examples),
            run=prompts.quoted(texts[0]) if len(texts) == 1 else prompts.quoted_all(texts),
            count=len(texts),
        )
        return _lessons_request(content, self._temperature, self._answer_tokens)


def _lessons_request(content: str, temperature: float, tokens: int) -> ChatRequest:
    messages = (ChatMessage("system", prompts.SYSTEM_V1), ChatMessage("user", content))
    return ChatRequest(messages, prompts.LESSONS_SCHEMA, "lessons", temperature, tokens)


def _words_of(example: Mapping[str, Any]) -> str:
    return fingerprint_text(str(example.get("title", "")), f"{example.get('description', '')} {example['content']}")


def read_reply(reply: ChatReply, rules: Rules, by: str = "") -> Distillation:
    """Return what came of one answer. Pure: nothing is asked again and nothing is stored."""
    base = Distillation(DistillStatus.DONE, attempts=1, usage=reply.usage, by=by)
    if reply.finish in (FinishReason.REFUSAL, FinishReason.CONTENT_FILTER):
        said = reply.refusal or reply.text[:200] or str(reply.finish)
        return replace(base, status=DistillStatus.REFUSED, reason=said)
    answer = read_answer(reply.text)
    if reply.finish is FinishReason.LENGTH and MARKDOWN in answer.notes:
        # Text has no bracket whose lack would show that its last lesson is half a one.
        answer = replace(answer, items=answer.items[:-1], cut=True)
    checked = sort_items(answer.items, rules)
    cut = answer.cut or (reply.finish is FinishReason.LENGTH and not answer.found)
    notes = tuple(dict.fromkeys([*answer.notes, *checked.notes, *([CUT] if cut and answer.found else [])]))
    base = replace(base, drafts=checked.drafts, rejected=checked.rejected, notes=notes, salvaged=bool(notes))
    if checked.drafts:
        return base
    status, reason = _without_lessons(answer, checked.rejected, cut=cut)
    return replace(base, status=status, reason=reason)


def _without_lessons(answer: Answer, rejected: Iterable[Rejection], *, cut: bool) -> tuple[DistillStatus, str]:
    reasons = "; ".join(dict.fromkeys(rejection.reason for rejection in rejected))
    if cut:
        return DistillStatus.TRUNCATED, "the answer was cut off before one lesson was whole"
    if answer.refused:
        return DistillStatus.REFUSED, answer.problem
    if reasons:
        return DistillStatus.UNPARSEABLE, f"no item was a lesson: {reasons}"
    if answer.found and not answer.missed:
        return DistillStatus.EMPTY, "the model found nothing to learn"
    return DistillStatus.UNPARSEABLE, f"the answer held {answer.problem}"


def _answering(drawn: Distillation, runs: Sequence[Trajectory]) -> Distillation:
    """Return it with the errors that its lessons answer."""
    drafts = (draft.model_copy(update={"signatures": answered_by(draft, runs)}) for draft in drawn.drafts)
    return replace(drawn, drafts=tuple(drafts))


def second_request(request: ChatRequest, reply: ChatReply, first: Distillation) -> ChatRequest | None:
    """Return the one other question that is worth asking, or None. It is never the same question.

    A cut-off answer is asked for with twice the room and fewer words; an answer that could not be read is shown to
    the model with what was wrong, as is one in which an outcome is no word that is known. A refusal, an empty list and
    another usable answer stand.
    """
    if first.status is DistillStatus.TRUNCATED:
        messages = (*request.messages, ChatMessage("user", prompts.SHORTER_V1))
        return replace(request, messages=messages, max_tokens=2 * request.max_tokens)
    problem = first.reason.removeprefix("the answer held ") if first.status is DistillStatus.UNPARSEABLE else ""
    if any(rejection.reason == NO_OUTCOME for rejection in first.rejected):
        problem = problem or f"a lesson that cannot be used: {NO_OUTCOME}"
    if problem:
        said = ChatMessage("assistant", reply.text[:2_000] or "(nothing)")
        wrong = ChatMessage("user", prompts.REPAIR_V1.format(problem=problem))
        return replace(request, messages=(*request.messages, said, wrong))
    return None


def merge(chat: Chat, memories: Sequence[Memory]) -> Draft:
    """Return the lesson that a model writes in place of several, at least two, of one outcome.

    Raises:
        DistillationError: there was no usable answer, or it names something that none of the lessons names.
    """
    return _rewritten(chat, memories, prompts.MERGE_V1, "the lessons were not merged")


def generalise(chat: Chat, memory: Memory, specific: Sequence[str]) -> Draft:
    """Return a lesson as a model writes it without what is specific to its project.

    Raises:
        DistillationError: there was no usable answer, or it names something that the lesson does not name.
    """
    named = ", ".join(dict.fromkeys(specific))
    return _rewritten(chat, [memory], prompts.GENERALISE_V1, "the lesson was not generalised", specific=named)


def _rewritten(chat: Chat, memories: Sequence[Memory], asked: str, problem: str, **facts: str) -> Draft:
    outcome = memories[0].outcome
    source = Source(how="distilled", by=chat.name[:200], trusted=all(memory.source.trusted for memory in memories))
    fields = ((memory.title, memory.description, memory.applies_when, memory.content) for memory in memories)
    texts = [strip_lessons("\n".join(filter(None, said))) for said in fields]
    prompt = asked.format(
        **facts,
        count=len(texts),
        rules=prompts.RULES_V1.format(cap=1),
        lessons=prompts.quoted_all(texts, "LESSON"),
        outcome=outcome.value,
    )
    try:
        reply = chat.complete(_lessons_request(prompt, TEMPERATURE, ANSWER_TOKENS))
    except ChatError as error:
        raise DistillationError(f"{problem}: {error}") from error
    answer = read_reply(reply, Rules(cap=1, outcome=None, source=source))
    if answer.status is not DistillStatus.DONE:
        raise DistillationError(f"{problem}: {answer.reason}")
    draft = answer.drafts[0]
    if draft.outcome is not outcome:
        raise DistillationError(f"{problem}: the outcome is {outcome}, not {draft.outcome}")
    return _checked(draft, texts)


def _checked(draft: Draft, texts: Sequence[str]) -> Draft:
    # Tables of words, which only a merge needs.
    from reasoningbank.upkeep.likeness import wording

    said = wording("\n".join(texts))
    new = wording("\n".join((draft.title, draft.description, draft.applies_when, draft.content)))
    invented = sorted((new.names - said.names - said.spoken) | (new.numbers - said.numbers))
    if invented:
        raise DistillationError(f"the lessons were not merged: the answer names {', '.join(invented)}, which none does")
    return draft

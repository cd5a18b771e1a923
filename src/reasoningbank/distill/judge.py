"""Judging a run: success, failure or unknown, with reasons. No answer is no verdict, and never a failure."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from reasoningbank.distill import prompts
from reasoningbank.distill.cleaning import clean, pack
from reasoningbank.distill.parse import json_values, without_thinking
from reasoningbank.errors import ChatError, InvalidInputError, JudgeUnavailableError
from reasoningbank.judgement import Judgement, as_judgement, reasons_in
from reasoningbank.llm.base import Chat, ChatMessage, ChatRequest, FinishReason, as_chat
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.screening.door import said_by
from reasoningbank.verdict import VERDICT_WORDS, Verdict, label_text

RUN_TOKENS = 6_000
ANSWER_TOKENS = 512

# What two of them say stands in a run's own lines, too: "Status: error".
LABELS = {word: verdict for word, verdict in VERDICT_WORDS.items() if word not in ("error", "none")}
LABEL_KEYS = ("verdict", "status", "label", "outcome", "judgement", "judgment", "result", "success")
LABELLED = re.compile(
    r"(?i)\b(?:final\s+)?(?:verdict|status|label|outcome|judge?ment)\b[\s\"'*_`]*[:=][\s\"'*_`]*([^\n/|;,.\"'*`]+)"
)


@runtime_checkable
class RunJudge(Protocol):
    """Anything that judges runs."""

    def judge(self, run: Trajectory) -> Judgement:
        """Judge a run.

        Raises:
            JudgeUnavailableError: there is no verdict.
        """


class LLMJudge:
    """A judge that asks a model, at temperature 0."""

    def __init__(self, chat: Chat | Callable[..., Any], *, run_tokens: int = RUN_TOKENS) -> None:
        self._chat = as_chat(chat)
        self._run_tokens = run_tokens

    def judge(self, run: Trajectory) -> Judgement:
        """Judge a run (cleaned: see `clean`); an answer without a verdict is asked for once more.

        Raises:
            JudgeUnavailableError: the model could not be reached, would not answer, or gave no readable label.
        """
        text = pack(run.model_copy(update={"verdict": Verdict.UNKNOWN, "reason": ""}), max_tokens=self._run_tokens).text
        messages = (
            ChatMessage("system", prompts.JUDGE_SYSTEM_V1),
            ChatMessage("user", prompts.JUDGE_V1.format(run=prompts.quoted(text))),
        )
        answer = self._ask(messages)
        found = read_judgement(answer)
        if found is None and answer:
            again = (*messages, ChatMessage("assistant", answer), ChatMessage("user", prompts.JUDGE_REPAIR_V1.format()))
            found = read_judgement(self._ask(again))
        if found is None:
            raise JudgeUnavailableError(f"{self._chat.name} gave no verdict that can be read: {answer[:100]!r}")
        return Judgement(found.verdict, found.reasons, self._chat.name)

    def __call__(self, given: Any) -> Verdict:
        """Judge whatever a run gave (see `Trajectory.of`), as the adapters call their judges; it raises as `judge`."""
        return self.judge(clean(Trajectory.of(given)).run).verdict

    def _ask(self, messages: tuple[ChatMessage, ...]) -> str:
        request = ChatRequest(messages, prompts.VERDICT_SCHEMA, "verdict", max_tokens=ANSWER_TOKENS)
        try:
            reply = self._chat.complete(request)
        except ChatError as error:
            raise JudgeUnavailableError(f"there is no verdict: {error}") from error
        if reply.finish in (FinishReason.REFUSAL, FinishReason.CONTENT_FILTER):
            raise JudgeUnavailableError(f"{self._chat.name} refused to judge: {reply.refusal or reply.finish}")
        return reply.text


class CallableJudge:
    """Any callable as a judge, also an async one: it takes the run, and returns what `as_judgement` reads.

    None is no verdict yet: the run is judged later.
    """

    def __init__(self, call: Callable[[Trajectory], Any]) -> None:
        self._call = call
        self._name = getattr(call, "__name__", type(call).__name__)

    def judge(self, run: Trajectory) -> Judgement:
        """Call it, or raise JudgeUnavailableError where it returned None or what cannot be read, or raised."""
        try:
            said = settled(self._call(run))
        except Exception as error:  # whatever a user's own judge raises, there is no verdict
            raise JudgeUnavailableError(f"{self._name} raised {said_by(error)}") from error
        if said is None:
            raise JudgeUnavailableError(f"{self._name} returned None, which is no verdict")
        try:
            found = as_judgement(said)
        except InvalidInputError as error:
            raise JudgeUnavailableError(f"{self._name} gave no verdict: {error}") from None
        return found if found.by else replace(found, by=self._name)


def settled(said: Any) -> Any:
    """Return what a judge said, once it has said it: what an async judge returned is waited for in a loop of its own.

    Meanwhile the thread waits, also one that has a running loop: async code awaits its judges itself.
    """
    if not inspect.isawaitable(said):
        return said

    async def wait() -> Any:
        return await said

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="reasoningbank-judge") as one:
        return one.submit(context.run, asyncio.run, wait()).result()


def as_judge(judge: RunJudge | Callable[[Trajectory], Any]) -> RunJudge:
    """Return `judge` if it is a RunJudge, and any other callable wrapped as one, or raise InvalidInputError."""
    if isinstance(judge, RunJudge):
        return judge
    if callable(judge):
        return CallableJudge(judge)
    raise InvalidInputError(f"{type(judge).__name__} is no judge: give an object with judge(run), or a callable")


def read_label(value: object) -> Verdict | None:
    """Return the verdict a label stands for, matched whole; None if it is none."""
    if isinstance(value, bool):
        return Verdict.SUCCESS if value else Verdict.FAILURE
    if not isinstance(value, str):
        return None
    return LABELS.get(label_text(value))


def read_judgement(answer: str) -> Judgement | None:
    """Read a verdict from an answer: JSON, a line like "Status: failure", or the label alone.

    Where several verdicts are given they must agree; None is returned when they do not, or when there is none.
    """
    said, _ = without_thinking(answer)
    values = [value for value in json_values(said) if isinstance(value, Mapping)]
    found = [judgement for value in values for judgement in _in_json(value)]
    if not values:
        labels = [read_label(match.group(1)) for match in LABELLED.finditer(said)] or [read_label(said)]
        found = [Judgement(label, _reasons_in(said)) for label in labels if label is not None]
    return found[-1] if len({judgement.verdict for judgement in found}) == 1 else None


def _in_json(value: Mapping[str, Any]) -> Iterator[Judgement]:
    fields = {str(key).lower(): given for key, given in value.items()}
    label = next((found for key in LABEL_KEYS if (found := read_label(fields.get(key))) is not None), None)
    if label is not None:
        yield Judgement(label, reasons_in(fields.get("reasons") or fields.get("reason") or fields.get("thoughts")))


def _reasons_in(text: str) -> tuple[str, ...]:
    lines = (line.strip(" *_#-") for line in text.splitlines())
    return tuple(line[:500] for line in lines if len(line.split()) > 2 and not LABELLED.search(line))[:3]

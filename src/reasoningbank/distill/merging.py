"""One lesson out of several that say the same, by a model: one question, and its answer checked against them."""

from __future__ import annotations

from collections.abc import Sequence

from reasoningbank.distill import prompts
from reasoningbank.distill.distiller import ANSWER_TOKENS, TEMPERATURE, read_reply
from reasoningbank.distill.items import Rules
from reasoningbank.errors import ChatError, DistillationError
from reasoningbank.llm.base import Chat, ChatMessage, ChatRequest
from reasoningbank.memory import Draft, Memory, Source
from reasoningbank.prompt.block import strip_lessons
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.upkeep.likeness import wording


def merge(chat: Chat, memories: Sequence[Memory]) -> Draft:
    """Return the lesson that a model writes in place of several.

    Args:
        memories: of one outcome; at least two.

    Raises:
        DistillationError: there was no usable answer, or it names something that none of the lessons names.
    """
    outcome = memories[0].outcome
    source = Source(how="distilled", by=chat.name[:200], trusted=all(memory.source.trusted for memory in memories))
    texts = [strip_lessons(_text(memory)) for memory in memories]
    prompt = prompts.MERGE_V1.format(
        count=len(texts),
        rules=prompts.RULES_V1.format(cap=1),
        lessons=prompts.quoted_all(texts, "LESSON"),
        outcome=outcome.value,
    )
    messages = (ChatMessage("system", prompts.SYSTEM_V1), ChatMessage("user", prompt))
    request = ChatRequest(messages, prompts.LESSONS_SCHEMA, "lessons", TEMPERATURE, ANSWER_TOKENS)
    try:
        reply = chat.complete(request)
    except ChatError as error:
        raise DistillationError(f"the lessons were not merged: {error}") from error
    answer = read_reply(reply, Rules(cap=1, outcome=None, source=source))
    if answer.status is not DistillStatus.DONE:
        raise DistillationError(f"the lessons were not merged: {answer.reason}")
    draft = answer.drafts[0]
    if draft.outcome is not outcome:
        raise DistillationError(f"the lessons were not merged: their outcome is {outcome}, not {draft.outcome}")
    return _checked(draft, texts)


def _text(memory: Memory) -> str:
    return "\n".join(filter(None, (memory.title, memory.description, memory.applies_when, memory.content)))


def _checked(draft: Draft, texts: Sequence[str]) -> Draft:
    said = wording("\n".join(texts))
    new = wording("\n".join((draft.title, draft.description, draft.applies_when, draft.content)))
    invented = sorted((new.names - said.names - said.spoken) | (new.numbers - said.numbers))
    if invented:
        raise DistillationError(f"the lessons were not merged: the answer names {', '.join(invented)}, which none does")
    return draft

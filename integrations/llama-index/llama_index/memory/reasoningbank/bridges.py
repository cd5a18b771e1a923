"""Bridges to distilling: LlamaIndex's LLMs as models of the library, and its messages as runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM

from reasoningbank import ChatError, Trajectory
from reasoningbank.llm import ChatReply, ChatRequest, FinishReason, Usage, read_finish


class LlamaIndexChat:
    """A LlamaIndex LLM as a Chat for LLMDistiller and LLMJudge."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._llm.metadata.model_name)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask the model.

        Raises:
            ChatError: it raised, after its own retries.
        """
        messages = [ChatMessage(role=message.role, content=message.content) for message in request.messages]
        try:
            answer = self._llm.chat(messages)
        except Exception as error:  # whatever a provider's package raises is the endpoint's failure
            raise ChatError(f"{self.name} raised {type(error).__name__}: {error}") from error
        facts: dict[str, Any] = {**answer.message.additional_kwargs, **(answer.additional_kwargs or {})}
        finish = facts.get("finish_reason") or facts.get("stop_reason") or _raw_finish(answer.raw)
        return ChatReply(
            text=str(answer.message.content or ""),
            finish=read_finish(finish) if finish else FinishReason.UNKNOWN,
            usage=Usage(int(facts.get("prompt_tokens") or 0), int(facts.get("completion_tokens") or 0)),
            refusal=str(facts.get("refusal") or ""),
            model=self.name,
        )


def _raw_finish(raw: Any) -> Any:
    """Return the finish reason of an endpoint's own answer, as most of them give it."""
    choices = raw.get("choices") if isinstance(raw, dict) else getattr(raw, "choices", None)
    first = choices[0] if choices else None
    return first.get("finish_reason") if isinstance(first, dict) else getattr(first, "finish_reason", None)


def as_chat(llm: LLM) -> LlamaIndexChat:
    """Return a LlamaIndex LLM as a model that distils and judges: `LLMDistiller(as_chat(llm))`."""
    return LlamaIndexChat(llm)


def trajectory_of(messages: Sequence[ChatMessage]) -> Trajectory:
    """Return the messages of an agent's run as a Trajectory: its task, its steps and its result."""
    return Trajectory.of(list(messages))

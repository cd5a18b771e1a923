"""Bridges to distilling: LangChain's chat models as models of the library, and its messages as runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from reasoningbank import ChatError, Trajectory
from reasoningbank.llm import ChatReply, ChatRequest, FinishReason, Usage, read_finish


class LangChainChat:
    """A LangChain chat model as a Chat for LLMDistiller and LLMJudge."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name, or its type where it has none."""
        named = getattr(self._model, "model_name", None) or getattr(self._model, "model", None)
        return str(named or type(self._model).__name__)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask the model.

        Raises:
            ChatError: it raised, after its own retries.
        """
        messages = [message.as_dict() for message in request.messages]
        try:
            answer = self._model.invoke(messages)
        except Exception as error:  # whatever a provider's package raises is the endpoint's failure
            raise ChatError(f"{self.name} raised {type(error).__name__}: {error}") from error
        metadata = answer.response_metadata or {}
        used: dict[str, Any] = dict(answer.usage_metadata or {})
        finish = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason")
        return ChatReply(
            text=answer.text,
            finish=read_finish(finish) if finish else FinishReason.UNKNOWN,
            usage=Usage(used.get("input_tokens", 0), used.get("output_tokens", 0)),
            refusal=str(answer.additional_kwargs.get("refusal") or ""),
            model=str(metadata.get("model_name") or metadata.get("model") or ""),
        )


def as_chat(model: BaseChatModel) -> LangChainChat:
    """Return a LangChain chat model as a model that distils and judges: `LLMDistiller(as_chat(model))`."""
    return LangChainChat(model)


def trajectory_of(messages: Sequence[BaseMessage]) -> Trajectory:
    """Return the messages of an agent's run as a Trajectory: its task, its steps and its result."""
    return Trajectory.of(list(messages))

"""A chat that follows a script, for what is tested without a model."""

from __future__ import annotations

from reasoningbank.errors import ChatError
from reasoningbank.llm.base import ChatReply, ChatRequest, FinishReason, Usage


class Scripted:
    """A chat that says what it is told to, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, *answers: str | ChatReply | ChatError) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, ChatError):
            raise answer
        return answer if isinstance(answer, ChatReply) else ChatReply(answer, FinishReason.STOP, Usage(10, 5))

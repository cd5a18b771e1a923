"""What the library needs of a language model: messages in; text, finish reason and usage out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, runtime_checkable

from reasoningbank.errors import ChatError, InvalidInputError, ReasoningBankError
from reasoningbank.screening.door import said_by


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str

    def as_dict(self) -> dict[str, str]:
        """Return it as endpoints take it."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked.

    Attributes:
        schema: JSON schema of the wanted answer; an endpoint that cannot constrain its answers ignores it.
        schema_name: a name for it, letters and underscores.
        temperature: 0 is the most repeatable.
        max_tokens: the most the answer may take.
    """

    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"
    temperature: float = 0.0
    max_tokens: int = 1024


class FinishReason(StrEnum):
    """Why the answer ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    TOOL_CALLS = "tool_calls"
    UNKNOWN = "unknown"


# What endpoints call it: OpenAI's, Anthropic's, Gemini's and Cohere's words.
FINISH_WORDS = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "complete", "eos", "eos_token"), FinishReason.STOP),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), FinishReason.LENGTH),
    **dict.fromkeys(("model_context_window_exceeded", "incomplete"), FinishReason.LENGTH),
    **dict.fromkeys(("refusal", "refused"), FinishReason.REFUSAL),
    **dict.fromkeys(("content_filter", "safety", "prohibited_content", "blocklist"), FinishReason.CONTENT_FILTER),
    **dict.fromkeys(("recitation", "error_toxic"), FinishReason.CONTENT_FILTER),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call", "tool_call"), FinishReason.TOOL_CALLS),
}


def read_finish(word: object) -> FinishReason:
    """Return the finish reason an endpoint's word stands for; an unknown word or none is UNKNOWN."""
    return FINISH_WORDS.get(str(getattr(word, "value", word)).lower(), FinishReason.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens spent, as the endpoint counted them; 0 where it does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """An answer.

    Attributes:
        text: what was said; "" if nothing was.
        refusal: the endpoint's own words of refusal, where it gives them apart from the text.
        model: the model that answered, as it names itself.
    """

    text: str
    finish: FinishReason = FinishReason.UNKNOWN
    usage: Usage = field(default_factory=Usage)
    refusal: str = ""
    model: str = ""


@runtime_checkable
class Chat(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """What it is called, for the provenance of what it wrote."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """Answer `request`.

        Raises:
            ChatError: the endpoint failed for good, after its bounded retries.
        """


class CallableChat:
    """Any callable as a Chat: it is called with a list of `{"role", "content"}` dictionaries.

    It may return a text, a ChatReply, or None (nothing was said). What it raises becomes a ChatError.
    """

    def __init__(self, call: Callable[[list[dict[str, str]]], str | ChatReply | None], name: str | None = None) -> None:
        self._call = call
        self._name = str(name or getattr(call, "__name__", type(call).__name__))

    @property
    def name(self) -> str:
        """The callable's name."""
        return self._name

    def complete(self, request: ChatRequest) -> ChatReply:
        """Call it; the schema and the limits are not passed on."""
        try:
            answer = self._call([message.as_dict() for message in request.messages])
        except ReasoningBankError:
            raise
        except Exception as error:  # whatever a user's own model raises is that model's failure
            raise ChatError(f"{self._name} raised {said_by(error)}") from error
        if isinstance(answer, ChatReply):
            return answer
        if answer is None or isinstance(answer, str):
            return ChatReply(answer or "", FinishReason.STOP)
        raise ChatError(f"{self._name} returned {type(answer).__name__}: return a text or a ChatReply")


def as_chat(model: Chat | Callable[[list[dict[str, str]]], str | ChatReply | None]) -> Chat:
    """Return `model` if it is a Chat, and any other callable wrapped as one, or raise InvalidInputError."""
    if isinstance(model, Chat):
        return model
    if callable(model):
        return CallableChat(model)
    raise InvalidInputError(
        f"{type(model).__name__} is no chat model: give an object with complete(request) and name, or a callable "
        "from a list of messages to text"
    )

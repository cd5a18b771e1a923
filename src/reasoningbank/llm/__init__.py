"""Language models: one small protocol, and an OpenAI-compatible endpoint."""

from reasoningbank.llm.base import (
    CallableChat,
    Chat,
    ChatMessage,
    ChatReply,
    ChatRequest,
    FinishReason,
    Usage,
    read_finish,
)
from reasoningbank.llm.openai import OpenAIChat

__all__ = [
    "CallableChat",
    "Chat",
    "ChatMessage",
    "ChatReply",
    "ChatRequest",
    "FinishReason",
    "OpenAIChat",
    "Usage",
    "read_finish",
]

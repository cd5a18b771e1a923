"""ReasoningBank for LangChain: a retriever, tools, and a middleware that learns how runs end.

The middleware needs the extra `agents`; everything else needs `langchain-core` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_reasoningbank.bridges import LangChainChat, as_chat, trajectory_of
from langchain_reasoningbank.documents import format_lessons, lessons_text
from langchain_reasoningbank.outcome import attach
from langchain_reasoningbank.retriever import ReasoningBankRetriever
from langchain_reasoningbank.tools import (
    MemoryApproveTool,
    MemoryFeedbackTool,
    MemoryListTool,
    MemoryOutcomeTool,
    MemoryRecordTool,
    MemoryRetireTool,
    MemorySearchTool,
    MemoryUpdateTool,
    ReasoningBankToolkit,
)
from reasoningbank import MissingExtraError

if TYPE_CHECKING:
    from langchain_reasoningbank.failing import ToolFailureMiddleware
    from langchain_reasoningbank.middleware import ReasoningBankMiddleware

__all__ = [
    "LangChainChat",
    "MemoryApproveTool",
    "MemoryFeedbackTool",
    "MemoryListTool",
    "MemoryOutcomeTool",
    "MemoryRecordTool",
    "MemoryRetireTool",
    "MemorySearchTool",
    "MemoryUpdateTool",
    "ReasoningBankMiddleware",
    "ReasoningBankRetriever",
    "ReasoningBankToolkit",
    "ToolFailureMiddleware",
    "as_chat",
    "attach",
    "format_lessons",
    "lessons_text",
    "trajectory_of",
]


def __getattr__(name: str) -> Any:
    # The middleware's packages are an extra: they are loaded when it is asked for.
    if name == "ToolFailureMiddleware":
        from langchain_reasoningbank.failing import ToolFailureMiddleware

        return ToolFailureMiddleware
    if name == "ReasoningBankMiddleware":
        try:
            from langchain_reasoningbank.middleware import ReasoningBankMiddleware
        except ModuleNotFoundError as missing:
            if (missing.name or "").partition(".")[0] not in {"langchain", "langgraph", "langgraph_reasoningbank"}:
                raise
            raise MissingExtraError(name, "agents", "langchain-reasoningbank") from missing

        return ReasoningBankMiddleware
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

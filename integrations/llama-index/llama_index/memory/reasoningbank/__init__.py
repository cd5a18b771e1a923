"""ReasoningBank for LlamaIndex: a memory block that learns, a retriever, tools, and the outcome of every run."""

from llama_index.memory.reasoningbank.block import ReasoningBankMemoryBlock
from llama_index.memory.reasoningbank.bridges import LlamaIndexChat, as_chat, trajectory_of
from llama_index.memory.reasoningbank.failing import FailingTools
from llama_index.memory.reasoningbank.outcome import (
    MemoryOutcomeEvent,
    MemoryRecallEvent,
    MemoryRun,
    ReasoningBankSpanHandler,
    run_with_memory,
)
from llama_index.memory.reasoningbank.retriever import ReasoningBankRetriever, get_tools

__all__ = [
    "FailingTools",
    "LlamaIndexChat",
    "MemoryOutcomeEvent",
    "MemoryRecallEvent",
    "MemoryRun",
    "ReasoningBankMemoryBlock",
    "ReasoningBankRetriever",
    "ReasoningBankSpanHandler",
    "as_chat",
    "get_tools",
    "run_with_memory",
    "trajectory_of",
]

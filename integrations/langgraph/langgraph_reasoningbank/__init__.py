"""ReasoningBank for LangGraph: lessons at graph start, outcome at graph end."""

from langgraph_reasoningbank.failing import FailingTools
from langgraph_reasoningbank.functional import recall_task, report_task
from langgraph_reasoningbank.hooks import ReasoningBankHooks, lessons_block
from langgraph_reasoningbank.outcome import GraphOutcome
from langgraph_reasoningbank.state import ReasoningBankState, keep_right

__all__ = [
    "FailingTools",
    "GraphOutcome",
    "ReasoningBankHooks",
    "ReasoningBankState",
    "keep_right",
    "lessons_block",
    "recall_task",
    "report_task",
]

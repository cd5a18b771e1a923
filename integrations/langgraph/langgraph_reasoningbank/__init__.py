"""ReasoningBank for LangGraph: lessons at graph start, outcome at graph end."""

from langgraph_reasoningbank.outcome import GraphOutcome

__all__ = ["GraphOutcome"]

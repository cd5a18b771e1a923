"""How graph runs end, by LangGraph's run-level callbacks: they see every ending."""

from __future__ import annotations

from langgraph.callbacks import GraphCallbackHandler

from reasoningbank.adapters import RunWatch


class GraphOutcome(RunWatch, GraphCallbackHandler):
    """Watches the runs of a graph, and reports those that no node and no hook closes. Bind it to the compiled graph."""

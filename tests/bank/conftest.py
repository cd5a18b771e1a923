"""A bank with a small graph."""

from __future__ import annotations

import pytest

from reasoningbank import ReasoningBank


@pytest.fixture
def memory_id(bank: ReasoningBank) -> str:
    return bank.record("Look at promotions", "Before blaming the forecast", outcome="success").memory.id


@pytest.fixture
def connected(bank: ReasoningBank, memory_id: str) -> ReasoningBank:
    """A request, what was done about it, what that read, and what it showed."""
    bank.graph.add_node(
        "UserRequest", "Why did cold brew coffee run out?", node_id="N1", tags=["stockout"], conv_id="c1"
    )
    bank.graph.add_node("AgentAction", "Joined sales with promotions", node_id="N2", fields={"status": "complete"})
    bank.graph.add_node("DataSource", "Weekly sales per store", node_id="N3", fields={"doc_pointer": "sales.csv"})
    bank.graph.add_node(
        "AgentAnswer", "A local campaign doubled demand", node_id="N4", reasoning_pointer_ids=[memory_id]
    )
    bank.graph.add_edge("N1", "N2", "The question led to the join", weight=0.9, tags=["stockout"], edge_id="E1")
    bank.graph.add_edge("N2", "N3", "The join reads the sales", weight=0.6, edge_id="E2")
    bank.graph.add_edge("N2", "N4", "The join showed the campaign", weight=0.9, edge_id="E3")
    return bank

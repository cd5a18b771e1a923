"""LangGraph: a graph that fails on one thread, learns, and succeeds on the next."""

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph, add_messages
from scripted import works, write_code

from langgraph_reasoningbank import ReasoningBankHooks, ReasoningBankState, lessons_block
from reasoningbank import ReasoningBank


class State(ReasoningBankState):
    """The graph's own messages beside the lessons."""

    messages: Annotated[list[AnyMessage], add_messages]


def agent(state: State) -> dict[str, Any]:
    """Answer with the lessons in view."""
    prompt = lessons_block(state) + "\n\n" + state["messages"][-1].text
    return {"messages": [("ai", write_code(prompt))]}  # any chat model: model.invoke(prompt)


with ReasoningBank("memory", tenant="acme", project="data") as bank:
    hooks = ReasoningBankHooks(bank, judge=lambda state: works(state["messages"][-1].text), timeout=5.0)
    builder = StateGraph(State)
    builder.add_node("agent", agent)
    graph = hooks.compile(hooks.attach(builder, entry="agent", exits=["agent"]), checkpointer=InMemorySaver())

    for thread, task in enumerate(["split a line of a CSV file into its fields", "take one CSV line's fields apart"]):
        config: Any = {"configurable": {"thread_id": str(thread)}}
        answer = graph.invoke({"messages": [("user", task)]}, config)["messages"][-1].text
        print(f"thread {thread}: {answer:26} {bank.runs.get(thread=str(thread)).verdict}")
        if not works(answer):
            bank.record(
                "Read CSV with csv.reader", "Splitting a line at commas breaks quoted fields.", outcome="failure"
            )

"""LangGraph: a graph that fails on one thread, learns, and succeeds on the next."""

from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from scripted import works, write_code

from langgraph_reasoningbank import ReasoningBankHooks, lessons_block
from reasoningbank import ReasoningBank


def agent(state: MessagesState) -> dict[str, Any]:
    """Answer with the lessons in view."""
    prompt = lessons_block(state) + "\n\n" + state["messages"][-1].text
    return {"messages": [("ai", write_code(prompt))]}  # any chat model: model.invoke(prompt)


with ReasoningBank("memory", tenant="acme", project="data") as bank:
    hooks = ReasoningBankHooks(bank, judge=lambda state: works(state["messages"][-1].text))
    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    graph = hooks.compile(hooks.attach(builder), checkpointer=InMemorySaver())

    for thread, task in enumerate(["split a line of a CSV file into its fields", "take one CSV line's fields apart"]):
        config: Any = {"configurable": {"thread_id": str(thread)}}
        answer = graph.invoke({"messages": [HumanMessage(task)]}, config)["messages"][-1].text
        print(f"thread {thread}: {answer:26} {bank.runs.get(thread=str(thread)).verdict}")
        if not works(answer):
            bank.record(
                "Read CSV with csv.reader", "Splitting a line at commas breaks quoted fields.", outcome="failure"
            )

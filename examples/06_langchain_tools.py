"""LangChain: an agent that looks up lessons, records one and reports, with the memory tools it is given."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from scripted import works, write_code

from langchain_reasoningbank import ReasoningBankToolkit
from reasoningbank import ReasoningBank


class ScriptedModel(BaseChatModel):
    """Stands in for a chat model that calls tools: it searches first, then answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Take the tools; the script knows their names."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            message = AIMessage(write_code(messages[-1].text))
        else:
            call = {"name": "memory_search", "args": {"query": messages[-1].text}, "id": "1", "type": "tool_call"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


model = ScriptedModel()  # any chat model: model = init_chat_model("...")

with ReasoningBank("memory", tenant="acme", project="data") as bank:
    agent = create_agent(model, ReasoningBankToolkit(bank).get_tools())
    for task in ("split a line of a CSV file into its fields", "take the fields of one CSV line apart"):
        messages = agent.invoke({"messages": [HumanMessage(task)]})["messages"]
        answer = messages[-1].text
        # A person, a test or a tool call of the agent itself says how it went.
        bank.report(works(answer), ref=messages[-2].artifact["ref"], by="the tests")
        print(f"{task:44} {answer:26} works: {works(answer)}")
        if not works(answer):
            bank.record(
                "Read CSV with csv.reader", "Splitting a line at commas breaks quoted fields.", outcome="failure"
            )

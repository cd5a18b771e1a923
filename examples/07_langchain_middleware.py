"""LangChain: an agent with the middleware. The lessons come by themselves, and so does the outcome."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from scripted import works, write_code

from langchain_reasoningbank import ReasoningBankMiddleware, attach
from reasoningbank import ReasoningBank


class ScriptedModel(SimpleChatModel):
    """Stands in for a chat model."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        return write_code("\n".join(message.text for message in messages))


model = ScriptedModel()  # any chat model: model = init_chat_model("...")

with ReasoningBank("memory", tenant="acme", project="data") as bank:
    middleware = ReasoningBankMiddleware(bank, judge=lambda state: works(state["messages"][-1].text))
    agent = attach(create_agent(model, [], middleware=[middleware]), middleware)

    for task in ("split a line of a CSV file into its fields", "take the fields of one CSV line apart"):
        answer = agent.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text
        print(f"{task:44} {answer:26} works: {works(answer)}")
        if not works(answer):
            bank.record(
                "Read CSV with csv.reader", "Splitting a line at commas breaks quoted fields.", outcome="failure"
            )

    lesson = bank.list().memories[0]
    print(f"the lesson helped: confidence {lesson.initial_confidence:.2f} -> {lesson.confidence:.2f}")

"""LangChain: a plain chain that fails, learns, and gets it right. With any chat model: change the marked line."""

from typing import Any

from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from scripted import works, write_code

from langchain_reasoningbank import ReasoningBankRetriever, attach, format_lessons
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
    retriever = ReasoningBankRetriever(bank=bank, record_usage=True)
    prompt = ChatPromptTemplate.from_template("{lessons}\n\nAnswer with a Python expression. Task: {q}")
    chain = {"lessons": retriever | format_lessons, "q": RunnablePassthrough()} | prompt | model
    learning = attach(chain, retriever, judge=lambda answer: works(answer.text))

    first = learning.invoke("split a line of a CSV file into its fields").text
    print(f"first:  {first:28} works: {works(first)}")
    if not works(first):
        bank.record("Read CSV with csv.reader", "Splitting lines at commas breaks fields.", outcome="failure")

    second = learning.invoke("take the fields of one CSV line apart").text
    print(f"second: {second:28} works: {works(second)}")
    lesson = bank.list().memories[0]
    print(f"the lesson helped: confidence {lesson.initial_confidence:.2f} -> {lesson.confidence:.2f}")

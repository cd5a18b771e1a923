"""The doors that agents of the frameworks come through, with default settings, and a model that says what it sees."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.graph import START, MessagesState, StateGraph
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory

from langchain_reasoningbank import ReasoningBankMiddleware, ReasoningBankRetriever, attach, format_lessons
from langgraph_reasoningbank import ReasoningBankHooks, lessons_block
from llama_index.memory.reasoningbank import ReasoningBankMemoryBlock, run_with_memory
from reasoningbank import ReasoningBank

SHOWN, BARE = "shown", "bare"
MARK = "<lessons-"
TOPICS = ("dates of invoices", "names of files", "rows of a table", "pages of a report", "keys of a cache", "mails")


def task(number: int) -> str:
    """Return what a run is asked: no two alike, so that no query is known."""
    return f"parse the {TOPICS[number % len(TOPICS)]} in folder {number}"


@dataclass(frozen=True)
class Door:
    """One way to run an agent.

    Attributes:
        run, arun: run it for a task of this number; tell whether its model was shown lessons.
        timed, bare: run it where a server would, and the same agent without the adapter.
        close: end what `timed` and `bare` run in.
    """

    name: str
    run: Callable[[int], bool]
    arun: Callable[[int], Awaitable[bool]]
    timed: Callable[[int], Any]
    bare: Callable[[int], Any]
    close: Callable[[], None] = lambda: None


class Telling(BaseChatModel):
    """Says whether it was shown lessons."""

    @property
    def _llm_type(self) -> str:
        return "telling"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        shown = any(MARK in message.text for message in messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(SHOWN if shown else BARE))])


def langchain_agent(bank: ReasoningBank) -> Door:
    """Return an agent with the middleware."""
    middleware = ReasoningBankMiddleware(bank)
    agent = attach(create_agent(Telling(), [], middleware=[middleware]), middleware)
    return _of_messages("LangChain agent", agent, create_agent(Telling(), []))


def langgraph_graph(bank: ReasoningBank) -> Door:
    """Return a graph with the hooks, whose node reads the block of lessons."""
    hooks, model = ReasoningBankHooks(bank), Telling()

    def builder(answer: Any) -> Any:
        return StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")

    def shown(state: MessagesState) -> dict[str, Any]:
        return {"messages": model.invoke([("system", lessons_block(state)), *state["messages"]])}

    def bare(state: MessagesState) -> dict[str, Any]:
        return {"messages": model.invoke([("system", ""), *state["messages"]])}

    return _of_messages("LangGraph graph", hooks.compile(hooks.attach(builder(shown))), builder(bare).compile())


def _of_messages(name: str, agent: Any, bare: Any) -> Door:
    def asked(number: int) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": task(number)}]}

    async def arun(number: int) -> bool:
        return bool((await agent.ainvoke(asked(number)))["messages"][-1].text == SHOWN)

    def run(number: int) -> bool:
        return bool(agent.invoke(asked(number))["messages"][-1].text == SHOWN)

    return Door(name, run, arun, run, lambda number: bare.invoke(asked(number)))


def langchain_chain(bank: ReasoningBank) -> Door:
    """Return a chain with the retriever."""
    retriever = ReasoningBankRetriever(bank=bank, record_usage=True)
    prompt: Any = RunnableLambda(lambda given: f"{given['lessons']}\n\n{given['question']}")
    question: Any = RunnablePassthrough()
    chain: Any = attach({"lessons": retriever | format_lessons, "question": question} | prompt | Telling(), retriever)
    none: Any = RunnableLambda(lambda _: "")
    bare: Any = {"lessons": none | RunnableLambda(str), "question": question} | prompt | Telling()

    async def arun(number: int) -> bool:
        return bool((await chain.ainvoke(task(number))).text == SHOWN)

    def run(number: int) -> bool:
        return bool(chain.invoke(task(number)).text == SHOWN)

    return Door("LangChain chain", run, arun, run, lambda number: bare.invoke(task(number)))


def llama_index_agent(bank: ReasoningBank) -> Door:
    """Return a LlamaIndex agent with the memory block."""
    block = ReasoningBankMemoryBlock(bank=bank)

    def answer(messages: list[ChatMessage], **_: Any) -> ChatMessage:
        shown = any(MARK in str(message.content) for message in messages)
        return ChatMessage(role="assistant", content=SHOWN if shown else BARE)

    def built(number: int, *blocks: Any) -> tuple[FunctionAgent, Memory]:
        llm = MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)
        memory = Memory.from_defaults(
            session_id=f"session {number}", memory_blocks=list(blocks), tokenizer_fn=str.split
        )
        return FunctionAgent(llm=llm, tools=[], streaming=False), memory

    async def arun(number: int) -> bool:
        agent, memory = built(number, block)
        return str(await run_with_memory(agent.run(task(number), memory=memory), memory=memory)) == SHOWN

    async def bare(number: int) -> None:
        agent, memory = built(number)
        await agent.run(task(number), memory=memory)

    # Timed in one loop: a loop that is made for a run also makes, and ends, the threads that it hands work to.
    loop = asyncio.Runner()
    return Door(
        "LlamaIndex agent",
        lambda number: asyncio.run(arun(number)),
        arun,
        lambda number: loop.run(arun(number)),
        lambda number: loop.run(bare(number)),
        loop.close,
    )


DOORS: tuple[Callable[[ReasoningBank], Door], ...] = (
    langchain_agent,
    langchain_chain,
    langgraph_graph,
    llama_index_agent,
)

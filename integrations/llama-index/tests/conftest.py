"""A bank with lessons, agents that follow a script, and what the bank's episodes were told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from llama_index_instrumentation import get_dispatcher

from llama_index.memory.reasoningbank import ReasoningBankMemoryBlock, ReasoningBankSpanHandler
from reasoningbank import ReasoningBank


@pytest.fixture
def open_bank(tmp_path: Path) -> Iterator[Callable[..., ReasoningBank]]:
    opened: list[ReasoningBank] = []

    def open_one(tenant: str = "acme", project: str = "billing") -> ReasoningBank:
        opened.append(ReasoningBank(tmp_path / "root", tenant=tenant, project=project, embedder="hash"))
        return opened[-1]

    yield open_one
    for bank in opened:
        bank.close()


@pytest.fixture
def bank(open_bank: Callable[..., ReasoningBank]) -> ReasoningBank:
    bank = open_bank()
    bank.record("Pin the timezone", "Pass tz=UTC to parse the dates of the invoices", outcome="success")
    bank.record("Never delete invoices", "Void invoices; never delete the invoices", outcome="failure")
    return bank


@pytest.fixture
def verdicts() -> Callable[[ReasoningBank], list[str | None]]:
    """Returns the verdicts of a bank's episodes, in the order they were opened; None for one that is open."""

    def read(bank: ReasoningBank) -> list[str | None]:
        return [episode.verdict for episode in reversed(bank.runs.list().episodes)]

    return read


@pytest.fixture
def spans() -> Iterator[Callable[..., ReasoningBankSpanHandler]]:
    """Registers span handlers, and takes them away after the test."""
    dispatcher = get_dispatcher()
    before = list(dispatcher.span_handlers)

    def register(**options: Any) -> ReasoningBankSpanHandler:
        handler = ReasoningBankSpanHandler(**options)
        dispatcher.add_span_handler(handler)
        return handler

    yield register
    dispatcher.span_handlers = before


class Agents:
    """Builds memories and agents that follow a script."""

    def __init__(self, bank: ReasoningBank) -> None:
        self.bank = bank
        self.prompts: list[list[ChatMessage]] = []

    def block(self, **options: Any) -> ReasoningBankMemoryBlock:
        """Return a block of the bank."""
        defaults: dict[str, Any] = {"bank": self.bank}
        return ReasoningBankMemoryBlock(**(defaults | options))

    def memory(self, *blocks: Any, session_id: str = "s", **options: Any) -> Memory:
        """Return a memory with these blocks, or with one of the bank."""
        made: Memory = Memory.from_defaults(
            session_id=session_id,
            token_limit=options.pop("token_limit", 4000),
            memory_blocks=list(blocks) or [self.block()],
            tokenizer_fn=str.split,
            **options,
        )
        return made

    def llm(self, *script: Any) -> MockFunctionCallingLLM:
        """Return a model that says the lines of a script: a text, a (tool, arguments) call, or an exception."""
        lines = iter(script)

        def answer(messages: list[ChatMessage], **kwargs: Any) -> ChatMessage:
            self.prompts.append(list(messages))
            line = next(lines, "done")
            if isinstance(line, Exception):
                raise line
            if isinstance(line, tuple):
                call = ToolCallBlock(tool_call_id=f"c{len(self.prompts)}", tool_name=line[0], tool_kwargs=line[1])
                return ChatMessage(role="assistant", blocks=[call])
            return ChatMessage(role="assistant", content=line)

        return MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)

    def function_agent(self, *script: Any, tools: list[Any] | None = None, **options: Any) -> FunctionAgent:
        """Return an agent that calls tools as the script says."""
        return FunctionAgent(llm=self.llm(*script), tools=tools or [lookup()], streaming=False, **options)

    def react_agent(self, *script: Any) -> ReActAgent:
        """Return an agent that reasons in text."""
        return ReActAgent(llm=self.llm(*script), tools=[lookup()], streaming=False)

    def lessons(self) -> list[int]:
        """Return how many lesson blocks the model saw in each call."""
        return [sum(str(m.content or "").count("<lessons-") for m in prompt) for prompt in self.prompts]


def lookup() -> FunctionTool:
    """Return a tool that finds everything but "boom"."""

    def look(what: str) -> str:
        """Look something up."""
        if what == "boom":
            raise RuntimeError("tool exploded")
        return f"found {what}"

    return FunctionTool.from_defaults(look, name="lookup")


@pytest.fixture
def agents(bank: ReasoningBank) -> Agents:
    return Agents(bank)

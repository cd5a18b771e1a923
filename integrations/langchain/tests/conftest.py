"""A bank with two lessons, and a chat model that says what a script tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from langchain_reasoningbank import ReasoningBankMiddleware, ReasoningBankRetriever, attach
from reasoningbank import ReasoningBank

DATES = "parse the dates of the invoices"


class ScriptedModel(BaseChatModel):
    """Answers with the lines of a script, one a call; an exception in it is raised. Remembers what it was given."""

    _script: list[Any] = PrivateAttr(default_factory=list)
    _seen: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def seen(self) -> list[list[BaseMessage]]:
        """The messages of each call."""
        return self._seen

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Check that the tools can be described to an endpoint."""
        assert [convert_to_openai_tool(tool, strict=True) for tool in tools]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._seen.append(list(messages))
        line = self._script.pop(0) if self._script else "done"
        if isinstance(line, Exception):
            raise line
        message = AIMessage(line) if isinstance(line, str) else line.model_copy(deep=True)
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.fixture
def scripted() -> Callable[..., ScriptedModel]:
    def make(*script: Any) -> ScriptedModel:
        model = ScriptedModel()
        model._script.extend(script)
        return model

    return make


def call(name: str, **arguments: Any) -> AIMessage:
    """Return a message that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}", "type": "tool_call"}])


@pytest.fixture
def tool_call() -> Callable[..., AIMessage]:
    return call


@pytest.fixture
def open_bank(tmp_path: Path) -> Iterator[Callable[..., ReasoningBank]]:
    opened: list[ReasoningBank] = []

    def open_one(tenant: str = "acme", project: str = "billing") -> ReasoningBank:
        opened.append(ReasoningBank(tmp_path, tenant=tenant, project=project, embedder="hash"))
        return opened[-1]

    yield open_one
    for bank in opened:
        bank.close()


@pytest.fixture
def bank(open_bank: Callable[..., ReasoningBank]) -> ReasoningBank:
    bank = open_bank()
    bank.record("Pin the timezone", "Pass tz=UTC to parse the dates of the invoices", outcome="success", tags=["dates"])
    bank.record(
        "Never delete invoices", "Void invoices; never delete the invoices", outcome="failure", tags=["billing"]
    )
    bank.record("Quote invoice names", "Quote the names of the invoices in a shell", outcome="failure", tags=["shell"])
    return bank


@pytest.fixture
def retriever(bank: ReasoningBank) -> ReasoningBankRetriever:
    return ReasoningBankRetriever(bank=bank, record_usage=True)


@tool
def lookup(what: str) -> str:
    """Look something up."""
    if what == "boom":
        raise RuntimeError("tool exploded")
    return f"found {what}"


class Agents:
    """Builds agents with the middleware attached."""

    def __init__(self, bank: ReasoningBank, scripted: Callable[..., Any]) -> None:
        self.bank, self.scripted, self.lookup = bank, scripted, lookup

    def build(self, *script: Any, others: tuple[Any, ...] = (), first: bool = True, **options: Any) -> tuple[Any, Any]:
        saver, prompt = options.pop("checkpointer", None), options.pop("system_prompt", None)
        middleware = ReasoningBankMiddleware(self.bank, **options)
        order = [middleware, *others] if first else [*others, middleware]
        model = self.scripted(*script)
        agent = create_agent(model, [lookup], system_prompt=prompt, middleware=order, checkpointer=saver)
        return attach(agent, middleware), model

    def blocks(self, model: Any) -> list[int]:
        """Return how many lesson blocks the system messages of each call held."""
        return [sum(m.text.count("<lessons-") for m in seen if isinstance(m, SystemMessage)) for seen in model.seen]

    def verdicts(self, bank: ReasoningBank | None = None) -> list[str | None]:
        """Return the verdicts of all episodes, in the order they were opened."""
        return [episode.verdict for episode in reversed((bank or self.bank).runs.list().episodes)]


@pytest.fixture
def agents(bank: ReasoningBank, scripted: Callable[..., Any]) -> Agents:
    return Agents(bank, scripted)

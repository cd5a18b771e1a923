"""The memory tools for LangChain agents. Their scope is the bank's: no argument of the model can reach it."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langchain_reasoningbank.scope import run_scope
from reasoningbank.adapters import (
    MEMORY_FEEDBACK,
    MEMORY_LOOKUP,
    MEMORY_OUTCOME,
    MEMORY_RECORD,
    MEMORY_SEARCH,
    Banks,
    bank_of,
    memory_tools,
)


def _invalid(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    return f"argument {where!r}: {first['msg']}; what came was {first['input']!r:.100}. Correct it and call again."


class _BankTool(BaseTool):
    """One tool of one bank. What goes wrong is answered in one sentence, and never ends the agent's run.

    Attributes:
        bank: whose memories: a bank, whose tenant and project are the scope, or a resolver of the run's config and
            context.
        by: who records, votes and reports through the tool.
        trusted: whether what is recorded through it is trusted.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bank: Banks = Field(exclude=True, repr=False)
    by: str = "agent"
    trusted: bool = True
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    handle_validation_error: Any = _invalid

    def _read_only(self) -> bool:
        return False

    def _run(self, *alone: Any, config: RunnableConfig, **arguments: Any) -> tuple[str, dict[str, Any]]:
        bank = bank_of(self.bank, run_scope(config))
        offered = memory_tools(bank, read_only=self._read_only(), by=self.by, trusted=self.trusted)
        tool = next(tool for tool in offered if tool.name == self.name)
        # A text alone, which LangChain allows, is the first argument.
        answer = tool(dict(zip(tool.spec.arguments.model_fields, alone, strict=False)) | arguments)
        if answer.failed:
            raise ToolException(answer.text)
        return answer.text, answer.data

    async def _arun(self, *alone: Any, config: RunnableConfig, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return await run_in_executor(None, lambda: self._run(*alone, config=config, **arguments))


class MemorySearchTool(_BankTool):
    """Looks up lessons. Unless `read_only`, a call is a recall: it opens an episode, whose `ref` it gives."""

    name: str = MEMORY_SEARCH.name
    description: str = MEMORY_SEARCH.description
    args_schema: type[BaseModel] = MEMORY_SEARCH.arguments
    read_only: bool = False

    def _read_only(self) -> bool:
        return self.read_only


class MemoryRecordTool(_BankTool):
    """Stores a lesson."""

    name: str = MEMORY_RECORD.name
    description: str = MEMORY_RECORD.description
    args_schema: type[BaseModel] = MEMORY_RECORD.arguments


class MemoryFeedbackTool(_BankTool):
    """Counts a vote about one lesson."""

    name: str = MEMORY_FEEDBACK.name
    description: str = MEMORY_FEEDBACK.description
    args_schema: type[BaseModel] = MEMORY_FEEDBACK.arguments


class MemoryOutcomeTool(_BankTool):
    """Counts how a task ended."""

    name: str = MEMORY_OUTCOME.name
    description: str = MEMORY_OUTCOME.description
    args_schema: type[BaseModel] = MEMORY_OUTCOME.arguments


class ReasoningBankToolkit(BaseToolkit):
    """The memory tools of one bank.

    Attributes:
        read_only: only memory_search, which then counts nothing.
        by: who records, votes and reports through the tools.
        trusted: whether what is recorded through them is trusted.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bank: Banks = Field(exclude=True, repr=False)
    read_only: bool = False
    by: str = "agent"
    trusted: bool = True

    def __init__(self, bank: Banks, **options: Any) -> None:
        super().__init__(**{"bank": bank, **options})

    def get_tools(self) -> list[BaseTool]:
        """Return the tools."""
        options: dict[str, Any] = {"bank": self.bank, "by": self.by, "trusted": self.trusted}
        if self.read_only:
            return [MemorySearchTool(read_only=True, description=MEMORY_LOOKUP.description, **options)]
        kinds = (MemorySearchTool, MemoryRecordTool, MemoryFeedbackTool, MemoryOutcomeTool)
        return [kind(**options) for kind in kinds]

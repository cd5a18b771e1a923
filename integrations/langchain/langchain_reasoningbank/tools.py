"""The memory tools for LangChain agents. Their scope is the bank's: no argument of the model can reach it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from langchain_reasoningbank.scope import HoldoutOption, own_thread, run_name, run_scope
from reasoningbank.adapters import (
    MEMORY_APPROVE,
    MEMORY_FEEDBACK,
    MEMORY_LIST,
    MEMORY_LOOKUP,
    MEMORY_OUTCOME,
    MEMORY_RECORD,
    MEMORY_RETIRE,
    MEMORY_SEARCH,
    MEMORY_UPDATE,
    Banks,
    SearchArguments,
    as_reference,
    bank_of,
    check_allowed,
    is_held_out_around,
    memory_tools,
    place_in,
    to_object,
)


def _invalid(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    return f"argument {where!r}: {first['msg']}; what came was {first['input']!r:.100}. Correct it and call again."


class StrictSearchArguments(SearchArguments):
    """Arguments of memory_search as endpoints take them in strict mode, which admits no object of any keys."""

    where: Annotated[
        dict[str, Any] | None,
        BeforeValidator(to_object),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ] = Field(default=None, description=f"JSON text. {SearchArguments.model_fields['where'].description}")


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
    shared: tuple[str, ...] = ()
    by: str = "agent"
    trusted: bool = True
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    handle_validation_error: Any = _invalid

    def _read_only(self) -> bool:
        return False

    def _allowed(self) -> tuple[str, ...]:
        return ()

    def _holdout(self) -> float | str | None:
        return None

    def _run(self, *alone: Any, config: RunnableConfig, **arguments: Any) -> tuple[str, dict[str, Any]]:
        scope = run_scope(config)
        bank, own = bank_of(self.bank, scope, self.shared), as_reference(scope["configurable"].get("reasoningbank_ref"))
        place, thread = place_in(config, bank, own), own_thread(scope)
        options: dict[str, Any] = {"by": self.by, "trusted": self.trusted, "allow": self._allowed()}
        options |= {"read_only": self._read_only(), "holdout": self._holdout(), "thread": thread}
        options["within"] = place.ref if place is not None else own or run_name() or ""
        options["withheld"] = is_held_out_around(bank, config, thread)
        if place is not None:
            options["recalled"] = partial(place.opened, bank)
        offered = memory_tools(bank, **options)
        tool = next(tool for tool in offered if tool.name == self.name)
        # A text alone, which LangChain allows, is the first argument.
        answer = tool(dict(zip(tool.spec.arguments.model_fields, alone, strict=False)) | arguments)
        if answer.failed:
            raise ToolException(answer.text)
        return answer.text, answer.data

    async def _arun(self, *alone: Any, config: RunnableConfig, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return await run_in_executor(None, lambda: self._run(*alone, config=config, **arguments))


class MemorySearchTool(_BankTool):
    """Looks up lessons. Unless `read_only`, a call is a recall in the episode of the run, whose `ref` it gives.

    The run is the one of the agent or graph that calls it, whose middleware, hooks or retriever share its episode;
    outside of all runs each call opens an episode of its own.

    Attributes:
        read_only: nothing is counted.
        holdout: withhold lessons from a share of the runs (`bank.recall`); the bank's setting when None.
    """

    name: str = MEMORY_SEARCH.name
    description: str = MEMORY_SEARCH.description
    args_schema: type[BaseModel] = StrictSearchArguments
    read_only: bool = False
    holdout: HoldoutOption = None

    def _read_only(self) -> bool:
        return self.read_only

    def _holdout(self) -> float | str | None:
        return self.holdout


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


class MemoryUpdateTool(_BankTool):
    """Puts a lesson right: what it said before is kept."""

    name: str = MEMORY_UPDATE.name
    description: str = MEMORY_UPDATE.description
    args_schema: type[BaseModel] = MEMORY_UPDATE.arguments

    def _allowed(self) -> tuple[str, ...]:
        return ("update",)


class MemoryRetireTool(_BankTool):
    """Takes a lesson out of service, until a person restores it."""

    name: str = MEMORY_RETIRE.name
    description: str = MEMORY_RETIRE.description
    args_schema: type[BaseModel] = MEMORY_RETIRE.arguments

    def _allowed(self) -> tuple[str, ...]:
        return ("retire",)


class MemoryListTool(_BankTool):
    """Lists lessons by title."""

    name: str = MEMORY_LIST.name
    description: str = MEMORY_LIST.description
    args_schema: type[BaseModel] = MEMORY_LIST.arguments

    def _allowed(self) -> tuple[str, ...]:
        return ("list",)


class MemoryApproveTool(_BankTool):
    """Approves a quarantined lesson, as a person decided."""

    name: str = MEMORY_APPROVE.name
    description: str = MEMORY_APPROVE.description
    args_schema: type[BaseModel] = MEMORY_APPROVE.arguments

    def _allowed(self) -> tuple[str, ...]:
        return ("approve",)


ALLOWED: dict[str, type[_BankTool]] = {
    "list": MemoryListTool,
    "update": MemoryUpdateTool,
    "retire": MemoryRetireTool,
    "approve": MemoryApproveTool,
}


class ReasoningBankToolkit(BaseToolkit):
    """The memory tools of one bank.

    Attributes:
        read_only: only memory_search, which then counts nothing.
        by: who records, votes and reports through the tools.
        trusted: whether what is recorded through them is trusted.
        allow: "list", "update", "retire" and "approve" offer memory_list, memory_update, memory_retire and
            memory_approve (see memory_tools); beside read-only only "list".
        holdout: of memory_search.
        shared: shared banks that are looked through, too, the nearest first; those of the bank when none are named.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bank: Banks = Field(exclude=True, repr=False)
    read_only: bool = False
    by: str = "agent"
    trusted: bool = True
    allow: tuple[str, ...] = ()
    holdout: HoldoutOption = None
    shared: tuple[str, ...] = ()

    def __init__(self, bank: Banks, **options: Any) -> None:
        super().__init__(**{"bank": bank, **options})

    def get_tools(self) -> list[BaseTool]:
        """Return the tools; InvalidInputError for what cannot be allowed."""
        check_allowed(self.allow, read_only=self.read_only, trusted=self.trusted)
        options: dict[str, Any] = {
            "bank": self.bank,
            "by": self.by,
            "trusted": self.trusted,
            "shared": self.shared,
        }
        more = [kind(**options) for name, kind in ALLOWED.items() if name in self.allow]
        if self.read_only:
            return [MemorySearchTool(read_only=True, description=MEMORY_LOOKUP.description, **options), *more]
        kinds: list[type[_BankTool]] = [MemoryRecordTool, MemoryFeedbackTool, MemoryOutcomeTool]
        searching = MemorySearchTool(holdout=self.holdout, **options)
        return [searching, *(kind(**options) for kind in kinds), *more]

"""What the server offers, in the protocol's own JSON: tools, resources, prompts, and the answers. No SDK here."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from reasoningbank import Distiller, ReasoningBankError, TemplateDistiller
from reasoningbank.adapters import (
    MEMORY_APPROVE,
    MEMORY_RETIRE,
    MEMORY_UPDATE,
    MemoryTool,
    ToolSpec,
    memory_tools,
)
from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import FilterOptions
from reasoningbank.mcp_server.browsing import Resources
from reasoningbank.mcp_server.distilling import MEMORY_DISTILL, distill_tool
from reasoningbank.mcp_server.projects import Projects, is_one, nearest, taken_out
from reasoningbank.mcp_server.prompts import AFTER, after, before, filled, listed, read_prompt
from reasoningbank.mcp_server.schemas import OUTPUTS, TITLES, input_schema

# What the server says of itself at the start, a sentence for each tool that is offered.
INSTRUCTIONS = {
    "memory_search": "Call memory_search before a task, with what you are about to do in one sentence.",
    "memory_outcome": "When the task has ended, call memory_outcome once with the ref that memory_search gave.",
    "memory_feedback": "If one lesson helped or misled by itself, say so with memory_feedback.",
    "memory_record": "Record what a later run should know with memory_record.",
    "memory_distill": "When a task had several steps, hand them to memory_distill once, when it has ended.",
    "memory_update": "A lesson that proved wrong can be put right with memory_update.",
    "memory_retire": "One that cannot be put right is taken out of service with memory_retire.",
}
LOOK_ONLY = "Only looking up is offered here: nothing is recorded or reported."


class ResourceNotFoundError(ReasoningBankError):
    """No resource has this address."""


class Offer:
    """The tools, resources and prompts of a server.

    Args:
        projects: whose memories.
        read_only: only memory_search, which then opens no episode and counts nothing.
        by: who records, votes and reports through this server.
        trusted: whether what is recorded through it is trusted.
        distiller: offers memory_distill, unless read-only.
        allow: "list", "update", "retire" and "approve" offer the tools of these names (see memory_tools); beside
            read-only only "list".
        filters: of memory_search and memory_list, whatever they are asked.
        session: of the one client, where there is one: a hold-out draws once for all of its calls.
    """

    def __init__(
        self,
        projects: Projects,
        *,
        read_only: bool = False,
        by: str = "mcp",
        trusted: bool = True,
        distiller: Distiller | None = None,
        allow: Collection[str] = (),
        filters: FilterOptions | None = None,
        session: str | None = None,
    ) -> None:
        self._projects = projects
        self._options: dict[str, Any] = {"read_only": read_only, "by": by, "trusted": trusted, "allow": tuple(allow)}
        self._options |= {"filters": filters, "thread": session}
        self._distiller = None if read_only else distiller
        # A model may be asked, which is outside, and does not say the same twice.
        self._asks_outside = not isinstance(distiller, TemplateDistiller)
        self._resources = Resources(projects, filters or {})
        self._specs = {tool.name: tool.spec for tool in self._tools(projects.names[0])}

    @property
    def _several(self) -> bool:
        return not is_one(self._projects)

    def _tools(self, project: str) -> list[MemoryTool]:
        bank = self._projects.bank(project)
        tools = memory_tools(bank, **self._options)
        if self._distiller is not None:
            tools.append(distill_tool(bank, self._distiller, trusted=self._options["trusted"]))
        return tools

    @property
    def instructions(self) -> str:
        """What a client's model is told at the start: of what is offered, and of nothing else."""
        told = [sentence for name, sentence in INSTRUCTIONS.items() if name in self._specs]
        if self._several:
            told.append(f"Name the project in each call (project_id): {', '.join(self._projects.names)}.")
        return " ".join([*told, LOOK_ONLY] if self._options["read_only"] else told)

    # -- tools ---------------------------------------------------------------------------------------------------

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools, as `tools/list` gives them."""
        return [
            {
                "name": name,
                "title": TITLES[name],
                "description": spec.description,
                "inputSchema": input_schema(spec.arguments, self._projects.names if self._several else ()),
                "outputSchema": OUTPUTS[name],
                "annotations": self._hints(spec),
            }
            for name, spec in self._specs.items()
        ]

    def _hints(self, spec: ToolSpec) -> dict[str, bool]:
        outside = spec is MEMORY_DISTILL and self._asks_outside
        return {
            "readOnlyHint": spec.read_only,
            # What is there is changed, not added to: clients ask before they call these.
            "destructiveHint": spec in (MEMORY_UPDATE, MEMORY_RETIRE, MEMORY_APPROVE),
            "idempotentHint": spec.idempotent and not outside,
            "openWorldHint": outside,
        }

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Carry out a call, and return its result; what was wrong with it is a result that says so."""
        given = dict(arguments or {})
        try:
            tools = {tool.name: tool for tool in self._tools(taken_out(self._projects, given))}
            if name not in tools:
                raise InvalidInputError(
                    f"there is no tool {name!r}{nearest(name, tools)}; there are {', '.join(tools)}"
                )
        except ReasoningBankError as error:
            return _failure(f"{name} failed: {error}")
        answer = tools[name](given)
        if answer.failed:
            return _failure(answer.text)
        return {"content": [{"type": "text", "text": answer.text}], "structuredContent": answer.data, "isError": False}

    # -- resources and prompts -------------------------------------------------------------------------------------

    def resources(self, cursor: str | None = None) -> dict[str, Any]:
        """Return a page of the resources that there are one by one, as `resources/list` gives them.

        ResourceNotFoundError for a cursor that no page gave.
        """
        return self._found(cursor or "", self._resources.page)

    def templates(self) -> list[dict[str, Any]]:
        """Return the form of the address of a memory."""
        return self._resources.templates()

    def read(self, uri: str) -> list[dict[str, Any]]:
        """Return the contents of a resource; ResourceNotFoundError where none is served under this address."""
        value = self._found(uri, self._resources.read)
        return [{"uri": uri, "mimeType": "application/json", "text": json.dumps(value, ensure_ascii=False)}]

    def _found(self, named: str, find: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        try:
            return find(named)
        except ReasoningBankError as error:
            raise ResourceNotFoundError(f"{named}: {error}") from error

    def prompts(self) -> list[dict[str, Any]]:
        """Return the prompts, as `prompts/list` gives them."""
        return listed(self._specs, several=self._several)

    def prompt(self, name: str, arguments: Mapping[str, str] | None) -> dict[str, Any]:
        """Return a prompt with its arguments filled in; InvalidInputError when it cannot be.

        `before-task` looks up lessons: it is a call of memory_search.
        """
        given = read_prompt(name, arguments or {}, several=self._several)
        if name == AFTER:
            return filled(name, after(given, self._specs))
        project = {"project_id": given["project_id"]} if self._several else {}
        answer = self.call("memory_search", {"query": given["task"], **project})
        if answer["isError"]:
            raise InvalidInputError(answer["content"][0]["text"])
        return filled(name, before(given["task"], answer["content"][0]["text"], self._specs))


def _failure(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def changes_lessons(result: Mapping[str, Any]) -> bool:
    """Tell whether a call changed which lessons there are, by its result: what was listed before is listed anew."""
    data = result.get("structuredContent", {})
    made = any(data.get(name) for name in ("created", "changed", "memory_ids", "lessons"))
    return made or ("state" in data and "created" not in data and "changed" not in data)

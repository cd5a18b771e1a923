"""What the server offers, in the protocol's own JSON: tools, resources, and the answers to calls. No SDK here."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, unquote

from reasoningbank import BankRoot, Distiller, ReasoningBank, ReasoningBankError, State, TemplateDistiller
from reasoningbank.adapters import (
    MEMORY_APPROVE,
    MEMORY_RETIRE,
    MEMORY_UPDATE,
    MemoryTool,
    ToolSpec,
    memory_data,
    memory_tools,
)
from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import FilterOptions
from reasoningbank.mcp_server.distilling import MEMORY_DISTILL, distill_tool
from reasoningbank.mcp_server.schemas import OUTPUTS, TITLES, input_schema

SCHEME = "memory://"
STATUS = "status"

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


class Projects(Protocol):
    """Which projects a server serves. None of them can be widened by a client."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def bank(self, name: str, /) -> ReasoningBank: ...


@dataclass(frozen=True, slots=True)
class OneProject:
    """A server bound to one project: no argument names it."""

    only: ReasoningBank

    @property
    def names(self) -> tuple[str, ...]:
        """The project."""
        return (self.only.project,)

    def bank(self, _name: str, /) -> ReasoningBank:
        """Return the bank."""
        return self.only


@dataclass(frozen=True, slots=True)
class ManyProjects:
    """A server for some projects of its one tenant: `project_id` names one of them in each call."""

    banks: BankRoot
    names: tuple[str, ...]

    def bank(self, name: str, /) -> ReasoningBank:
        """Return the bank of one of the projects."""
        return self.banks.open(name)


class Offer:
    """The tools and resources of a server.

    Args:
        projects: whose memories.
        read_only: only memory_search, which then opens no episode and counts nothing.
        by: who records, votes and reports through this server.
        trusted: whether what is recorded through it is trusted.
        distiller: offers memory_distill, unless read-only.
        allow: "list", "update", "retire" and "approve" offer the tools of these names (see memory_tools); beside
            read-only only "list".
        filters: of memory_search and memory_list, whatever they are asked.
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
    ) -> None:
        self._projects = projects
        self._options: dict[str, Any] = {"read_only": read_only, "by": by, "trusted": trusted, "allow": tuple(allow)}
        self._options["filters"] = filters
        self._distiller = None if read_only else distiller
        # A model may be asked, which is outside, and does not say the same twice.
        self._asks_outside = not isinstance(distiller, TemplateDistiller)
        self._specs = {tool.name: tool.spec for tool in self._tools(projects.names[0])}

    @property
    def _several(self) -> bool:
        return not isinstance(self._projects, OneProject)

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
            tools = {tool.name: tool for tool in self._tools(self._project_of(given))}
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

    def _project_of(self, arguments: dict[str, Any]) -> str:
        """Take the project out of the arguments, where a call has to name one."""
        names = self._projects.names
        if not self._several:
            if "project_id" in arguments:
                raise InvalidInputError(f"this server is bound to project {names[0]!r}: leave project_id out")
            return names[0]
        given = arguments.pop("project_id", None)
        if given not in names:
            hint = nearest(given, names) if isinstance(given, str) else ""
            raise InvalidInputError(f"project_id {given!r} is not served here{hint}; give one of {', '.join(names)}")
        return str(given)

    # -- resources -----------------------------------------------------------------------------------------------

    def resources(self) -> list[dict[str, Any]]:
        """Return the resources there are one by one: the status of each project."""
        return [
            {
                "uri": SCHEME + self._path(name, STATUS),
                "name": f"{name} status",
                "description": "What the memory of this project holds, and what is not as it should be.",
                "mimeType": "application/json",
            }
            for name in self._projects.names
        ]

    def templates(self) -> list[dict[str, Any]]:
        """Return the form of the other resources: a memory by its id."""
        form = "{project_id}/{memory_id}" if self._several else "{memory_id}"
        return [
            {
                "uriTemplate": SCHEME + form,
                "name": "memory",
                "description": "One memory, whole. Percent-encode what is no letter, digit, dot, dash or underscore.",
                "mimeType": "application/json",
            }
        ]

    def read(self, uri: str) -> list[dict[str, Any]]:
        """Return the contents of a resource; ResourceNotFoundError where none is served under this address."""
        try:
            project, name = self._located(uri)
            bank = self._projects.bank(project)
            value = _status(bank) if name == STATUS else _memory(bank, name)
        except ReasoningBankError as error:
            raise ResourceNotFoundError(f"{uri}: {error}") from error
        return [{"uri": uri, "mimeType": "application/json", "text": json.dumps(value, ensure_ascii=False)}]

    def _path(self, project: str, name: str) -> str:
        parts = (project, name) if self._several else (name,)
        return "/".join(quote(part, safe="") for part in parts)

    def _located(self, uri: str) -> tuple[str, str]:
        parts = [unquote(part) for part in uri.removeprefix(SCHEME).split("/")]
        expected = 2 if self._several else 1
        if not uri.startswith(SCHEME) or len(parts) != expected:
            raise InvalidInputError(f"not of the form {self.templates()[0]['uriTemplate']}")
        project = parts[0] if self._several else self._projects.names[0]
        if project not in self._projects.names:
            raise InvalidInputError(f"project {project!r} is not served here")
        return project, parts[-1]


def _failure(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def nearest(name: str, known: Iterable[str]) -> str:
    """Return words that name the nearest of what is known, "" where nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def _status(bank: ReasoningBank) -> dict[str, Any]:
    status = bank.upkeep.status()
    names = ("tenant", "project", "memories", "open_episodes", "embedder")
    return {name: getattr(status, name) for name in names} | {"problems": list(status.problems)}


def _memory(bank: ReasoningBank, memory_id: str) -> dict[str, Any]:
    memory = bank.get(memory_id)
    if memory.state is State.QUARANTINED:
        raise InvalidInputError("quarantined: it reads like instructions to an agent, and a person has to approve it")
    if memory.has_expired(bank.now()):
        raise InvalidInputError(f"expired at {memory.expires_at}: what it says held until then")
    if memory.state is State.ARCHIVED:
        raise InvalidInputError("archived: it was taken out of service")
    return memory_data(memory)

"""What the server offers, in the protocol's own JSON: tools, resources, and the answers to calls. No SDK here."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, unquote

from pydantic import BaseModel

from reasoningbank import BankRoot, Distiller, ReasoningBank, ReasoningBankError, State
from reasoningbank.adapters import MemoryTool, memory_data, memory_tools
from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import FilterOptions
from reasoningbank.mcp_server.distilling import distill_tool

SCHEME = "memory://"
STATUS = "status"

INSTRUCTIONS = (
    "Call memory_search before a task. When the task has ended, call memory_outcome once with the ref that "
    "memory_search gave. Record what a later run should know with memory_record."
)


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
        allow: "update" and "retire" offer memory_update and memory_retire; not beside read-only.
        filters: of memory_search, whatever it is asked.
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
                "annotations": {
                    "readOnlyHint": spec.read_only,
                    "destructiveHint": False,
                    "idempotentHint": spec.idempotent,
                    "openWorldHint": False,
                },
            }
            for name, spec in self._specs.items()
        ]

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Carry out a call, and return its result; what was wrong with it is a result that says so."""
        given = dict(arguments or {})
        try:
            tools = {tool.name: tool for tool in self._tools(self._project_of(given))}
            if name not in tools:
                raise InvalidInputError(
                    f"there is no tool {name!r}{_nearest(name, tools)}; there are {', '.join(tools)}"
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
            hint = _nearest(given, names) if isinstance(given, str) else ""
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


def _nearest(name: str, known: Iterable[str]) -> str:
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


# -- the schemas of the tools: closed, small, and without what a model does not read ----------------------------------

TITLES = {
    "memory_search": "Look up lessons",
    "memory_record": "Store a lesson",
    "memory_feedback": "Rate a lesson",
    "memory_outcome": "Report how a task ended",
    "memory_distill": "Draw lessons from a task",
    "memory_update": "Put a lesson right",
    "memory_retire": "Take a lesson out of service",
}


def _object(required: Sequence[str] = (), **properties: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(required),
    }


# What a client may rely on; further fields may come with it.
OUTPUTS: dict[str, dict[str, Any]] = {
    "memory_search": _object(["memories"], memories="array", ref="string", withheld="object", too_long="array"),
    "memory_record": _object(["memory_id", "created"], memory_id="string", created="boolean", confidence="number"),
    "memory_feedback": _object(["memory_id", "confidence"], memory_id="string", confidence="number"),
    "memory_outcome": _object(["recorded"], recorded="boolean", credited="array", confidence="number"),
    "memory_distill": _object(["status", "memory_ids"], status="string", memory_ids="array", duplicates="array"),
    "memory_update": _object(["memory_id", "changed"], memory_id="string", changed="boolean", state="string"),
    "memory_retire": _object(["memory_id", "state"], memory_id="string", state="string"),
}


def input_schema(arguments: type[BaseModel], projects: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments.

    What may be null is simply not required here: not every client knows unions, and a null that comes is accepted.

    Args:
        projects: names that `project_id` can have; none when the server is bound to one project.
    """
    schema = arguments.model_json_schema()
    definitions = schema.get("$defs", {})
    properties = {name: _plain(field, definitions) for name, field in schema["properties"].items()}
    required = list(schema.get("required", ()))
    if projects:
        properties["project_id"] = {"type": "string", "enum": list(projects), "description": "Whose lessons."}
        required.append("project_id")
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _plain(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in field.get("anyOf", ()) if kind != {"type": "null"}]
    # pydantic repeats each field's name as a title.
    rest = {key: value for key, value in field.items() if key not in {"title", "default", "anyOf", "description"}}
    plain = {**(kinds[0] if kinds else {}), **rest, "description": _without_null(field["description"])}
    item = plain.get("items", {}).get("$ref", "").rpartition("/")[2]
    if item:
        # In place, since not every client follows references.
        parts = {name: _plain(part, definitions) for name, part in definitions[item]["properties"].items()}
        required = definitions[item].get("required", [])
        plain["items"] = {"type": "object", "properties": parts, "required": required, "additionalProperties": False}
    return plain


def _without_null(description: str) -> str:
    description = re.sub(r"; null for (.+)\.$", r"; else \1.", description)
    return re.sub(r"(?:; or|\. Or) null\.$", ".", description)

"""What can be looked at beside what the tools answer: lessons, one lesson, the status, and what is to be reviewed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

from reasoningbank import Memory, ReasoningBank, State
from reasoningbank.adapters import memory_data, row_data
from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import FilterOptions
from reasoningbank.mcp_server.projects import Projects, is_one

SCHEME = "memory://"
JSON = "application/json"
PAGE = 100

# By the last part of the address, which no memory of this id can have.
WHOLE = {
    "status": "What the memory of this project holds, and what is not as it should be.",
    "lessons": "The lessons that are in service, by title, the first recorded first.",
    "review": "What a person should look at: lessons that are quarantined, and those that are not proven yet.",
}


class Resources:
    """The resources of some projects: lessons that pass the filters, and what is said of each project as a whole."""

    def __init__(self, projects: Projects, filters: FilterOptions) -> None:
        self._projects, self._filters = projects, filters

    def page(self, cursor: str) -> dict[str, Any]:
        """Return a page of them, as `resources/list` gives it: of each project WHOLE, then its lessons.

        Args:
            cursor: `nextCursor` of the page before; "" for the first.

        Raises:
            ReasoningBankError: no page gave this cursor.
        """
        names = self._projects.names
        project, after = self._located(cursor, "/") if cursor else (names[0], "")
        lessons = self._projects.bank(project).list(limit=PAGE, after=after or None, **self._filters)
        found = [] if after else [self._whole(project, name) for name in WHOLE]
        found += [self._one(project, memory) for memory in lessons.memories]
        rest = names[names.index(project) + 1 :]
        following = (project, lessons.next) if lessons.next else (rest[0], "") if rest else None
        more = {} if following is None else {"nextCursor": "/".join(quote(part, safe="") for part in following)}
        return {"resources": found, **more}

    def templates(self) -> list[dict[str, Any]]:
        """Return the form of the address of a memory."""
        form = "{memory_id}" if is_one(self._projects) else "{project_id}/{memory_id}"
        told = "One memory, whole. Percent-encode what is no letter, digit, dot, dash or underscore."
        return [{"uriTemplate": SCHEME + form, "name": "memory", "description": told, "mimeType": JSON}]

    def read(self, uri: str) -> dict[str, Any]:
        """Return what is to be seen under an address; ReasoningBankError where nothing is."""
        address, _, after = uri.partition("?after=")
        project, name = self._located(address.removeprefix(SCHEME) if address.startswith(SCHEME) else "", "")
        bank = self._projects.bank(project)
        match name:
            case "status":
                return _status(bank)
            case "lessons":
                return self._lessons(bank, address, unquote(after))
            case "review":
                return self._to_review(bank)
        return _memory(bank, name)

    def _lessons(self, bank: ReasoningBank, address: str, after: str) -> dict[str, Any]:
        page = bank.list(limit=PAGE, after=after or None, **self._filters)
        more = {"next": f"{address}?after={quote(page.next, safe='')}"} if page.next else {}
        return {"lessons": [row_data(memory) for memory in page.memories], "withheld": page.withheld, **more}

    def _to_review(self, bank: ReasoningBank) -> dict[str, Any]:
        held = bank.list(state=State.QUARANTINED, limit=PAGE, expired=None, **self._filters).memories
        unproven = (memory for memory in self._every(bank) if memory.confidence < bank.settings.floor)
        return {
            "quarantined": [row_data(memory) for memory in held],
            "provisional": [row_data(memory) for memory, _ in zip(unproven, range(PAGE), strict=False)],
            "how": "On the command line: show ID; approve ID puts a quarantined one into service; delete ID.",
        }

    def _every(self, bank: ReasoningBank) -> Iterator[Memory]:
        after = None
        while True:
            page = bank.list(limit=1_000, after=after, **self._filters)
            yield from page.memories
            after = page.next
            if after is None:
                return

    def _whole(self, project: str, name: str) -> dict[str, Any]:
        title = name if is_one(self._projects) else f"{project}: {name}"
        return {"uri": self._address(project, name), "name": title, "description": WHOLE[name], "mimeType": JSON}

    def _one(self, project: str, memory: Memory) -> dict[str, Any]:
        # A title is what somebody wrote down: it stands where a person chooses, not where a model is told what to do.
        return {"uri": self._address(project, memory.id), "name": memory.title, "mimeType": JSON}

    def _address(self, project: str, name: str) -> str:
        parts = (name,) if is_one(self._projects) else (project, name)
        return SCHEME + "/".join(quote(part, safe="") for part in parts)

    def _located(self, path: str, mark: str) -> tuple[str, str]:
        """Return the project and the rest of an address without its scheme, or (with `mark`) of a cursor."""
        parts = [unquote(part) for part in path.split("/")]
        bound = is_one(self._projects) and not mark
        if len(parts) != (1 if bound else 2):
            raise InvalidInputError(f"not of the form {self.templates()[0]['uriTemplate']}")
        project = self._projects.names[0] if bound else parts[0]
        if project not in self._projects.names:
            raise InvalidInputError(f"project {project!r} is not served here")
        return project, parts[-1]


def _status(bank: ReasoningBank) -> dict[str, Any]:
    status = bank.upkeep.status()
    names = ("tenant", "project", "memories", "open_episodes", "embedder", "lift")
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

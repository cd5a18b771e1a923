"""Two tools by which an agent puts lessons right: off unless they are allowed, and undone by a person at any time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from reasoningbank.adapters.coercion import Reference
from reasoningbank.adapters.tool import Arguments, MemoryTool, ToolAnswer, ToolSpec
from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import CONTENT_LIMIT, DESCRIPTION_LIMIT, TITLE_LIMIT, Memory, Source, State, is_blank

UPDATE, RETIRE = "update", "retire"


class UpdateArguments(Arguments):
    """Arguments of memory_update."""

    memory_id: str = Field(min_length=1, description="The lesson's id, as memory_search gave it.")
    reason: str = Field(
        min_length=1, max_length=DESCRIPTION_LIMIT, description="What is wrong with it, and how you know; one sentence."
    )
    content: Reference = Field(
        default=None, max_length=CONTENT_LIMIT, description="What it is to say, as a whole; or null to leave it."
    )
    title: Reference = Field(default=None, max_length=TITLE_LIMIT, description="Its new title; or null to leave it.")
    applies_when: Reference = Field(
        default=None, max_length=DESCRIPTION_LIMIT, description="When it applies, and when not; or null to leave it."
    )


class RetireArguments(Arguments):
    """Arguments of memory_retire."""

    memory_id: str = Field(min_length=1, description="The lesson's id, as memory_search gave it.")
    reason: str = Field(
        min_length=1, max_length=DESCRIPTION_LIMIT, description="Why it should no longer be given; one sentence."
    )


MEMORY_UPDATE = ToolSpec(
    "memory_update",
    "Put a lesson right that proved wrong or out of date. What it said is kept, and the new text has to prove itself.",
    UpdateArguments,
    idempotent=True,
)
MEMORY_RETIRE = ToolSpec(
    "memory_retire",
    "Take a lesson out of service that proved wrong and cannot be put right. Nothing is deleted; a person can undo it.",
    RetireArguments,
    idempotent=True,
)


def check_allowed(allow: Collection[str], *, read_only: bool = False) -> None:
    """Check what an agent is to be allowed; InvalidInputError for what there is no tool for, or beside read-only."""
    if isinstance(allow, str) or (unknown := sorted(set(allow) - {UPDATE, RETIRE})):
        named = repr(allow) if isinstance(allow, str) else ", ".join(map(repr, unknown))
        raise InvalidInputError(f"allow {named} is not understood: give a list of 'update', 'retire'")
    if read_only and allow:
        raise InvalidInputError("read-only tools change nothing: leave allow out, or read_only")


def correcting_tools(bank: ReasoningBank, allow: Collection[str], *, by: str, trusted: bool) -> list[MemoryTool]:
    """Return the tools that are allowed."""
    doors = _Doors(bank, by, trusted)
    offered = {UPDATE: MemoryTool(MEMORY_UPDATE, doors.update), RETIRE: MemoryTool(MEMORY_RETIRE, doors.retire)}
    return [tool for name, tool in offered.items() if name in allow]


@dataclass(frozen=True)
class _Doors:
    bank: ReasoningBank
    by: str
    trusted: bool

    def update(self, given: UpdateArguments) -> ToolAnswer:
        fields = {name: getattr(given, name) for name in ("title", "content", "applies_when")}
        changes: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
        if not changes:
            raise InvalidInputError("nothing to change: give content, title or applies_when")
        before = self._served(given.memory_id, given.reason)
        if not self.trusted:
            changes["source"] = Source(how=before.source.how, by=self.by, session=before.source.session, trusted=False)
        after = self.bank.update(before.id, reason=given.reason, by=self.by, **changes)
        data: dict[str, Any] = {
            "memory_id": after.id,
            "changed": after.revision != before.revision,
            "confidence": round(after.confidence, 4),
            "state": after.state.value,
        }
        if not data["changed"]:
            return ToolAnswer(f"{after.id} said so already.", data)
        text = f"Updated {after.id}; what it said before is kept."
        if after.state is State.QUARANTINED:
            text += " It is withheld until a person approves it: it reads like instructions to an agent."
        return ToolAnswer(text, data)

    def retire(self, given: RetireArguments) -> ToolAnswer:
        memory = self._served(given.memory_id, given.reason)
        state = self.bank.upkeep.archive(memory.id, reason=given.reason, by=self.by).state.value
        text = f"Retired {memory.id}: it is no longer given, until a person restores it."
        return ToolAnswer(text, {"memory_id": memory.id, "state": state})

    def _served(self, memory_id: str, reason: str) -> Memory:
        """Return a memory that is in service; about any other a person has decided, or is to decide."""
        if is_blank(reason):
            raise InvalidInputError("reason is empty: say in one sentence what is wrong with the lesson")
        memory = self.bank.get(memory_id)
        if memory.state is not State.ACTIVE:
            raise InvalidInputError(f"memory {memory_id!r} is {memory.state}, not in service: that is for a person")
        return memory

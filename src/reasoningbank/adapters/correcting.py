"""What an agent may do to lessons that are there: off unless it is allowed, and undone by a person at any time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from reasoningbank.adapters.coercion import Reference, Text
from reasoningbank.adapters.reviewing import approve_tool
from reasoningbank.adapters.tool import Arguments, MemoryTool, ToolAnswer, ToolSpec, secrets_in, with_account
from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import CONTENT_LIMIT, DESCRIPTION_LIMIT, TITLE_LIMIT, Memory, Source, State, is_blank

LIST, UPDATE, RETIRE, APPROVE = ALLOWED = ("list", "update", "retire", "approve")


class UpdateArguments(Arguments):
    """Arguments of memory_update."""

    memory_id: Text = Field(min_length=1, description="The lesson's id, as memory_search gave it.")
    reason: Text = Field(
        min_length=1, max_length=DESCRIPTION_LIMIT, description="What is wrong with it, and how you know; one sentence."
    )
    content: Reference = Field(
        default=None, max_length=CONTENT_LIMIT, description="What it is to say, as a whole; null for what it says now."
    )
    title: Reference = Field(
        default=None, max_length=TITLE_LIMIT, description="Its new title; null for the one it has."
    )
    applies_when: Reference = Field(
        default=None,
        max_length=DESCRIPTION_LIMIT,
        description="When it applies, and when not; null for what it says now.",
    )


class RetireArguments(Arguments):
    """Arguments of memory_retire."""

    memory_id: Text = Field(min_length=1, description="The lesson's id, as memory_search gave it.")
    reason: Text = Field(
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


def check_allowed(allow: Collection[str], *, read_only: bool = False, trusted: bool = True) -> None:
    """Check what an agent is to be allowed.

    InvalidInputError for what there is no tool for, for what changes lessons beside read-only, and for approving by one
    who is not trusted.
    """
    if isinstance(allow, str) or (unknown := sorted(set(allow) - set(ALLOWED))):
        named = repr(allow) if isinstance(allow, str) else ", ".join(map(repr, unknown))
        raise InvalidInputError(f"allow {named} is not understood: give a list of {', '.join(map(repr, ALLOWED))}")
    if read_only and set(allow) - {LIST}:
        raise InvalidInputError("read-only tools change nothing: allow nothing but 'list', or leave read_only out")
    if APPROVE in allow and not trusted:
        raise InvalidInputError("who is not trusted approves nothing: leave 'approve' out")


def allowed_tools(
    bank: ReasoningBank, allow: Collection[str], listing: MemoryTool, *, by: str, trusted: bool
) -> list[MemoryTool]:
    """Return the tools that are allowed, in the order of ALLOWED; `listing` is memory_list."""
    doors = _Doors(bank, by, trusted)
    offered = {
        LIST: listing,
        UPDATE: MemoryTool(MEMORY_UPDATE, doors.update),
        RETIRE: MemoryTool(MEMORY_RETIRE, doors.retire),
        APPROVE: approve_tool(bank),
    }
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
        redactions = secrets_in(given.reason, *changes.values())
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
        return with_account(text, data, redactions=redactions)

    def retire(self, given: RetireArguments) -> ToolAnswer:
        memory = self._served(given.memory_id, given.reason)
        state = self.bank.upkeep.archive(memory.id, reason=given.reason, by=self.by).state.value
        text = f"Retired {memory.id}: it is no longer given, until a person restores it."
        data = {"memory_id": memory.id, "state": state}
        return with_account(text, data, redactions=secrets_in(given.reason))

    def _served(self, memory_id: str, reason: str) -> Memory:
        """Return a memory that is in service; about any other a person has decided, or is to decide."""
        if is_blank(reason):
            raise InvalidInputError("reason is empty: say in one sentence what is wrong with the lesson")
        memory = self.bank.get(memory_id)
        if memory.state is not State.ACTIVE:
            raise InvalidInputError(f"memory {memory_id!r} is {memory.state}, not in service: that is for a person")
        return memory

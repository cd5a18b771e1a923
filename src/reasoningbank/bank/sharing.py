"""bank.sharing: lessons of a project that others have, too."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.errors import InvalidInputError, InvalidNameError
from reasoningbank.memory import SAID, Memory
from reasoningbank.results import OWN
from reasoningbank.sharing.results import Linked, Promoted, Suggestion
from reasoningbank.sharing.specific import Specific
from reasoningbank.status import SharedStatus
from reasoningbank.storage.root import checked_name

if TYPE_CHECKING:
    from reasoningbank.llm import base as llm
    from reasoningbank.llm.base import Chat
    from reasoningbank.services.record import record
    from reasoningbank.services.sharing import promote as promoting
    from reasoningbank.services.sharing import state, suggest
    from reasoningbank.services.sharing.levels import Levels
else:
    llm = Later("reasoningbank.llm.base")
    record = Later("reasoningbank.services.record.record")
    promoting, state, suggest = Later.each("reasoningbank.services.sharing", "promote", "state", "suggest")


def checked_bank(name: str) -> str:
    """Return a shared bank's name in NFC; InvalidNameError for one that is not allowed."""
    checked = checked_name(name, "shared bank")
    if checked == OWN:
        raise InvalidNameError(f"a shared bank cannot be called {OWN!r}: that is the level of a project's own lessons")
    return checked


def checked_banks(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of shared banks, each once, in their order: the nearest first."""
    if isinstance(names, str):
        raise InvalidInputError(f"shared is the text {names!r}: give a list of names, such as [{names!r}]")
    return tuple(dict.fromkeys(map(checked_bank, names)))


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return what else is specific to a project."""
    if isinstance(names, str):
        raise InvalidInputError(f"names is the text {names!r}: give a list of names, such as [{names!r}]")
    return tuple(names)


class Sharing(Namespace):
    """The shared banks that this handle was opened with: what is promoted to them, reviewed and taken back.

    A bank that it was not opened with, that there is none of, or that is closed to this project raises
    SharedAccessError, as does what this project, or the handle's person, may not do there.
    """

    @property
    def _levels(self) -> Levels:
        return self._handle.levels

    def status(self) -> builtins.list[SharedStatus]:
        """Say of each shared bank what this handle may do there, and what it holds; of one that is closed nothing."""
        return state.status(self._levels)

    def check(self, memory_id: str, *, names: Sequence[str] = ()) -> tuple[Specific, ...]:
        """Return what in a lesson is specific to this project, with places; nothing is changed.

        Paths, hosts, ids and people are told by their form, and the project by its name. Other names are given.

        Args:
            names: what else is specific: customers, code names, whatever their case.
        """
        memory = record.get(self._engine, arguments.memory_id(memory_id))
        return promoting.check(memory, {}, checked_names(names))

    def promote(
        self,
        memory_id: str,
        *,
        to: str,
        wording: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
        anyway: bool = False,
        confidence: float | None = None,
        chat: Chat | Callable[..., Any] | None = None,
        by: str | None = None,
    ) -> Promoted:
        """Copy a lesson of this project into a shared bank, where it waits for a review unless the caller may approve.

        The copy starts from what was seen here, which counts for one vote at the most, and brings no evidence along:
        each piece counts once. It knows where it came from; the same lesson is not stored twice, but linked.

        Args:
            to: the shared bank.
            wording: other texts for it: title, content, description or applies_when.
            names: as in `check`.
            anyway: also if it names what is specific to this project. Without, nothing is stored then, and `specific`
                says what; `proposed` is wording without that, where a model is given.
            confidence: the belief that others start from, in [0, 1], such as that of a suggestion.
            chat: the model that is asked for it.
            by: who promotes it.

        Raises:
            InvalidInputError: it is not in service, or the shared bank deleted this lesson for good.
        """
        said = dict(wording or {})
        if unknown := said.keys() - set(SAID):
            raise InvalidInputError(f"wording has {sorted(unknown)}: give texts of {', '.join(SAID)}")
        return promoting.promote(
            self._levels.bank(checked_bank(to)),
            arguments.memory_id(memory_id),
            wording=said,
            names=checked_names(names),
            anyway=arguments.flag("anyway", anyway),
            confidence=confidence,
            chat=None if chat is None else llm.as_chat(chat),
            by=by,
        )

    def suggest_promotions(self, to: str, *, names: Sequence[str] = ()) -> builtins.list[Suggestion]:
        """Return which lessons of this project are worth sharing: proven, and nothing in them is only this project's.

        It looks at no other project. What several projects found out, `BankRoot(...).shared.suggest_promotions` says.
        """
        return suggest.suggest([self._engine], self._levels.bank(checked_bank(to)), checked_names(names))

    def review(self, bank: str, limit: int = 100) -> builtins.list[Memory]:
        """Return what waits for a review in a shared bank; who may not approve sees what this project proposed."""
        return promoting.review(self._levels.bank(checked_bank(bank)), arguments.page_limit(limit))

    def approve(self, memory_id: str) -> Memory:
        """Let a lesson in that waits for a review, or was sent back to one."""
        memory_id = arguments.memory_id(memory_id)
        return promoting.approve(state.holding(self._levels, memory_id), memory_id)

    def demote(self, memory_id: str, *, reason: str | None = None, by: str | None = None) -> Memory:
        """Take a shared lesson out of service, or keep one out that waits for a review.

        The lessons that it came from stay as they are. `BankRoot(...).shared.open(bank).upkeep.restore` undoes it.
        """
        memory_id = arguments.memory_id(memory_id)
        return promoting.demote(state.holding(self._levels, memory_id), memory_id, reason=reason, by=by)

    def links(self, memory_id: str | None = None) -> builtins.list[Linked]:
        """Return the shared lessons that came from this project, and whether either side was corrected since.

        Args:
            memory_id: only of this lesson, by its id here or in a shared bank.
        """
        found = state.linked(self._levels)
        return [each for each in found if memory_id is None or memory_id in (each.memory, each.origin)]

    def correct(self, memory_id: str, *, by: str | None = None, here: bool = False) -> Memory:
        """Let a shared lesson say what this project's says, or with `here` this project's what the shared one says.

        Changing what a lesson says starts its evidence anew, as `update` does.

        Args:
            memory_id: the shared lesson.
        """
        memory_id = arguments.memory_id(memory_id)
        bank = state.holding(self._levels, memory_id)
        return promoting.take_correction(bank, memory_id, to_project=arguments.flag("here", here), by=by)

"""What a tool is: what a model is told of it, how its arguments are read, and what it answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from reasoningbank.adapters.coercion import echoed, storable, to_object
from reasoningbank.errors import InvalidInputError, ReasoningBankError
from reasoningbank.screening.scrub import scrub
from reasoningbank.validation import unknown_name


class Arguments(BaseModel, extra="forbid", strict=True):
    """Those of a tool: a closed schema."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool says.

    Attributes:
        text: for the model.
        data: the same as JSON, for programs.
        failed: the call could not be carried out; `text` says why, in one sentence.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    failed: bool = False


def with_account(
    text: str, data: dict[str, Any], *, redactions: Mapping[str, int] | None = None, degraded: Collection[str] = ()
) -> ToolAnswer:
    """Return an answer that also says which secrets were removed, by rule, and what did not work as configured."""
    if redactions:
        text += f" Removed before it was stored: {', '.join(f'{many} {rule}' for rule, many in redactions.items())}."
        data["redactions"] = dict(redactions)
    if degraded:
        text += f" Degraded: {'; '.join(degraded)}."
        data["degraded"] = list(degraded)
    return ToolAnswer(text, data)


def secrets_in(*texts: str | None) -> dict[str, int]:
    """Return how many secrets are removed from texts before they are stored, by rule."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update(scrub(text).counts if text else {})
    return dict(found)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool.

    Attributes:
        arguments: the closed schema; every field is required or may be null.
        read_only: it changes nothing.
        idempotent: the same call again changes nothing more.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    read_only: bool = False
    idempotent: bool = False


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """One tool of one bank: call it with the arguments as a model sent them."""

    spec: ToolSpec
    _run: Callable[[Any], ToolAnswer]

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.spec.name

    def __call__(self, arguments: Mapping[str, Any] | str) -> ToolAnswer:
        """Carry out a call with arguments as a model sent them: an object, JSON of one, or the one text that it needs.

        What the model or the disk got wrong is an answer that says so, never an exception: a memory tool must not end
        an agent's run. A bug in the program is still raised.
        """
        try:
            return self._run(self.read(arguments))
        except ReasoningBankError as error:
            return ToolAnswer(f"{self.name} failed: {error}", {"error": str(error)}, failed=True)

    def read(self, arguments: Mapping[str, Any] | str) -> BaseModel:
        """Read the arguments; a text is the first, of those that are required if there are any.

        InvalidInputError when one is unknown (the nearest is named), missing or not allowed; what came is shown.
        """
        known = self.spec.arguments.model_fields
        given = to_object(arguments)
        if isinstance(given, str):
            given = {min(known, key=lambda name: not known[name].is_required()): given}
        if given is not None and not isinstance(given, Mapping):
            raise InvalidInputError(
                f"its arguments are no object but {type(given).__name__}: it takes {', '.join(known)}"
            )
        sent: dict[str, Any] = storable(given or {})
        both = f"it takes {', '.join(known)}; what came was {echoed(sent)}"
        for name in sent:
            if name not in known:
                raise InvalidInputError(f"it has no argument of the {unknown_name(name, known)}; {both}")
        try:
            return self.spec.arguments.model_validate(sent)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"][:1])
            raise InvalidInputError(f"argument {where!r}: {first['msg']}; {both}") from None

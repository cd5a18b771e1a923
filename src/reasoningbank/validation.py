"""From arguments to checked values: pydantic's complaints become the library's own errors."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from reasoningbank.errors import InvalidInputError, ReasoningBankError, in_short

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], fields: Mapping[str, Any]) -> Model:
    """Build `model` from `fields`.

    InvalidInputError for an unknown field (the nearest known one is named), or a value that is not allowed; the message
    names the field and says what is.
    """
    for name in fields:
        if name not in model.model_fields:
            raise InvalidInputError(f"unknown {unknown_name(str(name), model.model_fields)}")
    try:
        return model(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, ReasoningBankError):
            raise cause from None
        field = ".".join(str(part) for part in first["loc"]) or model.__name__.lower()
        raise InvalidInputError(
            f"{field} {in_short(first['input'], 200)}: {first['msg'][0].lower()}{first['msg'][1:]}"
        ) from None


def unknown_name(name: str, known: Mapping[str, Any]) -> str:
    """Return a phrase that says `name` is not known, and which known name is nearest to it."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
    return f"name {name!r}: {hint}"


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return a phrase, to be put behind a name, that asks whether the nearest known one was meant; "" without one."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""

"""From the arguments of a call to the filters that every door shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Outcome, State, clean_text
from reasoningbank.storage.filters import Filters

Label = TypeVar("Label", bound=StrEnum)


def as_label(kind: type[Label], value: Label | str, what: str) -> Label:
    """Read a label, matched whole.

    Raises:
        InvalidInputError: it is none of them; all are named.
    """
    try:
        return kind(value)
    except ValueError:
        raise InvalidInputError(f"{what} {value!r} is not one of {', '.join(kind)}") from None


def as_outcome(value: Outcome | str | None) -> Outcome | None:
    """Read an outcome; None is any."""
    return None if value is None else as_label(Outcome, value, "outcome")


def as_states(value: State | str | None) -> tuple[State, ...]:
    """Read a state; None is all of them."""
    return tuple(State) if value is None else (as_label(State, value, "state"),)


def filters_of(
    *,
    outcome: Outcome | str | None = None,
    tags: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    states: tuple[State, ...] = (State.ACTIVE,),
    text: str | None = None,
) -> Filters:
    """Return the filters that these arguments ask for.

    Raises:
        InvalidInputError: tags is one text instead of a list, or where is no dictionary of text keys.
    """
    if isinstance(tags, str):
        raise InvalidInputError(f"tags is the text {tags!r}: give a list of tags, such as [{tags!r}]")
    if where is not None:
        check_metadata_filter(where)
    return Filters(
        states=states,
        outcome=as_outcome(outcome),
        tags=tuple(clean_text(tag).strip() for tag in tags or ()),
        where={clean_text(key): clean_text(v) if isinstance(v, str) else v for key, v in (where or {}).items()} or None,
        text=clean_text(text or ""),
    )


def as_cursor(position: int | None) -> str | None:
    """Return where the next page begins, as a text that is handed back as `after`; None behind the last page."""
    return None if position is None else str(position)


def as_position(after: object) -> int:
    """Read where a page begins; the start when None.

    Raises:
        InvalidInputError: it is not the `next` of a page.
    """
    if after is None:
        return 0
    if not isinstance(after, str) or not after.isascii() or not after.isdigit():
        raise InvalidInputError(f"after {after!r:.80} is not the `next` of a page: leave it out for the first one")
    return int(after)


def check_metadata_filter(where: object) -> None:
    """Raise InvalidInputError unless it is a dictionary with text keys."""
    if not isinstance(where, Mapping) or not all(isinstance(key, str) for key in where):
        raise InvalidInputError(f"{where!r} is not a dictionary of metadata keys and values")

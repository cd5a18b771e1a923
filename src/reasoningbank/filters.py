"""Filters: which memories are asked for. One grammar for every call and every door.

It is read and checked here; storage asks it of the database, the cache of what it keeps.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal, TypedDict, get_args

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import State, clean_text, is_blank, json_value
from reasoningbank.verdict import Verdict

Operator = Literal["eq", "in", "gte", "gt", "lte", "lt"]
Kind = Literal["number", "text", "truth value", "null", "list"]
OPERATORS: Final[tuple[Operator, ...]] = get_args(Operator)
TAG_WORDS: Final = ("all", "any", "none")
MOST_VALUES: Final = 1_000

# How other filter languages join conditions: no key of metadata is meant.
_JOINING = frozenset({"$and", "$or", "$nor", "$not", "and", "or", "not"})

# What becomes of lessons of which none is clearly about the task.
WEAK: Final = ("omit", "mark", "give")


class FilterOptions(TypedDict, total=False):
    """The filters that every call and every door takes, under the same names and with the same meaning.

    What no memory can pass, for no memory has the key, the tag or the source, is said in `withheld`.

    Attributes:
        tags: tags that a memory must have, all of them; or an object of such lists: `all`, `any` and `none`.
        where: what its metadata must hold, by key: a value; or an object of conditions that all must hold: `eq`, `in`
            (a list of values), `gte`, `gt`, `lte` and `lt` (a number or a text; only the same kind is compared). Or a
            list of such objects, all of which must hold.
        outcome: success or failure: of the run it was learned from.
        source: who brought it, or the session it came from: one, or any of a list.
        since, until: when it happened (`occurred_at`, or else when it was recorded): a time, ISO 8601, or so long ago,
            such as "7d". `since` itself belongs to it and `until` does not; a day given as `until` is whole.
    """

    tags: Sequence[str] | Mapping[str, Sequence[str]] | None
    where: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
    outcome: Verdict | str | None
    source: str | Sequence[str] | None
    since: datetime | date | timedelta | str | None
    until: datetime | date | timedelta | str | None


@dataclass(frozen=True, slots=True)
class Condition:
    """What a memory's metadata must hold under a key.

    Attributes:
        values: of which it must equal one, for `eq` and `in`; the one bound, for the others.
    """

    key: str
    operator: Operator
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories to look at; None (or an empty collection) looks at all.

    Attributes:
        tags: a memory must have all of these.
        any_tags, no_tags: at least one of these, and none of those.
        text: must occur in title, description, content or applies_when, whatever the case.
        sources: who brought it, or the session it came from: one of these.
        since, until: when it happened; the first belongs to it, the second does not.
        alive_at: it must not have expired by then.
        expired_by: it must have expired by then.
    """

    states: tuple[State, ...] = (State.ACTIVE,)
    outcome: Verdict | None = None
    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    no_tags: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    text: str = ""
    sources: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    alive_at: datetime | None = None
    expired_by: datetime | None = None


SERVED: Final = Filters()
"""All memories in service."""


def tag_lists(given: object) -> dict[str, tuple[str, ...]]:
    """Return the tags that memories must have, by `all`, `any` and `none`.

    A list stands for all of them. InvalidInputError for anything else, an unknown word, and what is no tag.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for word in given:
            _check_word("tags", word, TAG_WORDS)
        return {word: text_list(f"tags {word!r}", listed) for word, listed in given.items() if listed is not None}
    return {"all": text_list("tags", given)}


def sources(given: object) -> tuple[str, ...]:
    """Return the sources that memories may come from, of one or of a list of them."""
    return () if given is None else text_list("source", [given] if isinstance(given, str) else given)


def text_list(name: str, given: object) -> tuple[str, ...]:
    """Return the texts of a list, each once and none blank; InvalidInputError, which names it, for anything else."""
    if isinstance(given, str):
        raise InvalidInputError(f"{name} is the text {given!r:.80}: give a list, such as [{given!r:.80}]")
    if not isinstance(given, Iterable) or isinstance(given, (Mapping, bytes)):
        raise InvalidInputError(f"{name} {given!r:.80} is no list of texts")
    listed = list(given)
    for one in listed:
        if not isinstance(one, str) or is_blank(one):
            raise InvalidInputError(f"{name} holds {one!r:.80}, which is no text that a memory could have")
    return tuple(dict.fromkeys(clean_text(one).strip() for one in listed))


# -- metadata ------------------------------------------------------------------------------------------------------


def conditions(given: object) -> tuple[Condition, ...]:
    """Return what metadata must hold, of an object that gives a value or an object of operators for each key.

    Of a list of such objects all must hold. InvalidInputError for an unknown operator (the nearest is named), and for a
    value that it cannot compare.
    """
    if given is None:
        return ()
    if isinstance(given, (list, tuple)) and all(isinstance(each, Mapping) for each in given):
        return tuple(condition for each in given for condition in conditions(each))
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise InvalidInputError(f"where {given!r:.80} is not a dictionary of metadata keys and values")
    return tuple(condition for key, asked in given.items() for condition in _of_key(clean_text(key), asked))


def _of_key(key: str, asked: object) -> list[Condition]:
    if key.lower() in _JOINING:
        raise InvalidInputError(f"where knows no {key!r}: all its keys must hold; for any of some values give 'in'")
    if not isinstance(asked, Mapping):
        return [Condition(key, "eq", (_comparable(key, asked),))]
    if not asked:
        raise InvalidInputError(f"where {key!r} holds no condition: give a value, or one of {', '.join(OPERATORS)}")
    found = []
    for word, value in asked.items():
        operator = _check_word(f"where {key!r}", word, OPERATORS)
        found.append(Condition(key, operator, _values(key, operator, value)))
    return found


def _values(key: str, operator: Operator, given: object) -> tuple[Any, ...]:
    if operator == "eq":
        return (_comparable(key, given),)
    if operator == "in":
        if not isinstance(given, (list, tuple, set, frozenset)) or not 0 < len(given) <= MOST_VALUES:
            raise InvalidInputError(
                f"where {key!r}: 'in' takes a list of 1 to {MOST_VALUES:,} values, not {given!r:.80}"
            )
        return tuple(_comparable(key, value) for value in given)
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        raise InvalidInputError(f"where {key!r}: {operator!r} takes a number or a text, not {given!r:.80}")
    return (_comparable(key, given),)


def _comparable(key: str, given: object) -> Any:
    """Return a value of metadata as it is compared; numbers beyond 64 bits are compared as floating point ones."""
    if isinstance(given, Mapping):
        raise InvalidInputError(f"where {key!r}: {given!r:.80} cannot be compared: give a text, a number or a list")
    try:
        value = json_value(given, key)
    except RecursionError:
        raise InvalidInputError(f"where {key!r}: the list is nested too deeply, or holds itself") from None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            value = value if -(2**63) <= value < 2**63 else float(value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise InvalidInputError(f"where {key!r}: {given!r:.80} is beyond all numbers that can be compared")
    return value


def kind_of(value: object) -> Kind:
    """Return what kind of value it is: values of two kinds are never equal, and none is more than the other."""
    if isinstance(value, bool):
        return "truth value"
    if value is None:
        return "null"
    return "number" if isinstance(value, (int, float)) else "text" if isinstance(value, str) else "list"


def _check_word(where: str, given: object, known: tuple[Any, ...]) -> Any:
    if given in known:
        return given
    near = difflib.get_close_matches(str(given).lower(), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InvalidInputError(f"{where} knows no {given!r:.80}: {hint}it takes {', '.join(known)}")

"""Filters that a program set, and those that a model asks for within them: both hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from reasoningbank import moments
from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import FilterOptions, tag_lists


def narrowed(bound: FilterOptions, asked: FilterOptions, now: datetime) -> FilterOptions:
    """Return filters that let pass what passes both.

    Args:
        bound: those that always hold.
        asked: those of a call; None leaves one out. Of tags, a list, all of which a memory must have.
        now: what spans of time count from.

    Raises:
        InvalidInputError: nothing can pass both, or one of them is not allowed.
    """
    both: dict[str, Any] = {name: value for name, value in bound.items() if value is not None}
    for name, value in asked.items():
        if value is not None:
            both[name] = _both(name, both[name], value, now) if name in both else value
    return cast("FilterOptions", both)


def _both(name: str, bound: Any, asked: Any, now: datetime) -> Any:
    if name == "tags":
        lists = tag_lists(bound)
        return lists | {"all": (*lists.get("all", ()), *tag_lists(asked).get("all", ()))}
    if name == "where":
        return [each for where in (bound, asked) for each in ([where] if isinstance(where, Mapping) else where)]
    if name == "since":
        return max(moments.since(bound, now), moments.since(asked, now))
    if name == "until":
        return min(moments.until(bound, now), moments.until(asked, now))
    if bound != asked:
        raise InvalidInputError(f"{name} is bound to {bound!r:.80} here, so there is nothing of {asked!r:.80}")
    return asked

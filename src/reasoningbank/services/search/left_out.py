"""Why no memory passes filters: what is asked for that none has, named, so that nothing is empty in silence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import Condition, Filters, kind_of
from reasoningbank.memory import State
from reasoningbank.storage import asked, records
from reasoningbank.storage.contract import Reading
from reasoningbank.validation import nearest_name

FILTERED = "filters"
"""The reason where all that is asked for is there, but no memory has all of it."""


def by_filters(reading: Reading, filters: Filters) -> dict[str, int]:
    """Return how many memories are left out by filters that none passes, by reason; nothing where there are none."""
    many = records.count(reading, Filters(filters.states, alive_at=filters.alive_at, expired_by=filters.expired_by))
    if not many:
        return {}
    said = [
        *unknown_metadata(reading, filters.where),
        *_unknown_tags(reading, filters),
        *_unknown_sources(reading, filters),
    ]
    return {"; ".join(said) or FILTERED: many}


def unknown_metadata(reading: Reading, conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield, in words, which keys of metadata no memory has, and which hold no value of a kind that is asked for."""
    for condition in conditions:
        kinds = asked.kinds(reading, condition.key)
        wanted = {kind_of(value) for value in condition.values}
        if not kinds:
            yield f"no memory has metadata {condition.key!r}{nearest_name(condition.key, asked.keys(reading))}"
        elif not wanted & set(kinds):
            there, given = " or ".join(kinds), " or ".join(sorted(wanted))
            yield f"metadata {condition.key!r} is a {there} wherever it is, and a {given} was asked for"


def check(reading: Reading, filters: Filters) -> None:
    """Check that no filter asks for what no memory has; InvalidInputError, which names it, where one does."""
    if (said := next(iter(by_filters(reading, filters)), FILTERED)) != FILTERED:
        raise InvalidInputError(said)


def check_metadata(reading: Reading, filters: Filters) -> None:
    """Check that there are memories that have what filters ask of metadata, unless there are none at all.

    InvalidInputError, which says what none has: whoever asks is told by a number only, which would say less.
    """
    if records.count(reading, Filters(tuple(State))) and (said := [*unknown_metadata(reading, filters.where)]):
        raise InvalidInputError("; ".join(said))


def _unknown_tags(reading: Reading, filters: Filters) -> Iterator[str]:
    if not (filters.tags or filters.any_tags):
        return
    there = asked.tags(reading)
    missing = [tag for tag in filters.tags if tag not in there]
    if filters.any_tags and not set(filters.any_tags) & set(there):
        missing += filters.any_tags
    for tag in missing:
        yield f"no memory has the tag {tag!r}{nearest_name(tag, there)}"


def _unknown_sources(reading: Reading, filters: Filters) -> Iterator[str]:
    if not filters.sources:
        return
    there = asked.sources(reading)
    if not set(filters.sources) & set(there):
        for source in filters.sources:
            yield f"no memory comes from {source!r}{nearest_name(source, there)}"

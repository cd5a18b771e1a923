"""Filters in the database, in what a process keeps and in plain Python let the same memories pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank import InvalidInputError, Memory, ReasoningBank, State, arguments
from reasoningbank.filters import Filters
from tests.filtering import passes

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
TIMES = [None, *(NOW + timedelta(days=days, microseconds=days) for days in (-400, -7, -3, -1, 0, 1, 30))]
VALUES: list[Any] = [
    3, 3.0, "3", True, 1, 0, False, None, "", "B", "a", "é", 0.1, 1e300, 2**63 - 1, 2**63, 2**70, -(2**70), [1], [1.0],
    ["a", None], {"a": 1}, '"', "\\", "2026-01-15",
]  # fmt: skip
KEYS = ["priority", 'o"dd', "back\\slash", "ключ", "a.b", "$.a", "new\nline"]
TAGS = ["shell", "paths", "Paths", "sql", 'o"dd', "é"]
SOURCES = ["ada", "run-7", "forum"]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReasoningBank]:
    """A bank whose memories differ in all that filters can tell apart."""
    drafts = [
        {
            "title": f"Lesson {n}",
            "content": f"Quote path number {n} with care.",
            "outcome": "success" if n % 2 else "failure",
            "tags": [tag for place, tag in enumerate(TAGS) if (n * 7 + place * 3) % 5 < 2],
            "metadata": {key: VALUES[(n + 1) * (place + 1) % len(VALUES)] for place, key in enumerate(KEYS[: n % 8])},
            "occurred_at": TIMES[n % len(TIMES)],
            "expires_at": TIMES[(n // 3) % len(TIMES)],
            "source": {"by": SOURCES[n % 3] if n % 4 else None, "session": SOURCES[n % 2] if n % 5 else None},
        }
        for n in range(90)
    ]  # fmt: skip
    root: Path = tmp_path_factory.mktemp("many")
    with ReasoningBank(root, tenant="t", project="p", embedder="hash", clock=lambda: NOW) as bank:
        for place, done in enumerate(bank.record_many(drafts)):
            if place % 11 == 0:
                bank.upkeep.archive(done.memory.id)
        yield bank


class Every(list[Memory]):
    """All memories, in few words where a failure is reported."""

    def __repr__(self) -> str:
        return f"{len(self)} memories"


@pytest.fixture(scope="module")
def every(many: ReasoningBank) -> Every:
    return Every(many.list(state=None, expired=None, limit=1_000).memories)


COMPARABLE = [value for value in VALUES if not isinstance(value, dict)]
BOUNDS = [value for value in COMPARABLE if isinstance(value, (int, float, str)) and not isinstance(value, bool)]
ASKED = st.one_of(
    st.sampled_from(COMPARABLE),
    st.fixed_dictionaries({"eq": st.sampled_from(COMPARABLE)}),
    st.fixed_dictionaries({"in": st.lists(st.sampled_from(COMPARABLE), min_size=1, max_size=5)}),
    st.dictionaries(st.sampled_from(["gte", "gt", "lte", "lt"]), st.sampled_from(BOUNDS), min_size=1, max_size=2),
)
TAG_LISTS = st.lists(st.sampled_from([*TAGS, "never"]), max_size=2)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "tags": TAG_LISTS | st.dictionaries(st.sampled_from(["all", "any", "none"]), TAG_LISTS, max_size=3),
        "where": st.dictionaries(st.sampled_from([*KEYS, "never"]), ASKED, max_size=2),
        "outcome": st.sampled_from(["success", "failure"]),
        "source": st.sampled_from(SOURCES) | st.lists(st.sampled_from([*SOURCES, "never"]), min_size=1, max_size=2),
        "since": st.sampled_from(["7d", "3d", "2026-03-13", NOW - timedelta(days=7), "400d"]),
        "until": st.sampled_from([NOW, "1d", "2026-03-14", "2026-03-11T12:00:00Z"]),
    },
)


@settings(max_examples=80, deadline=None)
@given(options=OPTIONS, state=st.sampled_from([None, *State]), expired=st.sampled_from([None, True, False]))
def test_lists_hold_what_passes_in_their_order(
    many: ReasoningBank, every: Every, options: Any, state: State | None, expired: bool | None
) -> None:
    wanted = _or_nothing(lambda: arguments.listed(options, lambda: NOW, state=state, expired=expired))
    if wanted is None:
        return
    expected = [memory for memory in every if passes(memory, wanted)]
    page = many.list(**options, state=state, expired=expired, limit=1_000)
    newest = many.list(**options, state=state, expired=expired, newest_first=True, limit=1_000)

    assert list(page.memories) == expected
    order = {memory.id: place for place, memory in enumerate(every)}
    assert list(newest.memories) == sorted(expected, key=lambda m: (m.happened_at, order[m.id]), reverse=True)
    there = many.count(state=state, expired=expired)
    assert bool(page.withheld) == bool(newest.withheld) == (there > 0 and not expected)
    if expected:
        assert many.count(**options, state=state, expired=expired) == len(expected)


@settings(max_examples=50, deadline=None)
@given(options=OPTIONS)
def test_searches_find_what_passes_and_has_not_expired(many: ReasoningBank, every: Every, options: Any) -> None:
    wanted = _or_nothing(lambda: arguments.filters(options, lambda: NOW))
    if wanted is None:
        return
    expected = {memory.id for memory in every if passes(memory, wanted) and not memory.has_expired(NOW)}
    found = many.search("quote path number with care", 200, **options)

    assert {memory.id for memory in found.memories} == expected
    assert expected or found.withheld


def _or_nothing(read: Callable[[], Filters]) -> Filters | None:
    """Two times that leave nothing between them are refused."""
    try:
        return read()
    except InvalidInputError as error:
        assert "nothing lies from" in str(error)  # noqa: PT017
        return None


@pytest.mark.parametrize("newest_first", [False, True])
def test_pages_of_a_list_hold_each_memory_once(many: ReasoningBank, every: Every, newest_first: bool) -> None:
    seen: list[str] = []
    after: str | None = None
    while True:
        page = many.list(state=None, expired=None, newest_first=newest_first, after=after, limit=7)
        seen += [memory.id for memory in page.memories]
        if (after := page.next) is None:
            break

    assert sorted(seen) == sorted(memory.id for memory in every)
    assert len(set(seen)) == len(seen)


NUMBERS = st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)


@settings(max_examples=50, deadline=None)
@given(key=st.text(min_size=1, max_size=8).filter(str.strip), value=JSON_VALUES | st.lists(JSON_VALUES, max_size=3))
def test_what_was_recorded_is_found_by_it(many: ReasoningBank, key: str, value: Any) -> None:
    memory = many.record("Under a key", f"Say {key!r} and {value!r}.", outcome="success", metadata={key: value}).memory
    asked = {key: {"eq": value}}

    assert memory.id in {found.id for found in many.list(where=asked, limit=1_000).memories}
    assert many.delete(memory.id)

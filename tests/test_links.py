"""Types of links, what speaks for one, and what is required by what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import Verdict
from reasoningbank.errors import InvalidInputError, LimitExceededError
from reasoningbank.links import (
    MOST_REQUIRED,
    TYPES,
    CoUse,
    ExportedLink,
    Link,
    as_field,
    by_co_use,
    by_similarity,
    checked_evidence,
    checked_strength,
    checked_type,
    from_object,
    required_by,
)

ALIKE = (Verdict.SUCCESS, Verdict.SUCCESS)
UNLIKE = (Verdict.SUCCESS, Verdict.FAILURE)


def test_the_known_types_are_those_of_the_systems_that_people_come_from_and_what_superseding_makes() -> None:
    assert [checked_type(name) for name in TYPES] == [(name, "") for name in TYPES]
    assert len(TYPES) == 10


def test_a_type_is_the_same_in_any_spelling() -> None:
    assert checked_type(" Duplicate Of ") == checked_type("DUPLICATE-OF") == ("duplicate_of", "")


def test_another_type_is_taken_with_a_warning_that_names_the_nearest_known_one() -> None:
    assert checked_type("entails")[0] == "entails"
    assert "known: causes, requires" in checked_type("entails")[1]
    assert "did you mean 'requires'?" in checked_type("require")[1]


@pytest.mark.parametrize("bad", ["", "  ", None, 3])
def test_a_type_without_a_name_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="link type"):
        checked_type(bad)


def test_a_type_that_is_too_long_is_refused() -> None:
    with pytest.raises(LimitExceededError):
        checked_type("x" * 65)


@pytest.mark.parametrize("bad", [0, -0.1, 1.01, True, "1", None, float("nan")])
def test_a_strength_is_above_0_and_up_to_1(bad: object) -> None:
    assert checked_strength(1) == 1.0
    with pytest.raises(InvalidInputError, match="strength"):
        checked_strength(bad)


def test_evidence_is_a_text_of_the_length_of_a_description() -> None:
    assert checked_evidence(" since 2024 ") == "since 2024"
    with pytest.raises(InvalidInputError):
        checked_evidence(["a"])
    with pytest.raises(LimitExceededError):
        checked_evidence("x" * 1001)


# -- suggestions -----------------------------------------------------------------------------------------------------


def test_184_185_alike_lessons_are_linked_strictly_above_075_and_the_same_above_092() -> None:
    found = [by_similarity("b", "a", ALIKE, cosine) for cosine in (0.75, 0.8, 0.92, 0.93, 1.0)]

    assert [link and link.type for link in found] == [
        None,
        "alternative",
        "alternative",
        "duplicate_of",
        "duplicate_of",
    ]
    assert found[1] is not None
    assert (found[1].source, found[1].target, found[1].strength) == ("b", "a", 0.8)


def test_a_success_and_a_failure_about_the_same_contradict_each_other_strictly_above_085() -> None:
    found = [by_similarity("b", "a", UNLIKE, cosine) for cosine in (0.8, 0.85, 0.86)]

    assert [link and link.type for link in found] == [None, None, "contradicts"]
    assert found[2] is not None
    assert "a success and a failure" in found[2].evidence


def test_memories_that_succeed_together_enhance_each_other() -> None:
    found = by_co_use("a", "b", CoUse(together=4, succeeded=3, failed=1, either=5))

    assert found is not None
    assert (found.type, found.strength) == ("enhances", 0.8)
    assert found.evidence == "handed out together in 4 of 5 runs; 3 of 4 succeeded"


def test_memories_that_mostly_fail_together_conflict() -> None:
    found = by_co_use("a", "b", CoUse(together=4, succeeded=2, failed=2, either=4))

    assert found is not None
    assert found.type == "conflicts"


@pytest.mark.parametrize(
    "runs",
    [CoUse(2, 2, 0, 2), CoUse(3, 3, 0, 7), CoUse(5, 2, 0, 5)],
    ids=["few runs", "a small part of them", "hardly any judged"],
)
def test_little_in_common_speaks_for_nothing(runs: CoUse) -> None:
    assert by_co_use("a", "b", runs) is None


# -- what is required ------------------------------------------------------------------------------------------------


def follow(hits: Sequence[int], links: dict[int, list[tuple[int, float]]]) -> list[tuple[int, int, float]]:
    found = required_by(hits, lambda numbers: {n: links[n] for n in numbers if n in links})
    return [(r.n, r.by, round(r.strength, 6)) for r in found]


def test_what_is_required_comes_with_what_that_requires_up_to_three_links_away() -> None:
    links = {1: [(2, 0.5)], 2: [(3, 0.5)], 3: [(4, 1.0)], 4: [(5, 1.0)]}

    assert follow([1], links) == [(2, 1, 0.5), (3, 2, 0.25), (4, 3, 0.25)]


def test_a_circle_ends_where_it_began_and_what_is_there_does_not_come_twice() -> None:
    assert follow([1, 2], {1: [(2, 1.0), (3, 1.0)], 3: [(1, 1.0)]}) == [(3, 1, 1.0)]


def test_of_two_that_require_the_same_the_stronger_link_counts() -> None:
    assert follow([1, 2], {1: [(3, 0.2)], 2: [(3, 0.9)]}) == [(3, 2, 0.9)]
    assert follow([1, 2], {1: [(3, 0.9)], 2: [(3, 0.2)]}) == [(3, 1, 0.9)]


@given(st.dictionaries(st.integers(0, 30), st.lists(st.tuples(st.integers(0, 30), st.floats(0.1, 1.0)), max_size=8)))
def test_however_memories_are_linked_few_come_along_each_once(links: dict[int, list[tuple[int, float]]]) -> None:
    found = follow([0, 1], links)

    assert len({n for n, _, _ in found} - {0, 1}) == len(found) <= MOST_REQUIRED
    assert all(0.0 < strength <= 1.0 for _, _, strength in found)


# -- in and out ------------------------------------------------------------------------------------------------------


def test_a_link_is_the_same_after_it_was_written_and_read() -> None:
    at = datetime(2026, 3, 14, tzinfo=UTC)
    (written,) = as_field([Link("a", "b", "requires", 0.5, "why", "ada", at)])["links"]

    assert from_object(written) == ExportedLink("b", "requires", 0.5, "why", "ada", at)
    assert as_field([]) == {}
    assert from_object({"target": "b", "type": "causes"}) == ExportedLink("b", "causes", 1.0, "", "", None)


@pytest.mark.parametrize(
    "bad",
    [{"type": "causes"}, {"target": " ", "type": "causes"}, {"target": "b", "type": "causes", "created_at": "soon"}],
)
def test_a_link_that_leads_nowhere_or_was_never_made_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        from_object(bad)

"""The grammar of filters: what is allowed is read one way, what is not is an error that says what is."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import InvalidInputError
from reasoningbank.filters import Condition, conditions, kind_of, sources, tag_lists, text_list


def test_a_list_of_tags_stands_for_all_of_them() -> None:
    assert tag_lists(["shell", " sql ", "shell"]) == {"all": ("shell", "sql")}
    assert tag_lists({"any": ["a", "b"], "none": {"c"}, "all": None}) == {"any": ("a", "b"), "none": ("c",)}
    assert tag_lists(None) == {}


def test_one_source_or_any_of_a_list() -> None:
    assert sources("ada") == sources(["ada", "ada"]) == ("ada",)
    assert sources(None) == ()


def test_a_value_is_equality_and_an_object_holds_conditions() -> None:
    read = conditions({"team": "a", "priority": {"gte": 3, "lt": 5}, "kind": {"in": ("x", None)}, "list": [1]})

    assert read == (
        Condition("team", "eq", ("a",)),
        Condition("priority", "gte", (3,)),
        Condition("priority", "lt", (5,)),
        Condition("kind", "in", ("x", None)),
        Condition("list", "eq", ([1],)),
    )
    assert conditions(None) == ()


def test_of_a_list_of_objects_all_must_hold() -> None:
    assert conditions([{"priority": 3}, {"priority": {"lt": 2}, "kind": "x"}]) == (
        Condition("priority", "eq", (3,)),
        Condition("priority", "lt", (2,)),
        Condition("kind", "eq", ("x",)),
    )
    with pytest.raises(InvalidInputError, match="not a dictionary"):
        conditions([{"priority": 3}, "kind"])


def test_numbers_beyond_64_bits_are_compared_as_floating_point_ones() -> None:
    (asked,) = conditions({"k": 2**70})

    assert asked.values == (float(2**70),)
    assert isinstance(asked.values[0], float)


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ({"priority": {"gtee": 3}}, "did you mean 'gte'"),
        ({"priority": {"$gte": 3}}, "did you mean 'gte'"),
        ({"priority": {"almost": 3}}, "it takes eq, in, gte, gt, lte, lt"),
        ({"priority": {3: 3}}, "it takes eq"),
        ({"priority": {}}, "holds no condition"),
        ({"$or": [{"a": 1}, {"b": 2}]}, "knows no '\\$or'"),
        ({"OR": []}, "knows no 'OR'"),
        ({"priority": {"in": "abc"}}, "'in' takes a list"),
        ({"priority": {"in": []}}, "'in' takes a list"),
        ({"priority": {"in": list(range(1_001))}}, "1 to 1,000"),
        ({"priority": {"in": [{"a": 1}]}}, "cannot be compared"),
        ({"priority": {"eq": {"a": 1}}}, "cannot be compared"),
        ({"priority": {"gte": None}}, "takes a number or a text"),
        ({"priority": {"lt": True}}, "takes a number or a text"),
        ({"priority": {"lt": [1]}}, "takes a number or a text"),
        ({"priority": 10**400}, "beyond all numbers"),
        ({"priority": float("nan")}, "JSON cannot"),
        ({"priority": {1, 2}}, "JSON cannot"),
        ({1: "x"}, "dictionary of metadata"),
        (["priority"], "dictionary of metadata"),
    ],
)
def test_what_cannot_be_asked_of_metadata_is_refused(where: Any, named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        conditions(where)


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)

    with pytest.raises(InvalidInputError, match="nested too deeply"):
        conditions({"k": endless})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("go", "give a list, such as \\['go'\\]"),
        ([None], "no text that a memory could have"),
        ([" "], "no text that a memory could have"),
        (5, "no list of texts"),
        (b"go", "no list of texts"),
        ({"some": ["go"]}, "tags knows no 'some'"),
        ({"any": "go"}, "tags 'any' is the text 'go'"),
    ],
)
def test_what_is_no_list_of_tags_is_refused(given: Any, named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        tag_lists(given)


def test_a_mapping_is_no_list_of_texts() -> None:
    with pytest.raises(InvalidInputError, match="no list of texts"):
        text_list("source", {"ada": 1})


def test_kinds_tell_apart_what_is_never_equal() -> None:
    assert [kind_of(value) for value in (True, None, 1, 1.0, "1", [1])] == [
        "truth value", "null", "number", "number", "text", "list"
    ]  # fmt: skip

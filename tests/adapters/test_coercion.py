"""Arguments as models really send them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.adapters.coercion import echoed, storable, to_bool, to_choice, to_list, to_number, to_text, unset

ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("true", True),
        (" Yes ", True),
        ("1", True),
        (1, True),
        ("false", False),
        ("OFF", False),
        (0, False),
        (True, True),
        ("maybe", "maybe"),
        (2, 2),
        (1.0, 1.0),
        (None, None),
    ],
)
def test_a_yes_or_no_may_come_as_text_or_as_a_number(sent: object, read: object) -> None:
    got = to_bool(sent)

    assert got == read
    assert type(got) is type(read)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("5", 5),
        (" 0.7 ", 0.7),
        ("1e3", 1000.0),
        ("5.0", 5),
        ("", None),
        ("None", None),
        ("null", None),
        ("five", "five"),
        (5, 5),
        (None, None),
    ],
)
def test_a_number_may_come_as_text(sent: object, read: object) -> None:
    assert to_number(sent) == read


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ('["git", "csv"]', ["git", "csv"]),
        ("git, csv,", ["git", "csv"]),
        ("git", ["git"]),
        ("", None),
        ("null", None),
        (["git"], ["git"]),
        ("[git, csv", "[git, csv"),
        ("['git', 'csv']", ["git", "csv"]),
        ("[git, null]", ["git"]),
        ("[['git']]", "[['git']]"),
        ("[" * 100_000, "[" * 100_000),
        (None, None),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_list_may_come_as_json_or_as_words(sent: object, read: object) -> None:
    assert to_list(sent) == read


def test_one_of_a_few_words_may_come_in_any_case() -> None:
    assert to_choice(" Success\n") == "success"
    assert to_choice("null") is None
    assert to_choice(3) == 3


def test_what_says_nothing_in_a_list_is_left_out() -> None:
    assert to_list(["null", "shell", ""]) == to_list('["shell", null, "none"]') == ["shell"]
    assert to_list(["null"]) is None
    assert to_list('["null"]') is None
    assert to_list([]) == []


def test_a_whole_number_with_a_point_is_a_whole_number() -> None:
    assert isinstance(to_number(5.0), int)
    assert to_number(5.5) == 5.5


def test_a_text_that_must_say_something_says_nothing_as_null() -> None:
    assert [to_text(sent) for sent in (" Null ", "N/A", "")] == ["", "", ""]
    assert [to_text(sent) for sent in (None, 5, ["a"], "none of it")] == [None, 5, ["a"], "none of it"]


def test_half_a_surrogate_pair_is_replaced_wherever_it_stands() -> None:
    half = "\ud83d"
    assert storable({half: [half, {"a": f"b{half}"}], "n": 1}) == {"\ufffd": ["\ufffd", {"a": "b\ufffd"}], "n": 1}


def test_a_reference_that_says_nothing_is_none_and_another_stays_as_it_is() -> None:
    assert unset(" None ") is None
    assert unset(" e-1 ") == " e-1 "
    assert unset(7) == 7


@given(ANYTHING)
def test_what_cannot_be_read_stays_for_the_schema_to_refuse(sent: object) -> None:
    for read in (to_bool, to_number, to_list, to_choice, unset):
        got = read(sent)
        if read is to_list and isinstance(sent, list):
            assert (got or []) == [item for item in sent if unset(item) is not None]
            continue
        assert isinstance(sent, str) or got == sent or (isinstance(sent, float) and math.isnan(sent))


def test_arguments_are_shown_shortened() -> None:
    assert echoed({"k": 3, "query": "x" * 100}) == f"k=3, query='{'x' * 59}"
    assert echoed({}) == "nothing"

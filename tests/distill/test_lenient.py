from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.distill.lenient import (
    BACKSLASHES,
    CUT,
    LOOSE,
    CutList,
    LooseObject,
    load_lenient,
    load_strict,
    unescape,
)


def lenient(text: str) -> Any:
    value, end = load_lenient(text)
    assert end <= len(text)
    return value


def notes(text: str) -> tuple[str, ...]:
    value = lenient(text)
    assert isinstance(value, LooseObject)
    return value.notes


plain = st.text(st.characters(exclude_characters="\\\b\f", exclude_categories=["Cs"]), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | plain
values = st.recursive(
    scalars, lambda inside: st.lists(inside, max_size=4) | st.dictionaries(plain, inside, max_size=4), max_leaves=12
)


@given(st.lists(values, max_size=4) | st.dictionaries(plain, values, max_size=4))
def test_what_is_strict_json_is_read_as_the_standard_library_reads_it(value: Any) -> None:
    text = json.dumps(value)

    assert load_strict(text) == (value, len(text))


@given(st.lists(st.integers() | st.sampled_from(["a b", "c:d", "don't", "é"]), max_size=4), st.booleans())
def test_what_is_strict_json_is_read_alike_by_the_lenient_reader(items: list[Any], indented: bool) -> None:
    value = {"memories": [{"title": item, "tags": items} for item in items]}

    assert lenient(json.dumps(value, indent=2 if indented else None)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'b'}", {"a": "b"}),
        ("{a: 1, b: True, c: None, d: nil}", {"a": 1, "b": True, "c": None, "d": None}),
        ('{"a": 1, /* why */ "b": 2, // more\n}', {"a": 1, "b": 2}),
        ('{"a": "x"\n"b": "y"}', {"a": "x", "b": "y"}),
        ('{"a": "one", "b" = "two"}', {"a": "one", "b": "two"}),
        ('{"a": "he said "yes", then left"}', {"a": 'he said "yes", then left'}),
        ("{'a': 'don't do it', 'b': \"it's\"}", {"a": "don't do it", "b": "it's"}),
        ("{\u201ca\u201d: \u201cb\u201d}", {"a": "b"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": bare words, "b": -1.5e3}', {"a": "bare words", "b": -1500.0}),
        ("{\"a\": [1, 'x', [true,],],}", {"a": [1, "x", [True]]}),
        ('{"a": "said \\"x\\" twice", b: 1}', {"a": 'said "x" twice', "b": 1}),
        ("{,}", {}),
        ("[,;]", []),
        ("[{'a': 1} {'b': 2}]", [{"a": 1}, {"b": 2}]),
    ],
)
def test_nearly_json_is_read_as_it_was_meant(text: str, value: Any) -> None:
    assert lenient(text) == value
    assert not isinstance(lenient(text), CutList)
    assert CUT not in getattr(lenient(text), "notes", ())


def test_what_had_to_be_guessed_is_noted() -> None:
    assert notes("{'a': 1}") == (LOOSE,)
    assert notes(r'{"a": "\d", b: 1}') == (BACKSLASHES, LOOSE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "whole", "b": "hal', {"a": "whole"}),
        ('{"a": "whole", "b": tru', {"a": "whole"}),
        ('{"a": "whole", "b"', {"a": "whole"}),
        ('{"a": "whole", "b":', {"a": "whole"}),
        ('{"a": "whole", "b', {"a": "whole"}),
        ('{"a": "whole", ', {"a": "whole"}),
        ('{"a": ["x", "y', {"a": ["x"]}),
        ('{"a": {"b": "c"', {"a": {"b": "c"}}),
        ("{", {}),
        ("{braces} in prose", {}),
    ],
)
def test_an_object_that_was_cut_off_says_so_and_holds_no_half_value(text: str, value: Any) -> None:
    assert lenient(text) == value
    assert CUT in notes(text)


@pytest.mark.parametrize(
    ("text", "items"), [('["a", "b', ["a"]), ('[{"a": 1}, {"b"', [{"a": 1}, {}]), ("[1, }", [1]), ("[", [])]
)
def test_a_list_that_was_cut_off_says_so(text: str, items: list[Any]) -> None:
    value = lenient(text)

    assert isinstance(value, CutList)
    assert value == items


def test_objects_before_the_cut_are_whole() -> None:
    value = lenient('{"memories": [{"title": "A", "content": "a"}, {"title": "B", "content": "b')

    whole, half = value["memories"]
    assert CUT not in whole.notes
    assert CUT in half.notes


def test_infinities_and_nan_are_null() -> None:
    assert load_strict('{"a": NaN, "b": -Infinity}') == ({"a": None, "b": None}, 26)


def test_depth_is_bounded() -> None:
    assert load_strict("[" * 100_000) is None
    assert isinstance(lenient("[" * 100_000), CutList)


def test_a_value_that_may_hold_a_path_is_not_strict() -> None:
    assert load_strict(r'{"a": "C:\new"}') is None
    assert load_strict(r'{"a": "match \bword\b"}') is None
    assert load_strict(r'{"a": "C:\\new"}') is not None
    assert load_strict(r'{"a": "line\nline"}') is not None


@pytest.mark.parametrize(
    ("raw", "text", "guessed"),
    [
        ("no backslash", "no backslash", False),
        (r"line\nline \u00e9 \"q\" a\\b\/", 'line\nline é "q" a\\b/', False),
        (r"open C:\work\new\temp and match \d+", r"open C:\work\new\temp and match \d+", True),
        (r"open C:\new\temp", r"open C:\new\temp", True),
        (r"Option C:\nDo it", "Option C:\nDo it", True),
        (r"Run:\n1. use \d+\n2. src\new.py", "Run:\n1. use \\d+\n2. src\\new.py", True),
        (r"match \bword\b", r"match \bword\b", True),
        (r"bad \u12G4", r"bad \u12G4", True),
        ("wrapped \\\nline", "wrapped \nline", False),
    ],
)
def test_a_backslash_that_was_meant_does_not_become_a_line_break(raw: str, text: str, guessed: bool) -> None:
    assert unescape(raw) == (text, guessed)


@given(st.text(alphabet="{}[]\"':,\\/*ntu0dC a\n", max_size=60))
def test_whatever_the_text_the_reader_comes_to_an_end(text: str) -> None:
    value, end = load_lenient(text)

    assert 0 <= end <= len(text)
    json.dumps(value)


@pytest.mark.parametrize("text", ["00", "01", "-01", "[007, 7]"])
def test_a_number_that_json_does_not_know_is_read_as_text(text: str) -> None:
    value, end = load_lenient(text)

    assert end == len(text)
    json.dumps(value)

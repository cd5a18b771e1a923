from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import InvalidNameError, ReasoningBankError, ScopeError
from reasoningbank.storage.root import checked_name, folder_name

FOLDER = "abcdefghijklmnopqrstuvwxyz0123456789-"


@pytest.mark.parametrize(
    "name",
    ["Atlas", "a/b", "..", ".", "CON", "nul", "aux.json", "COM1 ", "proj.", "proj ", "x:y", "a" * 200, "試験",
     "naïve-bot", "%", "_", "*", "a?c", "[a-z]*", ".*", "\\", "~", "$HOME", "-rf"],
)  # fmt: skip
def test_every_name_gets_a_folder_name_that_is_safe_on_every_system(name: str) -> None:
    folder = folder_name(checked_name(name, "project"))

    assert set(folder) <= set(FOLDER)
    assert 0 < len(folder) <= 64
    assert folder[0] != "-"
    assert folder[-1] not in "-. "


@pytest.mark.parametrize(
    ("one", "other"),
    [("Atlas", "atlas"), ("a/b", "a-b"), ("x:y", "x-y"), ("proj", "proj "), ("a.b", "a_b"), ("ß", "ss"), ("İ", "i̇")],
)
def test_names_that_look_alike_get_different_folders(one: str, other: str) -> None:
    assert folder_name(one) != folder_name(other)


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_two_different_names_never_share_a_folder_even_where_case_is_ignored(one: str, other: str) -> None:
    try:
        one, other = checked_name(one, "project"), checked_name(other, "project")
    except ReasoningBankError:
        return
    if one != other:
        assert folder_name(one).casefold() != folder_name(other).casefold()


def test_the_same_name_in_either_unicode_form_is_one_project() -> None:
    composed, decomposed = unicodedata.normalize("NFC", "naïve"), unicodedata.normalize("NFD", "naïve")

    assert composed != decomposed
    assert folder_name(checked_name(composed, "project")) == folder_name(checked_name(decomposed, "project"))


@pytest.mark.parametrize("name", [None, "", "   "])
def test_there_is_no_default_name(name: str | None) -> None:
    with pytest.raises(ScopeError, match="there is no default"):
        checked_name(name, "tenant")


@pytest.mark.parametrize("name", ["a\x00b", "a\nb", "a\u200bb", "a\u202eb", "\ufeffa", "a\ud800", 7, "a" * 201])
def test_names_with_invisible_characters_or_too_long_are_refused(name: object) -> None:
    with pytest.raises(InvalidNameError):
        checked_name(name, "project")

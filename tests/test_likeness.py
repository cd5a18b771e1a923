"""Whether two texts say the same in other words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.likeness import differences, likeness, wording


def same(one: str, other: str) -> bool:
    return differences(wording(one), wording(other)).none


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Find all *.txt files under the current folder", "search for all .txt files below the current directory"),
        ('Make directory "certs"', "create directory certs"),
        ("Remove files larger than 9MB", "Delete files bigger than 9 MB"),
        ("Retry three times", "Retry 3 times"),
        ("Set the owner of the user's file `a_b.c`", "Set the owner of the users file a_b.c"),
        ("Write the config/settings first, then restart", "First write the settings/config, then restart."),
        ("Print text", "Print the content"),
        ("Change the owner of the file a_b.c", "Change the owner of a_b.c"),
        ("Search the /etc directory", "Search /etc"),
    ],
)
def test_other_words_for_the_same_are_the_same(one: str, other: str) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Retry 3 times", "Retry 5 times", id="a number"),
        pytest.param("Pass --force to git push", "Pass --force-with-lease to git push", id="a name"),
        pytest.param("Call `os.path` first", "Call `pathlib` first", id="a quoted name"),
        pytest.param("Use retries with backoff", "Never use retries with backoff", id="a negation"),
        pytest.param("Use retries with backoff", "Don't use retries with backoff", id="a contraction"),
        pytest.param("Get the IP address", "Get the MAC address", id="a word"),
        pytest.param("Delete directories", "Delete directories and files", id="one word more"),
        pytest.param("Delete files", "Delete files and directories", id="another word more"),
        pytest.param("Delete all files `x`", "Delete all directories `x`", id="a kind"),
        pytest.param("Write tests before code", "Write code before tests", id="an order of words"),
        pytest.param("Copy a.txt onto b.txt", "Copy b.txt onto a.txt", id="an order of names"),
    ],
)
def test_what_tells_two_lessons_apart_is_seen(one: str, other: str) -> None:
    assert not same(one, other)
    assert not same(other, one)


def test_a_negation_alone_makes_opposites_but_not_between_different_things() -> None:
    def opposed(one: str, other: str) -> bool:
        return differences(wording(one), wording(other)).opposed

    assert opposed("Use retries with backoff", "Never use retries with backoff")
    assert not opposed("Use retries with backoff", "Use retries")
    assert not opposed("Use `flock` on the file", "Never use `lockf` on the file")


def test_names_and_numbers_in_one_text_only_lower_the_likeness_and_shared_ones_raise_it() -> None:
    def alike(one: str, other: str) -> float:
        return likeness(0.8, wording(one), wording(other))

    assert alike("Retry twice", "Try again") == 0.8
    assert alike("Run `a_b`", "Run `a_b` again") > 0.8
    assert alike("Run `a_b`", "Run `c_d`") < 0.8
    assert alike("Retry 3 times", "Retry 4 times") < 0.8


def test_what_only_a_longer_text_names_counts_less_than_what_it_lacks() -> None:
    page = wording("Run `a_b` and wait until the server answers, then look at its log. See also `c_d`.")

    assert likeness(0.8, wording("Run `a_b`"), page) > likeness(0.8, wording("Run `c_d`, not `e_f`"), page)


def test_a_text_of_signs_only_says_nothing() -> None:
    assert wording(" ... ' ' ").order == ()
    assert same("...", " ")


@given(st.text(max_size=60), st.text(max_size=60))
def test_likeness_is_the_same_both_ways_round(one: str, other: str) -> None:
    a, b = wording(one), wording(other)

    assert likeness(0.5, a, b) == pytest.approx(likeness(0.5, b, a))
    assert differences(a, b).none == differences(b, a).none
    assert differences(a, a).none

"""Whether two texts say the same in other words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.upkeep.likeness import differences, likeness, swapped, wording


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
        ("Print the text `hello`", "Print `hello`"),
        ("Wait exactly 5 minutes", "Wait 5 minutes"),
        ("Change the owner of the file a_b.c", "Change the owner of a_b.c"),
        ("Search the /etc directory", "Search /etc"),
        ("Search the /etc directory tree", "Search /etc"),
        ("Change the owner of the file report to `ada`", "Change the owner of `report` to `ada`"),
        ("Find files named a_b", "Find the files called a_b, anywhere on the system"),
        ("Find files under a_b recursively", "Find files in the a_b directory tree"),
        ("Delete logs inside a_b", "Delete logs in a_b"),
        ("Delete logs inside a_b", "Delete logs below a_b"),
        ("Find all files with the extension mp3", "Find all `*.mp3` files"),
        ("Play all MP3s", "Play all mp3"),
        ("Skip everything except `a`", "Skip everything excluding `a`"),
        ("Print the filename and size", "Print the name and size of the file"),
        ("Print the file name", "Print the filename"),
        ("Lock with either `flock` or `lockf`", "Lock with `flock` or `lockf`"),
        ("Wash your hands before touching a wound", "Before you touch a wound, wash your hands."),
        ("The refund is approved by the supervisor.", "The supervisor approves the refund."),
        ("Retry at most 3 times", "Retry a maximum of 3 times"),
        ("List files owned by root", "List root's files"),
        ("Copy a_b to c_d", "To c_d, copy a_b"),
        ("Prefer rebase over merge", "Over merge, prefer rebase"),
        ("Search the files under a_b for `x`", "Search for `x` in all files under a_b"),
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
        pytest.param("Copy from a.txt to b.txt", "Copy from b.txt to a.txt", id="from and to"),
        pytest.param("Prefer rebase over merge", "Prefer merge over rebase", id="over"),
        pytest.param("Move logs to archive and traces to disk", "Move traces to archive and logs to disk", id="two to"),
        pytest.param("Find a_b under c_d", "Find c_d under a_b", id="names that change places"),
        pytest.param("Replace `a` with `b`", "Replace `b` with `a`", id="with"),
        pytest.param("Commit after tests pass and deploy", "Deploy after tests pass and commit", id="what comes after"),
        pytest.param("Sum the lengths of all lines", "Sum the lengths of each line", id="each and all"),
        pytest.param("Lock both files", "Lock either file", id="either and both"),
        pytest.param("Lock with either `flock` or `lockf`", "Lock with `flock` and `lockf`", id="either and and"),
        pytest.param("Do not deploy without a backup", "Do not deploy a backup", id="a negation more"),
        pytest.param("Do not stop the server, delete logs", "Stop the server, do not delete logs", id="what is denied"),
        pytest.param("The buyer pays the seller the fee", "The seller pays the buyer the fee", id="who to whom"),
        pytest.param("Before a restart, drain the queue", "Before draining the queue, restart", id="an opening turned"),
        pytest.param("Writable by the group or others", "Writable by the group and others", id="or and and"),
        pytest.param("List the files in `a`", "List the files named `a`", id="a place and a name"),
        pytest.param("Find `*foo` files", "Find `*.foo` files", id="two patterns"),
        pytest.param("Print the text files", "Print the files", id="a word of weight without a name"),
        pytest.param("Alert below 5 percent", "Alert at 5 percent", id="below"),
        pytest.param("Read the `user` table", "Read the `users` table", id="names in code have no plural"),
        pytest.param("Delete files", "Delete files/directories", id="two kinds with a slash"),
        pytest.param("Change the owner of the file report", "Change the owner of the user report", id="kinds"),
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


def test_an_order_is_another_only_where_both_say_one() -> None:
    assert swapped("back up then migrate", "migrate then back up")
    assert not swapped("back up then migrate", "back up and migrate")


def test_the_longer_text_may_come_first() -> None:
    short, long = wording("Run `a_b`"), wording("Run `a_b` and wait until the server answers `c_d`")

    assert likeness(0.8, long, short) == likeness(0.8, short, long) < 0.9


@given(st.text(max_size=60), st.text(max_size=60))
def test_likeness_is_the_same_both_ways_round(one: str, other: str) -> None:
    a, b = wording(one), wording(other)

    assert likeness(0.5, a, b) == pytest.approx(likeness(0.5, b, a))
    assert differences(a, b).none == differences(b, a).none
    assert differences(a, a).none

"""Which errors are the same."""

from __future__ import annotations

import pytest

from reasoningbank.diagnostics import Diagnostic

SAME = [
    ("open /home/ada/app/a.toml", "open /srv/ci/build-7/a.toml"),
    ("failed after 12 ms", "failed after 3.5 ms"),
    ("at line 12 column 7 (char 80)", "at line 3 column 1 (char 2)"),
    ("object at 0x7f3a2b10", "object at 0x7f001234"),
    ("2026-01-02 10:11:12,345 no space", "2027-11-30 09:00:00 no space"),
    ("write /tmp/tmpab12/x", "write /tmp/tmpzz99/y"),
    ("“quoted”   ‘name’", "\"quoted\" 'name'"),
]
ALIKE = [
    ("index 7 is out of bounds", "index 81 is out of bounds"),
    ("no job 9f8e7d6c5b4a", "no job 0a1b2c3d4e5f"),
    ("no run 123e4567-e89b-12d3-a456-426614174000", "no run 00000000-e89b-12d3-a456-426614174abc"),
    ("bad file settings.toml", "bad file other.yaml"),
    ("in /home/ada/orders", "in /srv/ci/billing"),
    ("GET https://a.example/x failed", "GET https://b.example/y?z=1 failed"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_where_and_when_it_happened_makes_no_difference(one: str, other: str) -> None:
    assert Diagnostic.of(one) == Diagnostic.of(other)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_with_other_numbers_ids_and_files_it_is_the_same_kind(one: str, other: str) -> None:
    assert Diagnostic.of(one) != Diagnostic.of(other)
    assert Diagnostic.of(one).templated == Diagnostic.of(other).templated


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Diagnostic.of("'region'", code="KeyError"), Diagnostic.of("'id'", code="KeyError")),
        (Diagnostic.of("not found", tool="git"), Diagnostic.of("not found", tool="helm")),
        (Diagnostic.of("x", code="E1"), Diagnostic.of("x", code="E2")),
    ],
)
def test_what_it_is_about_who_says_so_and_its_code_make_another_error(one: Diagnostic, other: Diagnostic) -> None:
    assert one != other
    assert one.templated != other.templated
    assert one != "not found"


def test_a_fraction_and_an_address_of_the_net_are_no_paths() -> None:
    assert Diagnostic.of("took 3/4 of it").message == "took 3/4 of it"


def test_a_message_is_cut_at_a_length() -> None:
    assert len(Diagnostic.of("word " * 500).message) <= 400

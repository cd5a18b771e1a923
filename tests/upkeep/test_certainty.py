"""What is the same beyond doubt, and what is not: of these, one of each pair would be lost by a merge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.upkeep.certainty import beyond_doubt

TEXTS = st.text(alphabet="ab it's don't .,`'\"\n", max_size=60)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Before you push, run the tests.", "Run the tests before you push"),
        ("For invoices older than 90 days, ask a manager.", "Ask a manager for invoices older than 90 days."),
        ("Don't commit generated files", "Do not commit generated files."),
        ("You can't cancel it; it's shipped", "You cannot cancel it; it is shipped"),
        ("Keep the last seven backups", "Keep the last 7 backups"),
        ("Please quote the shell variable", "Quote shell variable"),
        ("Run `pytest -x` first", "Run pytest -x first"),
        ('Read "AGENTS.md" and use *absolute* paths', "Read AGENTS.md and use absolute paths"),
        ("Delete the folder. Then build", "Remove the directory.\n\nThen build"),
    ],
)
def test_spelling_markup_articles_and_the_place_of_a_clause_are_no_difference(one: str, other: str) -> None:
    assert beyond_doubt(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Log in before clearing the cookies", "Log out before clearing the cookies"),
        ("Use the cache in production", "Don't use the cache in production"),
        ("Stop the service, then migrate", "Migrate, then stop the service"),
        ("Copy from the laptop to the server", "Copy from the server to the laptop"),
        ("The worker calls the scheduler", "The scheduler calls the worker"),
        ("Wait 5 seconds", "Wait 5 minutes"),
        ("Wait 30 seconds", "Wait 300 seconds"),
        ("You must encrypt it", "You may encrypt it"),
        ("Retry if any shard fails", "Retry if all shards fail"),
        ("Restart if the probe fails", "Restart unless the probe fails"),
        ("Before the upgrade, stop the replica", "After the upgrade, stop the replica"),
        ("Use scp -P 2222", "Use scp -p 2222"),
        ("Delete ./build", "Delete /build"),
        ("Sync src/ to the target", "Sync src to the target"),
        ("Take s[1:]", "Take s[:1]"),
        ("Put '$HOME' there", 'Put "$HOME" there'),
        ("Set it to 1.10", "Set it to 1,10"),
        ("Send it to US", "Send it to us"),
        ("The API used to return XML", "The API returns XML"),
        ("Report errors to the team", "Find errors to the team"),
        ("List the files of the folder a", "List the files of a folder"),
        ("Returned parcels are refunded", "Return parcels are refunded"),
    ],
)
def test_a_particle_a_number_an_order_a_sign_or_a_capital_is_one(one: str, other: str) -> None:
    assert not beyond_doubt(one, other)


@given(TEXTS, TEXTS)
def test_it_holds_both_ways_and_of_every_text_with_itself(one: str, other: str) -> None:
    assert beyond_doubt(one, one)
    assert beyond_doubt(one, other) is beyond_doubt(other, one)

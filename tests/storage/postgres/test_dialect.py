from __future__ import annotations

import pytest

from reasoningbank.address import ServerAddress
from reasoningbank.storage.postgres.dialect import translated


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("SELECT a FROM t WHERE b = ? AND c = ?", "SELECT a FROM t WHERE b = %s AND c = %s"),
        ("SELECT a FROM t WHERE b = :name", "SELECT a FROM t WHERE b = %(name)s"),
        ("WHERE n IN (:numbers)", "WHERE n = ANY(%(numbers)s)"),
        ("WHERE n NOT IN (:numbers)", "WHERE n <> ALL(%(numbers)s)"),
        ("WHERE n IN (?, ?)", "WHERE n IN (%s, %s)"),
        ("ON CONFLICT (key) DO NOTHING", "ON CONFLICT (project, key) DO NOTHING"),
        ("ON CONFLICT(key) DO NOTHING", "ON CONFLICT (project, key) DO NOTHING"),
        ("SELECT 'is it ? :so, 100 %, it''s', ?", "SELECT 'is it ? :so, 100 %%, it''s', %s"),
        ("SELECT a % 2, b::bigint", "SELECT a %% 2, b::bigint"),
    ],
)
def test_a_statement_says_the_same_to_both_engines(ours: str, theirs: str) -> None:
    assert translated(ours) == theirs


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("postgresql://me:secret@host:5432/bank", "postgresql://me:***@host:5432/bank"),
        (
            "postgres://me@host/bank?password=secret&sslmode=require",
            "postgres://me@host/bank?password=***&sslmode=require",
        ),
        ("postgresql://host/bank", "postgresql://host/bank"),
    ],
)
def test_an_address_shows_no_password(given: str, shown: str) -> None:
    address = ServerAddress.of(given)

    assert address is not None
    assert (str(address), address.dsn) == (shown, given)
    assert ServerAddress.of(address) is address
    assert "secret" not in repr(address)


@pytest.mark.parametrize("folder", ["data", "/var/lib/bank", "postgresql", "file:///postgresql://x"])
def test_a_folder_is_no_address(folder: str) -> None:
    assert ServerAddress.of(folder) is None

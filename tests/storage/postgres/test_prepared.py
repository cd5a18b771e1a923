"""What a session keeps planned, and that nothing is kept where sessions are lent for a transaction."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from benchmarks.engines_server import pooled
from reasoningbank.address import ServerAddress
from reasoningbank.storage.postgres import prepared
from reasoningbank.storage.postgres.dialect import numbered, pieces
from reasoningbank.storage.postgres.literals import Literals
from reasoningbank.storage.postgres.wire import Asked, Wire
from tests.servers import Postgres


@pytest.fixture
def wire(postgres: Postgres) -> Iterator[Wire]:
    opened = Wire(ServerAddress(postgres.application), 5.0)
    yield opened
    opened.close()


def ask(wire: Wire, *asked: Asked) -> list[list[tuple[object, ...]]]:
    return [list(rows) for rows, _ in wire.send(asked)]


def kept(wire: Wire) -> list[tuple[object, ...]]:
    """Return the names and types of what is kept, by a question that is asked for the first time, and so is not."""
    return ask(
        wire, ("SELECT name, parameter_types::text FROM pg_prepared_statements ORDER BY prepare_time, name", ())
    )[0]


def test_values_are_numbered_each_by_itself() -> None:
    assert numbered("a = %s AND b %% 2 = %s") == "a = $1 AND b % 2 = $2"
    twice = "a = %(a)s OR %(a)s IS NULL OR b = ANY(%(b)s)"
    assert numbered(twice) == "a = $1 OR $2 IS NULL OR b = ANY($3)"
    assert pieces(twice)[1] == ("a", "a", "b")


def test_values_are_written_as_psycopg_writes_them(wire: Wire) -> None:
    values = [
        "it's",
        "a \\ b",
        "",
        "'",
        "''",
        "%s %% $1",
        "ü – 漢\n",
        0,
        -7,
        2**40,
        -(2**62),
        0.25,
        -1e300,
        float("inf"),
    ]
    values += [None, True, False, b"", b"\0'\\", [1, 2], ["a'b", "c,d"], []]
    sql = "SELECT 7 %% 4, " + ", ".join(["%s"] * len(values))
    connection = wire._connection

    assert Literals(connection).written(sql, values) == psycopg.ClientCursor(connection).mogrify(sql, values)
    assert ask(wire, ("SELECT %s || %s", ("it's -- ", "a \\ b")), ("SELECT 1", ()))[0] == [("it's -- a \\ b",)]


def test_a_text_with_a_null_character_is_refused(wire: Wire) -> None:
    with pytest.raises(psycopg.DataError):
        ask(wire, ("SELECT %s", ("a\0b",)), ("SELECT 1", ()))


def test_what_comes_again_is_kept_and_gives_the_same(wire: Wire) -> None:
    asked = "SELECT %(a)s::text, 7 %% %(b)s, %(c)s::bytea, 3 = ANY(%(d)s)"
    given: tuple[dict[str, object], ...] = (
        {"a": "it's", "b": 4, "c": b"\0\1", "d": [2, 3]},
        {"a": None, "b": 2**40, "c": b"", "d": []},
    )
    wanted: list[tuple[object, ...]] = [("it's", 3, b"\0\1", True), (None, 7, b"", False)]

    for _ in range(8):
        for values, row in zip(given, wanted, strict=True):
            assert ask(wire, (asked, values)) == [[row]]
            assert ask(wire, (asked, values), ("SELECT 1", ())) == [[row], [(1,)]]

    # One for each set of types.
    assert sum("bytea" in str(types) for _, types in kept(wire)) == 2


def test_rows_that_are_changed_are_counted(wire: Wire) -> None:
    wire.send([("CREATE TEMPORARY TABLE t(a bigint)", ())])
    for n in range(4):
        ((_, changed), *_) = wire.send([("INSERT INTO t VALUES (%s), (%s)", (n, -n)), ("SELECT 1", ())])
        assert changed == 2


def test_one_that_failed_is_prepared_anew_under_another_name(wire: Wire) -> None:
    good: Asked = ("SELECT 2 * %s", (3,))
    ask(wire, good)
    ask(wire, ("SELECT 1 / %s", (1,)))
    # Both are prepared in this trip, of which nobody can say how far it came.
    with pytest.raises(psycopg.errors.DivisionByZero):
        ask(wire, good, ("SELECT 1 / %s", (0,)))

    assert [ask(wire, good) for _ in range(3)] == [[[(6,)]]] * 3
    assert ask(wire, ("SELECT 1 / %s", (1,))) == [[(1,)]]


def test_those_used_longest_ago_give_way(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "MOST_KEPT", 2)
    monkeypatch.setattr(prepared, "MOST_SEEN", 4)
    questions: list[Asked] = [(f"SELECT {n} + %s", (n,)) for n in range(3)]
    for n in (0, 0, 0, 1, 1, 0, 2, 2):
        assert ask(wire, questions[n]) == [[(2 * n,)]]

    assert kept(wire) == [("kept_1", "{integer}"), ("kept_3", "{integer}")]


def test_what_begins_and_ends_a_transaction_and_what_is_long_is_not_kept(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "LONGEST", 30)
    for _ in range(3):
        ask(wire, ("BEGIN", ()), ("SELECT %(a)s", {"a": "a text that is rather long"}), ("COMMIT", ()))

    assert kept(wire) == []


def test_a_pooler_is_known_and_nothing_is_kept(postgres: Postgres) -> None:
    with tempfile.TemporaryDirectory(prefix="pooler") as folder:
        try:
            with pooled(postgres, Path(folder)) as address:
                wire = Wire(ServerAddress(address), 5.0)
                for _ in range(3):
                    assert ask(wire, ("SELECT %s + 1", (1,))) == [[(2,)]]
                assert kept(wire) == []
                wire.close()
        except FileNotFoundError as missing:
            pytest.skip(str(missing))

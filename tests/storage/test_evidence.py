"""The rows that a fold starts from and those that it puts, in batches of any size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank.signals import Signal, SignalKind
from reasoningbank.storage import evidence, merges, records
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.fold import Folded, batches, folded
from reasoningbank.storage.folding_again import DERIVED
from reasoningbank.storage.project import nothing
from reasoningbank.storage.signal_log import segment_of
from reasoningbank.storage.transaction import SqliteWriting
from tests.storage.files import DAY, NOON, put_memory, serve

NOWHERE = Path("nowhere")
MEMORIES = ("m", "other")

Said = tuple[SignalKind, int, str, str, int, bool, float, str]

HISTORY: st.SearchStrategy[list[Said]] = st.lists(
    st.tuples(
        st.sampled_from(list(SignalKind)),
        st.sampled_from([-1, 0, 1]),
        st.sampled_from(MEMORIES),
        st.sampled_from(["e1", "e2", "never opened"]),
        st.sampled_from([0, 1, 2]),
        st.booleans(),
        st.sampled_from([1.0, 0.25]),
        st.sampled_from(["", "judge"]),
    ),
    max_size=20,
)


def signal(reading: Reading, said: Said) -> Signal:
    kind, polarity, memory, ref, day, flag, strength, by = said
    found = records.find_revision(reading, memory)
    assert found is not None
    return Signal(
        id="s",
        at=NOON + day * DAY,
        memory=memory,
        revision=found[1],
        kind=kind,
        polarity=polarity,
        strength=strength,
        ref=ref,
        by=by,
        alone=flag and kind is SignalKind.OUTCOME,
        validates=(SignalKind.USAGE,) if flag and kind is SignalKind.EXPLICIT else (),
    )


@pytest.fixture
def writing() -> Iterator[SqliteWriting]:
    with nothing(NOWHERE) as writing:
        begin(writing)
        yield writing


def begin(writing: SqliteWriting) -> None:
    """Make two memories that were handed out, and two segments that nothing is counted of yet."""
    for memory in MEMORIES:
        put_memory(writing, memory)
        serve(writing, "e1" if memory == "m" else "e2", memory)
    for number in (1, 2):
        evidence.begin(writing, segment_of(number, 20_000 + number))


def count(writing: SqliteWriting, history: list[Said], *, segment: int = 2, at_once: int = 20) -> list[Folded]:
    """Fold a history, so many signals at once, and put what comes of it."""
    results = []
    for batch in batches([signal(writing, said) for said in history], at_once):
        changes = folded(evidence.facts_of(writing, batch), [(one, segment) for one in batch])
        evidence.put(writing, changes)
        results += changes.results
    return results


def rows(reading: Reading) -> dict[str, list[tuple[object, ...]]]:
    """Return all that a fold makes."""
    return {name: sorted(reading.execute(query).fetchall(), key=repr) for name, query in DERIVED.items()}


@settings(max_examples=150, deadline=None)
@given(earlier=HISTORY, history=HISTORY, at_once=st.integers(2, 20))
def test_any_history_gives_the_same_rows_one_by_one_in_batches_and_folded_again(
    earlier: list[Said], history: list[Said], at_once: int
) -> None:
    with nothing(NOWHERE) as one_by_one, nothing(NOWHERE) as batched:
        results = []
        for writing, size in ((one_by_one, 1), (batched, at_once)):
            begin(writing)
            results.append(count(writing, earlier, segment=1, at_once=size))
            evidence.roll_up(writing, 1)
            results[-1] += count(writing, history, at_once=size)

        assert results[0] == results[1]
        assert rows(batched) == rows(one_by_one)

        evidence.forget(batched)
        assert count(batched, history) == results[0][len(earlier) :]
        assert rows(batched) == rows(one_by_one)


def test_a_batch_that_replaces_what_it_brought_itself_leaves_the_last_of_it(writing: SqliteWriting) -> None:
    yesterday, today = (
        (SignalKind.OUTCOME, polarity, "m", "e1", day, False, 1.0, "") for polarity, day in ((1, 0), (-1, 1))
    )
    count(writing, [yesterday, today])

    assert [(row[3], row[8:]) for row in rows(writing)["evidence"]] == [(-1, ("", "", 0, "[]", 2))]
    assert [row[-3:-1] for row in rows(writing)["tallies"]] == [(0, 1_000_000)]
    assert ("e1", "failure") in rows(writing)["verdicts"]


def test_votes_that_cancel_out_leave_nothing_validated(writing: SqliteWriting) -> None:
    vote = (SignalKind.EXPLICIT, 1, "m", "e1", 0, True, 1.0, "")
    withdrawn = (SignalKind.EXPLICIT, 0, "m", "e1", 0, True, 1.0, "")

    assert count(writing, [vote, withdrawn]) == [Folded.COUNTED, Folded.COUNTED]

    assert rows(writing)["weights"] == []
    assert rows(writing)["tallies"] == []


def test_all_that_is_known_about_many_signals_is_asked_for_at_once(writing: SqliteWriting) -> None:
    signals = [
        signal(writing, (SignalKind.OUTCOME, 1, memory, f"run {n}", 0, False, 1.0, ""))
        for n in range(600)
        for memory in MEMORIES
    ]
    statements: list[str] = []
    writing.connection.set_trace_callback(statements.append)

    known = evidence.facts_of(writing, signals)

    assert len(statements) == 1
    assert set(known.memories) == set(MEMORIES)
    assert all(known.is_news(one) for one in signals)


def test_it_is_known_what_was_merged_handed_out_and_rolled_up(writing: SqliteWriting) -> None:
    merges.put(writing, [1], 2, NOON)
    outcome: Said = (SignalKind.OUTCOME, -1, "m", "e1", 0, False, 1.0, "")
    count(writing, [outcome, (SignalKind.USAGE, 1, "m", "e1", 0, False, 1.0, "")], segment=1)
    evidence.roll_up(writing, 1)
    another: Said = (SignalKind.OUTCOME, 1, "other", "e2", 0, False, 1.0, "")
    count(writing, [another])

    known = evidence.facts_of(writing, [signal(writing, outcome), signal(writing, another)])

    assert {memory: (one.n, one.merged) for memory, one in known.memories.items()} == {
        "m": (1, True),
        "other": (2, False),
    }
    assert known.served == {(1, "e1"): True, (2, "e2"): False}
    assert known.sealed == {(1, "e1", "outcome"): -1}
    assert known.closed == {"e1"}
    assert list(known.evidence) == [(2, "e2", "outcome")]


def test_nothing_is_known_of_a_memory_that_is_not_there(writing: SqliteWriting) -> None:
    gone = Signal(id="s", at=NOON, memory="gone", revision=1, kind=SignalKind.EXPLICIT, polarity=1, ref="e1")

    assert evidence.facts_of(writing, [gone]).memories == {}

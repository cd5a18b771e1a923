"""What a fold decides, from what is known and what is said alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from reasoningbank.signals import Signal, SignalKind, day_number, time_text
from reasoningbank.storage.fold import UNIT, Changes, Facts, Folded, Known, folded
from tests.storage.files import NOON

COUNTED, REPEATED, ORPHAN = Folded.COUNTED, Folded.REPEATED, Folded.ORPHAN
TODAY = day_number(NOON)
VOTE = (1, "e", "explicit")
OUTCOME = (1, "e", "outcome")


def facts(**known: Any) -> Facts:
    """Return what is known of one memory that nothing was said about yet."""
    return Facts(**{"memories": {"m": Known(1, 7, merged=False)}, **known})


def said(polarity: int = 1, kind: SignalKind = SignalKind.OUTCOME, **more: Any) -> Signal:
    return Signal(
        **{"id": "s", "at": NOON, "memory": "m", "revision": 7, "ref": "e", **more}, kind=kind, polarity=polarity
    )


def voted(polarity: int = 1, **more: Any) -> Signal:
    return said(polarity, SignalKind.EXPLICIT, **more)


def fold(*signals: Signal, about: Facts | None = None) -> Changes:
    return folded(about or facts(), [(signal, 3) for signal in signals])


# -- one batch -------------------------------------------------------------------------------------------------------


def test_what_several_runs_say_is_added_to_one_tally() -> None:
    later = NOON + timedelta(hours=1)

    changes = fold(said(ref="e1"), said(ref="e2", at=later, strength=0.5), said(-1, ref="e3"))

    assert changes.added == {(1, "outcome", TODAY, "", "", 0): (1.5 * UNIT, UNIT, time_text(later))}
    assert not changes.anew
    assert changes.told == [1, 1, 1]


def test_a_repeat_in_one_batch_counts_once() -> None:
    changes = fold(said(), said())

    assert changes.results == [COUNTED, REPEATED]
    assert changes.told == [1]
    assert list(changes.added.values()) == [(UNIT, 0, time_text(NOON))]


def test_a_batch_that_replaces_what_it_brought_itself_keeps_the_last_and_sums_anew() -> None:
    changes = fold(said(+1, at=NOON - timedelta(days=1)), said(-1))

    assert changes.results == [COUNTED, COUNTED]
    assert [(c.polarity, c.day) for c in changes.evidence.values()] == [(-1, TODAY)]
    assert set(changes.anew) == {(1, "outcome", day, "", "", 0) for day in (TODAY - 1, TODAY)}


@pytest.mark.parametrize("vote_first", [True, False])
def test_a_vote_supersedes_the_outcome_of_its_run_in_either_order(vote_first: bool) -> None:
    vote, outcome = voted(-1), said()

    changes = fold(*((vote, outcome) if vote_first else (outcome, vote)))

    assert changes.results == [COUNTED, COUNTED]
    assert {key: c.superseded for key, c in changes.evidence.items()} == {VOTE: 0, OUTCOME: 1}


def test_a_vote_that_is_withdrawn_in_the_same_batch_supersedes_nothing() -> None:
    changes = fold(said(), voted(), voted(0))

    assert {key: c.superseded for key, c in changes.evidence.items()} == {VOTE: 0, OUTCOME: 0}


def test_a_vote_that_is_turned_round_in_the_same_batch_validates_once() -> None:
    kinds = (SignalKind.USAGE, SignalKind.STABILITY)

    changes = fold(voted(+1, validates=kinds), voted(-1, validates=kinds[:1]))

    assert changes.validations == {(3, "usage"): (0, 1), (3, "stability"): (0, 0)}


def test_the_last_outcome_says_how_a_run_ended_also_when_it_is_a_repeat() -> None:
    last = said(reason="again")

    changes = fold(said(-1), said(), last, said(-1, alone=True, ref="other"))

    assert changes.results == [COUNTED, COUNTED, REPEATED, COUNTED]
    assert changes.verdicts == {"e": last}


def test_an_outcome_of_a_whole_run_says_how_it_ended_and_leaves_what_was_judged_alone() -> None:
    whole = said(+1)

    changes = fold(said(-1, alone=True), whole)

    assert changes.results == [COUNTED, REPEATED]
    assert [c.polarity for c in changes.evidence.values()] == [-1]
    assert changes.verdicts == {"e": whole}


# -- what is known ---------------------------------------------------------------------------------------------------


def test_one_batch_after_another_decides_as_all_at_once() -> None:
    known = facts()
    signals = [said(), voted(-1), said(-1), voted(0), said(-1)]

    one_by_one = [result for signal in signals for result in fold(signal, about=known).results]
    at_once = facts()

    assert fold(*signals, about=at_once).results == one_by_one
    assert known == at_once


@pytest.mark.parametrize("signal", [said(memory="gone"), said(revision=6)])
def test_what_is_about_a_memory_that_is_gone_or_says_something_else_is_an_orphan(signal: Signal) -> None:
    changes = fold(signal)

    assert changes == Changes(results=[ORPHAN])


@pytest.mark.parametrize(
    ("served", "result"), [({}, ORPHAN), ({(1, "e"): False}, COUNTED), ({(1, "e"): True}, REPEATED)]
)
def test_usage_counts_where_a_recall_was_acknowledged_and_once(
    served: dict[tuple[int, str], bool], result: Folded
) -> None:
    assert fold(said(kind=SignalKind.USAGE), about=facts(served=served)).results == [result]


@pytest.mark.parametrize("polarity", [-1, 0, 1])
def test_what_was_rolled_up_can_be_neither_repeated_nor_revised(polarity: int) -> None:
    changes = fold(said(polarity), about=facts(sealed={OUTCOME: 1}))

    assert changes == Changes(results=[REPEATED])


@pytest.mark.parametrize(("vote", "superseded"), [(1, 1), (-1, 1), (0, 0)])
def test_a_vote_that_was_rolled_up_supersedes_an_outcome_unless_it_was_withdrawn(vote: int, superseded: int) -> None:
    changes = fold(said(), about=facts(sealed={VOTE: vote}))

    assert changes.evidence[OUTCOME].superseded == superseded


def test_what_counts_for_a_memory_that_was_merged_is_told_of_it_and_noted() -> None:
    merged = fold(said(), said(), about=facts(memories={"m": Known(1, 7, merged=True)}))

    assert (merged.told, merged.merged) == ([1], [1])


# -- news ------------------------------------------------------------------------------------------------------------


def test_only_what_would_change_what_counts_is_news() -> None:
    known = facts()
    fold(said(), about=known)

    assert not known.is_news(said())
    assert not known.is_news(said(strength=0.5))
    assert known.is_news(said(-1))
    assert known.is_news(said(ref="other"))
    assert known.is_news(voted())


def test_what_is_about_nothing_or_comes_too_late_is_no_news() -> None:
    assert not facts().is_news(said(memory="gone"))
    assert not facts(closed={"e"}).is_news(said())
    assert not facts(sealed={OUTCOME: 1}).is_news(said(-1))
    assert facts(closed={"e"}, sealed={OUTCOME: 1}).is_news(replace(said(), ref="other"))

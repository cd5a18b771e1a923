"""Which memories go out of service, and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.signals import SignalKind, Tally
from reasoningbank.upkeep.pruning import Kept, evidence_against, proposals

NOW = datetime(2026, 9, 1, tzinfo=UTC)
OLD, RECENT = NOW - timedelta(days=400), NOW - timedelta(days=10)

FINE = Kept("fine", 0.8, against=0.0, blamed=None, judged=True, used=RECENT, changed=OLD)
REFUTED = Kept("refuted", 0.2, against=3.0, blamed=RECENT, judged=True, used=RECENT, changed=OLD)
IDLE = Kept("idle", 0.45, against=1.0, blamed=OLD, judged=True, used=NOW - timedelta(days=180), changed=OLD)


def pruned(*memories: Kept, most: int | None = None) -> list[str]:
    return [change.memories[0] for change in proposals(memories, NOW, most=most)]


def test_what_has_enough_evidence_against_it_goes() -> None:
    assert pruned(FINE, REFUTED) == ["refuted"]


@pytest.mark.parametrize("changes", [{"confidence": 0.3}, {"against": 2.9}, {"blamed": None}, {"changed": RECENT}])
def test_doubt_alone_blame_alone_or_blame_before_a_change_is_not_enough(changes: dict[str, object]) -> None:
    assert pruned(replace(REFUTED, **changes)) == []  # type: ignore[arg-type]


def test_what_was_unused_for_180_days_and_is_doubted_goes() -> None:
    (change,) = proposals([FINE, IDLE], NOW)

    assert change.kind == "archive"
    assert change.reason == "not used for 180 days, and doubted: confidence 0.45"


@pytest.mark.parametrize(
    "changes",
    [{"confidence": 0.5}, {"used": NOW - timedelta(days=179)}, {"changed": RECENT}, {"used": None, "changed": RECENT}],
)
def test_idleness_alone_or_doubt_alone_is_not_enough(changes: dict[str, object]) -> None:
    assert pruned(replace(IDLE, **changes)) == []  # type: ignore[arg-type]


def test_what_was_never_used_counts_from_when_it_was_recorded() -> None:
    assert pruned(replace(IDLE, used=None, judged=False)) == ["idle"]


def test_room_is_made_by_belief_then_by_use_and_the_untried_go_last() -> None:
    doubted = replace(FINE, id="doubted", confidence=0.6)
    unused = replace(FINE, id="unused", used=None)
    new = replace(FINE, id="new", confidence=0.55, judged=False, used=None, changed=RECENT)
    memories = (FINE, new, unused, doubted)

    assert pruned(*memories, most=4) == []
    assert pruned(*memories, most=3) == ["doubted"]
    assert pruned(*memories, most=2) == ["doubted", "unused"]
    assert pruned(*memories, most=1) == ["doubted", "unused", "fine"]
    assert pruned(*memories, REFUTED, most=4) == ["refuted"]


def test_only_evidence_against_is_counted_and_usage_judges_nothing() -> None:
    def tally(kind: SignalKind, positive: float, negative: float, last: datetime) -> Tally:
        return Tally(kind, 0, "", "", positive, negative, last)

    used = tally(SignalKind.USAGE, 9.0, 0.0, NOW)
    voted = tally(SignalKind.EXPLICIT, 1.0, 2.0, OLD)
    failed = tally(SignalKind.OUTCOME, 0.0, 0.5, RECENT)

    assert evidence_against([used]) == (0.0, None, False)
    assert evidence_against([used, voted, failed]) == (2.5, RECENT, True)


@given(st.integers(1, 12), st.integers(1, 12))
def test_never_more_stay_than_there_is_room_for(many: int, most: int) -> None:
    memories = [replace(FINE, id=str(i), confidence=0.5 + i / 100) for i in range(many)]

    assert len(pruned(*memories, most=most)) == max(0, many - most)

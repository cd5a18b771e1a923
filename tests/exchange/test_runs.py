"""A run as a line of an export."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from reasoningbank import InvalidInputError, Step, Verdict
from reasoningbank.exchange.runs import ExportedRun, HandedOver, is_run, read_run, run_record

OPENED = datetime(2026, 3, 14, 12, tzinfo=UTC)


def test_a_run_is_read_as_it_was_written() -> None:
    run = ExportedRun(
        ref="r1",
        task="count",
        opened_at=OPENED,
        closed_at=OPENED,
        verdict=Verdict.SUCCESS,
        memories=(HandedOver(memory="m", position=0, confidence=0.8, deviation=0.1, unchanged=False),),
        lessons=("m2",),
        steps=(Step(action="wc", observation="42"),),
        result="42",
        left_out=3,
        kept_at=OPENED,
    )
    line = json.loads(json.dumps(run_record(run)))

    assert is_run(line)
    assert read_run(line["run"]) == run


def test_times_without_a_zone_are_utc() -> None:
    assert read_run({"ref": "r", "opened_at": "2026-03-14T12:00:00"}).opened_at == OPENED


@pytest.mark.parametrize(
    "line", [{"format": "reasoningbank/1", "content": "x"}, {"run": {"ref": "r"}}, {"content": "x"}]
)
def test_other_lines_hold_no_run(line: dict[str, Any]) -> None:
    assert not is_run(line)


@pytest.mark.parametrize(
    "given",
    [
        "text",
        {"ref": "r"},
        {"ref": "", "opened_at": "2026-03-14"},
        {"ref": "r", "opened_at": "yesterday"},
        {"ref": "r", "opened_at": "2026-03-14T12:00:00Z", "verdict": "unsuccessful"},
        {"ref": "r", "opened_at": "2026-03-14T12:00:00Z", "memories": [{"memory": "m"}]},
        {"ref": "r", "opened_at": "2026-03-14T12:00:00Z", "unheard": 1},
    ],
)
def test_what_is_no_run_says_why(given: Any) -> None:
    with pytest.raises(InvalidInputError):
        read_run(given)

"""A bank with the `ema` model, for people who come from systems that count so."""

from __future__ import annotations

import pytest

from tests.conftest import Clock, OpenBank


@pytest.mark.parametrize(
    ("start", "verdicts", "expected"),
    [
        pytest.param(0.5, "SSFSS", (0.6, 0.68, 0.578, 0.6624, 0.72992), id="152"),
        pytest.param(0.5, "SSSSS", (0.6, 0.68, 0.744, 0.7952, 0.83616), id="153"),
        pytest.param(0.8, "FFFF", (0.68, 0.578, 0.4913, 0.417605), id="154"),
    ],
)
@pytest.mark.parametrize("say", ["vote", "run"])
def test_a_fifth_of_what_is_missing_comes_with_praise_and_fifteen_percent_goes_with_blame(
    open_bank: OpenBank, clock: Clock, start: float, verdicts: str, expected: tuple[float, ...], say: str
) -> None:
    bank = open_bank(settings={"confidence_model": "ema"})
    memory = bank.record("Quote paths", "Put paths in quotes", outcome="success", confidence=start).memory
    found = []
    for day, verdict in enumerate(verdicts):
        clock.move(days=1)
        if say == "vote":
            bank.vote(memory.id, verdict == "S", ref=f"r{day}")
        else:
            bank.vote(memory.id, verdict == "S", ref=f"s{day}", kind="outcome")
        found.append(bank.get(memory.id).confidence)

    assert found == pytest.approx(expected, abs=1e-6)
    bank.upkeep.rebuild()
    assert bank.get(memory.id).confidence == pytest.approx(expected[-1], abs=1e-6)
    assert bank.upkeep.status().confidence_model == "ema"

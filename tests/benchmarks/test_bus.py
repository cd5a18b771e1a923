"""The benchmark of the bus measures what it says; how fast a machine is, is no matter of tests."""

from __future__ import annotations

from benchmarks.bus import frame_ratio, lesson, sign_ratio, wire_and_catch_up
from benchmarks.bus_spread import spread


def test_a_change_reaches_everybody_with_a_few_messages_each() -> None:
    few, more = spread(10), spread(60)

    assert 1 < few <= 12
    assert more < few + 12


def test_ratios_are_of_two_things_that_took_time() -> None:
    assert frame_ratio(5) > 0.2
    assert sign_ratio(3) > 0.2


def test_lessons_go_over_the_wire_whole_and_are_caught_up_with() -> None:
    wire, catch_up = wire_and_catch_up(20, 20)

    assert 0.1 < wire < 1.5
    assert catch_up > 0
    assert lesson(1) != lesson(2)

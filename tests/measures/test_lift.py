"""What lessons do, from runs that had a chance of going without."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.measures.lift import (
    ENOUGH,
    Candidate,
    Trial,
    by_memory,
    by_tag,
    harmful,
    known_before,
    lift,
    overall,
)
from reasoningbank.measures.lift_results import Arm, Interval, Lift
from reasoningbank.measures.lift_words import in_words, report_in_words

START = datetime(2026, 3, 1, tzinfo=UTC)


def lesson(number: int, chance: float, *, tags: tuple[str, ...] = (), given: bool = True) -> Candidate:
    return Candidate(number, given, chance, f"m{number}", f"Lesson {number}", tags)


def trial(
    number: int,
    *candidates: Candidate,
    succeeded: bool | None = True,
    of: Literal["run", "memory"] = "run",
    task: str = "task",
    unit: str = "",
    tokens: int | None = None,
    drawn: bool = True,
) -> Trial:
    held = any(not candidate.given for candidate in candidates)
    at, unit = START + timedelta(hours=number), unit or f"r{number}"
    return Trial(at, unit, task, of, held, drawn, 0.5, succeeded, candidates, tokens)


def runs(many: int, helps: Callable[[bool], float], *, seed: int = 1, rate: float = 0.3) -> list[Trial]:
    """Runs with one lesson, held out at a rate; they succeed with a chance that depends on whether it was given."""
    chance, found = random.Random(seed), []
    for number in range(many):
        given_ = chance.random() >= rate
        succeeded = chance.random() < helps(given_)
        found.append(trial(number, lesson(1, rate, given=given_, tags=("shell",)), succeeded=succeeded))
    return found


def singles(many: int, costs: dict[int, float], *, seed: int = 1) -> list[Trial]:
    """Runs with these lessons, of which one is withheld from every other run; each adds so much to 0.5."""
    chance, found = random.Random(seed), []
    for number in range(many):
        out = chance.choice(list(costs)) if chance.random() < 0.5 else None
        succeeded = chance.random() < 0.5 + sum(cost for n, cost in costs.items() if n != out)
        candidates = [lesson(n, 0.5 / len(costs), given=n != out) for n in costs]
        found.append(trial(number, *candidates, succeeded=succeeded, of="memory"))
    return found


def test_nothing_drawn_is_nothing_said() -> None:
    assert overall([]) is None
    assert (by_tag([]), by_memory([]), harmful([])) == ((), (), ())


def test_runs_count_in_the_arm_they_were_assigned_to_and_those_without_a_verdict_are_counted() -> None:
    drawn = [trial(n, lesson(1, 0.5, given=n % 2 == 0), succeeded=[True, False, None][n % 3]) for n in range(60)]
    found = overall(drawn)

    assert found is not None
    assert found.given == Arm(runs=30, judged=20, succeeded=10)
    assert found.withheld.missing == 10
    assert found.difference == pytest.approx(0.0, abs=0.05)


def test_there_is_no_estimate_from_one_run_and_no_verdict_below_twenty() -> None:
    drawn = [trial(n, lesson(1, 0.1, given=n > 0)) for n in range(40)]
    one, few = overall(drawn[:39]), overall([*drawn, *[trial(50 + n, lesson(1, 0.1, given=False)) for n in range(9)]])

    assert one is not None
    assert (one.interval, one.difference, one.smallest) == (None, None, None)
    assert "too early to tell. 1 runs without and 38 with are judged" in one.words
    assert few is not None
    assert few.interval is not None
    assert not few.enough
    assert "too early" in few.words


def test_nobody_judged_is_too_early_as_well() -> None:
    found = overall([trial(0, lesson(1, 0.1), succeeded=None)])

    assert found is not None
    assert (found.enough, found.given) == (False, Arm(1, 0, 0))
    assert found.needed > 0
    assert found.words.endswith("Nobody said how 100 % of those with and 0 % of those without ended.")


def test_the_needed_runs_reach_twenty_in_the_smaller_arm() -> None:
    found = overall(runs(40, lambda given_: 1.0 if given_ else 0.0, rate=0.1))

    assert found is not None
    assert found.needed >= 40 * (ENOUGH / found.withheld.judged - 1) - 1


def test_one_thread_is_one_run_for_what_is_enough() -> None:
    drawn = [trial(n, lesson(1, 0.5, given=n % 2 == 0), unit=f"t{n % 4}") for n in range(200)]
    found = overall(drawn)

    assert found is not None
    assert not found.enough


def test_by_tag_only_runs_count_that_had_such_a_lesson() -> None:
    drawn = runs(200, lambda given_: 0.9 if given_ else 0.2)
    other = [trial(300 + n, lesson(2, 0.5, given=n % 2 == 0, tags=("sql",))) for n in range(100)]
    shell, sql = by_tag([*drawn, *other])

    assert (shell.about, shell.given.runs + shell.withheld.runs) == ("shell", 200)
    assert shell.words.startswith("Lessons tagged shell: they help")
    assert sql.about == "sql"
    assert sql.difference == pytest.approx(0.0)


def test_by_memory_runs_that_lack_it_stand_beside_runs_that_lack_nothing() -> None:
    one, other = by_memory(singles(900, {1: 0.3, 2: 0.0}))

    assert (one.of, one.about, one.title) == ("memory", "m1", "Lesson 1")
    assert one.given.runs + one.withheld.runs < 900
    assert one.interval is not None
    assert 0.3 in one.interval
    assert one.words.startswith("“Lesson 1”: it helps, by ")
    assert other.interval is not None
    assert 0.0 in other.interval


def test_a_lesson_of_runs_that_were_held_out_whole_is_told_by_these() -> None:
    (found,) = by_memory(runs(300, lambda given_: 0.9 if given_ else 0.3))

    assert (found.of, found.about) == ("run", "m1")


def test_lessons_that_are_gone_or_say_something_else_are_not_told() -> None:
    gone = [replace(t, candidates=(replace(t.candidates[0], memory=""),)) for t in runs(60, lambda _: 0.5)]
    other = [replace(t, candidates=(replace(t.candidates[0], unchanged=False),)) for t in runs(60, lambda _: 0.5)]

    assert by_memory([*gone, *other]) == ()


def test_what_follows_the_first_draw_of_a_thread_says_nothing_of_single_lessons() -> None:
    follows = [replace(t, drawn=False) for t in singles(80, {1: 0.2})]

    assert overall(follows) is None


def test_runs_of_whole_hold_outs_come_first_and_single_lessons_stand_in_for_them() -> None:
    whole, single = runs(80, lambda _: 0.5), singles(80, {1: 0.1})
    both, alone = overall([*whole, *single]), overall(single)

    assert both is not None
    assert (both.of, both.given.runs + both.withheld.runs) == ("run", 80)
    assert alone is not None
    assert alone.of == "memory"
    assert alone.words.startswith("A single lesson: ")


def test_tokens_are_compared_where_they_are_known() -> None:
    drawn = [trial(n, lesson(1, 0.5, given=n % 2 == 0), tokens=100 if n % 2 == 0 else 0) for n in range(40)]
    found = overall(drawn)

    assert found is not None
    assert found.tokens is not None
    assert (found.tokens.given, found.tokens.withheld, found.tokens.difference) == pytest.approx((100.0, 0.0, 100.0))
    assert found.steps is None


def test_what_was_known_before_looks_at_nothing_that_came_later() -> None:
    drawn = runs(50, lambda _: 0.5)
    turned = [*drawn[:30], *(replace(t, succeeded=not t.succeeded) for t in drawn[30:])]

    assert known_before(drawn)[:31] == known_before(turned)[:31]
    assert known_before(drawn)[31:] != known_before(turned)[31:]


@given(st.lists(st.sampled_from([True, False, None]), max_size=30))
def test_what_was_known_before_is_made_of_shares(ends: list[bool | None]) -> None:
    known = known_before([trial(n, lesson(1, 0.5), succeeded=end) for n, end in enumerate(ends)])

    assert all(0.0 <= share <= 1.0 for row in known for share in row)
    assert all(len(row) == 3 for row in known)


# -- harm -------------------------------------------------------------------------------------------------------------


def test_a_lesson_that_surely_harms_is_found_and_others_are_not() -> None:
    assert harmful(singles(600, {1: -0.4, 2: 0.2, 3: 0.0})) == ((1, 0),)


def test_few_runs_or_other_words_find_no_harm() -> None:
    drawn = singles(600, {1: -0.4})
    changed = [replace(t, candidates=tuple(replace(c, unchanged=False) for c in t.candidates)) for t in drawn]

    assert harmful(drawn[:12]) == ()
    assert harmful(changed) == ()
    assert harmful([replace(t, succeeded=None) for t in drawn]) == ()


def test_a_run_that_lacks_several_lessons_tells_of_none() -> None:
    pairs = [
        trial(n, lesson(1, 0.5, given=n % 2 == 0), lesson(2, 0.5, given=n % 2 == 0), succeeded=n % 2 == 1)
        for n in range(200)
    ]

    assert harmful(pairs) == ()
    assert harmful([replace(t, candidates=t.candidates[:1]) for t in pairs]) == ((1, 0),)


def test_a_lesson_that_does_nothing_is_hardly_ever_taken_for_harmful_however_often_one_looks() -> None:
    alarms = 0
    for seed in range(60):
        drawn = singles(300, {1: 0.0}, seed=seed)
        alarms += any(harmful(drawn[:n]) for n in range(50, 301, 50))

    assert alarms <= 6


# -- words ------------------------------------------------------------------------------------------------------------

BOTH = Arm(100, 90, 60)
SEEN = Lift(
    of="run", about="", title="", given=BOTH, withheld=BOTH, enough=True, success_given=0.8, success_withheld=0.6,
    difference=0.2, interval=Interval(0.1, 0.3), always_valid=Interval(0.05, 0.35), smallest=0.14, needed=12,
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, "Lessons: they help, by 20 points. 80 % of the runs with succeed, 60 % without; the difference lies"),
        ({"always_valid": Interval(-0.01, 0.4)}, "they seem to help, by 20 points; wait until"),
        (
            {"difference": -0.2, "interval": Interval(-0.3, -0.1), "always_valid": Interval(-0.4, 0.1)},
            "they seem to harm",
        ),
        (
            {"difference": -0.2, "interval": Interval(-0.3, -0.1), "always_valid": Interval(-0.4, -0.1)},
            "they harm, by 20 points",
        ),
        (
            {"interval": Interval(-0.1, 0.3), "always_valid": Interval(-0.4, 0.4)},
            "no difference is seen. 80 % of the runs with succeed, 60 % without; the difference lies between -10 and "
            "+30 points (95 %), or -40 and +40 for whoever looks every day. Less than 14 points could hide in so few "
            "runs. About 12 more runs would show 10 points.",
        ),
        (
            {"interval": Interval(-0.1, 0.3), "always_valid": Interval(-0.4, 0.4), "needed": 0},
            "Less than 14 points could hide in so few runs. Nobody said how 10 % of those with and 10 % of those "
            "without ended.",
        ),
        ({"title": "Quote paths", "always_valid": Interval(-0.1, 0.4)}, "“Quote paths”: it seems to help"),
        ({"enough": False, "needed": 0}, "too early to tell. 90 runs without and 90 with are judged; it takes 20."),
        ({"given": Arm(0, 0, 0), "withheld": Arm(5, 5, 2), "enough": False}, "5 runs without and 0 with are judged"),
        ({"withheld": Arm(100, 40, 20)}, "that differs, so that the figures may mislead"),
    ],
)
def test_words_say_what_the_figures_say(change: dict[str, object], says: str) -> None:
    assert says in in_words(replace(SEEN, **change), 20, 0.1)  # type: ignore[arg-type]


def test_a_report_names_what_surely_harms() -> None:
    lifted = lift(drawn := runs(60, lambda _: 0.5), known_before(drawn))

    assert "recall with holdout=0.1" in report_in_words(None, [])
    assert lifted is not None
    assert report_in_words(lifted, []) == lifted.words
    assert report_in_words(lifted, ["A", "B"]).endswith("since runs surely end worse with it: “A”, “B”.")

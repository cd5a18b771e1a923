"""What a measured lift means, in words for those who have to decide."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reasoningbank.measures.lift_results import Arm, Interval, Lift


def in_words(lift: Lift, enough: int, worth: float) -> str:
    """Return a lift in plain words; a verdict only where there is enough.

    Args:
        enough: how many independent runs an arm must have.
        worth: the difference that one waits to see, in [0, 1].
    """
    who = _who(lift)
    more = f"About {lift.needed:,} more runs would show {_points(worth)} points."
    if not lift.enough or lift.difference is None or lift.interval is None or lift.always_valid is None:
        waiting = f"it takes {enough} independent ones on each side. {more}" if lift.needed else f"it takes {enough}."
        return (
            f"{who}: too early to tell. {lift.withheld.judged} runs without and {lift.given.judged} with are judged; "
            f"{waiting}{_missing(lift)}"
        )
    one = bool(lift.title) or not (lift.about or lift.of == "run")
    shares = f"{_share(lift.success_given)} of the runs with succeed, {_share(lift.success_withheld)} without"
    between = f"the difference lies between {_between(lift.interval)} points (95 %)"
    figures = f"{shares}; {between}, or {_between(lift.always_valid)} for whoever looks every day."
    return (
        f"{who}: {_verdict(lift.difference, lift.interval, lift.always_valid, one)} {figures}{_doubt(lift, more)}"
        + (_missing(lift))
    )


def report_in_words(overall: Lift | None, harmful: Sequence[str]) -> str:
    """Return what is known of all lessons in plain words, and the titles of those that surely harm."""
    if overall is None:
        return "Nothing was withheld yet, so that nothing can be compared: recall with holdout=0.1, or set it."
    if not harmful:
        return overall.words
    named = ", ".join(f"“{title}”" for title in harmful)
    return f"{overall.words} Not handed out any more, since runs surely end worse with it: {named}."


def _who(lift: Lift) -> str:
    if lift.title:
        return f"“{lift.title}”"
    if lift.about:
        return f"Lessons tagged {lift.about}"
    return "Lessons" if lift.of == "run" else "A single lesson"


def _verdict(difference: float, interval: Interval, always: Interval, one: bool) -> str:
    size, side = _points(abs(difference)), "help" if difference > 0 else "harm"
    if 0.0 not in always:
        return f"it {side}s, by {size} points." if one else f"they {side}, by {size} points."
    if 0.0 not in interval:
        seems = "it seems" if one else "they seem"
        return f"{seems} to {side}, by {size} points; wait until the wider range leaves out zero."
    return "no difference is seen."


def _doubt(lift: Lift, more: str) -> str:
    if lift.always_valid is None or lift.smallest is None or 0.0 not in lift.always_valid:
        return ""
    unseen = f" Less than {_points(lift.smallest)} points could hide in so few runs."
    return f"{unseen} {more}" if lift.needed else unseen


def _missing(lift: Lift) -> str:
    """Warn where runs of one arm are judged less often: then the others need not be like them."""
    arms = lift.given, lift.withheld
    rates = [arm.missing / arm.runs if arm.runs else 0.0 for arm in arms]
    error = math.sqrt(sum(_spread(arm, rate) for arm, rate in zip(arms, rates, strict=True)))
    said = f" Nobody said how {_share(rates[0])} of those with and {_share(rates[1])} of those without ended"
    if error and abs(rates[0] - rates[1]) > 2.0 * error:
        return f"{said}: that differs, so that the figures may mislead. Judge both alike."
    return f"{said}." if any(rates) else ""


def _spread(arm: Arm, rate: float) -> float:
    return rate * (1.0 - rate) / arm.runs if arm.runs else 0.0


def _share(share: float | None) -> str:
    return f"{100.0 * min(max(share or 0.0, 0.0), 1.0):.0f} %"


def _points(share: float) -> str:
    return f"{100.0 * share:.0f}"


def _between(interval: Interval) -> str:
    return f"{100.0 * interval.low:+.0f} and {100.0 * interval.high:+.0f}"

"""What a story comes to: the figures of one method in one world, and their mean and interval over worlds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.learning.world import Scenario, Story, Use
from reasoningbank.measures.reliability import Prediction, auc, brier, calibration_error, helped_above

Figures = dict[str, float | None]

HIGH = 0.8
# Fewer predictions than this above 0.8 say nothing about how many of them help.
FEWEST_HIGH = 20


def predicted(predictions: Sequence[Prediction], high: str) -> Figures:
    """Return how good predictions were; `high` is what those above 0.8 are called."""
    above, many = helped_above(predictions, HIGH)
    return {
        "ece": calibration_error(predictions),
        "brier": brier(predictions),
        "auc": auc(predictions),
        f"p_{high}above_0.8": above if many >= FEWEST_HIGH else None,
        "share_above_0.8": many / len(predictions) if predictions else None,
    }


def figures(story: Story, scenario: Scenario) -> Figures:
    """Return the figures of the second half of a story.

    `success` is the mean chance of success of the runs, given what was handed out: the share of them that would
    succeed, without the noise of one draw each. `helpful` and `served` leave out what was handed out on trial, as the
    method says itself; with `_all` they do not.
    """
    half = scenario.tasks // 2
    uses = [use for use in story.uses if use.task >= half]
    told = [Prediction(use.confidence, use.helped) for use in uses if use.on_topic]
    settled = [use for use in uses if not use.trial]
    reached = {use.memory for use in story.uses if use.on_topic}
    return (
        {"success": sum(story.chance[half:]) / (scenario.tasks - half)}
        | predicted(told, "helpful_")
        | {
            "helpful": _share(settled),
            "served": len({use.task for use in settled}) / (scenario.tasks - half),
            "helpful_all": _share(uses),
            "served_all": len({use.task for use in uses}) / (scenario.tasks - half),
            "handed_out_per_task": len(uses) / (scenario.tasks - half),
            "never_used": 1.0 - len(reached) / scenario.memories,
            "weights_range": _weights_range(story),
            "weights_error": _weights_error(story),
        }
    )


def _share(uses: Sequence[Use]) -> float | None:
    return sum(use.helped for use in uses) / len(uses) if uses else None


def _weights_range(story: Story) -> float | None:
    """Return by how much the weight that moved most did move over the last 7 of 60 days."""
    last = [weights for _, weights in story.weights[-8:]]
    return max((max(w[name] for w in last) - min(w[name] for w in last) for name in last[0]), default=None)


def _weights_error(story: Story) -> float | None:
    """Return how far the learned reliability of votes and of helped runs is from the true one, at most.

    What runs without help come to is left out: with memories handed out it is another than without any.
    """
    final = story.weights[-1][1]
    if "accuracy" not in final:
        return None
    return max(abs(final["accuracy"] - story.right_votes), abs(final["helped"] - 0.85))


def over_worlds(rows: Sequence[Figures]) -> dict[str, float | dict[str, list[float]] | None]:
    """Return the mean of each figure, and under "interval" its 95 % interval (mean +- 1.96 standard errors)."""
    means: dict[str, float | dict[str, list[float]] | None] = {}
    intervals: dict[str, list[float]] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        known = [value for value in values if value is not None]
        mean = math.fsum(known) / len(known) if known else None
        means[name] = None if mean is None else round(mean, 4)
        if mean is not None and len(known) > 1:
            error = math.sqrt(math.fsum((v - mean) ** 2 for v in known) / (len(known) - 1) / len(known))
            intervals[name] = [round(mean - 1.96 * error, 4), round(mean + 1.96 * error, 4)]
    return means | {"interval": intervals}


def table(title: str, columns: Iterable[str], rows: Mapping[str, Mapping[str, object]]) -> str:
    """Return a table for people: a line a method, a column a figure."""
    names = list(columns)
    width = max([len(name) for name in rows] + [len(title)])
    lines = [title.ljust(width) + "  " + "  ".join(names)]
    for method, found in rows.items():
        cells = [_cell(found.get(name)).rjust(len(name)) for name in names]
        lines.append(method.ljust(width) + "  " + "  ".join(cells))
    return "\n".join(lines)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else "-"

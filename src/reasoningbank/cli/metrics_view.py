"""How metrics look in a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reasoningbank.cli.views import sentence
from reasoningbank.upkeep import Bin, Calibration, Measure, Metrics

BAR = 30


def metrics(console: Console, found: Metrics) -> None:
    """Print how well a bank does: criteria, how true its confidences were, rates, yields, weights over time."""
    sentence(console, f"{found.since:%Y-%m-%d} to {found.until:%Y-%m-%d}, {found.confidence_model} model", "dim")
    for measure in found.criteria:
        console.print(_criterion(measure))
    _diagram(console, "Confidences against votes", found.votes)
    _diagram(console, "Predicted success against how runs ended", found.runs)
    _numbers(console, "Hit rates", found.hit_rates)
    _numbers(console, "Yields", found.yields)
    if found.weights:
        last = found.weights[-1]
        _numbers(console, f"Weights since {last.at:%Y-%m-%d %H:%M} (change {len(found.weights)})", last.weights)


def _criterion(measure: Measure) -> Text:
    mark, style = {None: ("?", "dim"), True: ("✓", "green"), False: ("✗", "red")}[measure.met]
    value = "–" if measure.value is None else f"{measure.value:.3g}"
    few = "" if measure.enough else f", too few: needs {measure.needed}"
    return Text.assemble(
        (f"{mark} {measure.name} ", style),
        f"{value} (goal {measure.goal}; {measure.sample:,} seen{few})  ",
        (measure.what, "dim"),
    )


def _diagram(console: Console, title: str, found: Calibration) -> None:
    if not found.count:
        sentence(console, f"{title}: nothing to compare yet.", "dim")
        return
    sentence(console, f"{title}: {found.count:,}, ECE {found.ece:.3f}, Brier {found.brier:.3f}")
    for bar in found.bins:
        if bar.count:
            console.print(_bar(bar))


def _bar(bar: Bin) -> Text:
    helped = bar.helped or 0.0
    filled = round(helped * BAR)
    told = f"  {bar.low:.1f}–{bar.high:.1f}  said {bar.confidence:.2f}, was {helped:.2f} "
    return Text.assemble(told, ("█" * filled, "cyan"), ("░" * (BAR - filled), "dim"), f" {bar.count:,}")


def _numbers(console: Console, title: str, numbers: Mapping[str, float | None]) -> None:
    table = Table.grid(padding=(0, 2))
    for name, value in numbers.items():
        table.add_row(f"  {name.replace('_', ' ')}", "–" if value is None else f"{value:,.3g}")
    sentence(console, f"{title}:")
    console.print(table)

"""Where things stand in the diagrams of calibration, and how nodes of a graph are laid out. Pure."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from reasoningbank.dashboard.charts import Frame, Tick, levels, times
from reasoningbank.upkeep import Calibration, Weighing

SQUARE: Final = 360


@dataclass(frozen=True, slots=True)
class Dot:
    """A bar of a reliability diagram: what was promised, how often it came true, and between which shares that lies."""

    x: float
    y: float
    low: float
    high: float
    radius: float
    label: str


@dataclass(frozen=True, slots=True)
class Reliability:
    """A reliability diagram."""

    frame: Frame
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    levels: tuple[Tick, ...]


def reliability(found: Calibration) -> Reliability | None:
    """Return the diagram of how true predictions were; None where there are none."""
    if not found.count:
        return None
    frame = Frame(0.0, 1.0, height=SQUARE, width=SQUARE)
    dots = []
    for each in found.bins:
        if each.helped is None or each.interval is None:
            continue
        low, high = each.interval
        label = (
            f"promised {each.confidence:.2f}, came true {each.helped:.2f} ({low:.2f} to {high:.2f}), of {each.count}"
        )
        # The area tells the count.
        radius = round(3.0 + 9.0 * math.sqrt(each.count / found.count), 1)
        dots.append(Dot(frame.x(each.confidence), frame.y(each.helped), frame.y(low), frame.y(high), radius, label))
    ticks = tuple(Tick(frame.x(level), f"{level:.2g}") for level in (0.0, 0.25, 0.5, 0.75, 1.0))
    return Reliability(frame, tuple(dots), ticks, levels(frame))


@dataclass(frozen=True, slots=True)
class Line:
    """A named line of a diagram, with its last value; `number` from 0 tells how it is dashed."""

    name: str
    points: str
    number: int
    last: float
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Figures over time."""

    frame: Frame
    lines: tuple[Line, ...]
    times: tuple[Tick, ...]
    levels: tuple[Tick, ...]


def lines(rows: Sequence[tuple[datetime, Mapping[str, float | None]]]) -> Lines | None:
    """Return the diagram of named figures in [0, 1], the oldest first; None where fewer than two moments are known."""
    known = [(at, figures) for at, figures in rows if any(value is not None for value in figures.values())]
    if len(known) < 2:
        return None
    frame = Frame(known[0][0].timestamp(), known[-1][0].timestamp())
    drawn = []
    for number, name in enumerate(known[0][1]):
        pairs = [(at.timestamp(), value) for at, figures in known if (value := figures.get(name)) is not None]
        if pairs:
            dots = tuple((frame.x(x), frame.y(y)) for x, y in pairs) if len(pairs) <= 40 else ()
            drawn.append(Line(name, frame.points(pairs), number, pairs[-1][1], dots))
    start, end = known[0][0], known[-1][0]
    return Lines(frame, tuple(drawn), tuple(times(frame, start, end - start)), levels(frame))


def weights(history: Sequence[Weighing], most: int = 200) -> Lines | None:
    """Return the diagram of how far each kind of evidence was trusted; of long histories every so many."""
    step = max(1, -(-len(history) // most))
    return lines([(each.at, each.weights) for each in [*history[:-1:step], *history[-1:]]])


# -- graphs --------------------------------------------------------------------------------------------------------


def layout(ids: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Return where each node stands, with a distance of about 1 between neighbours; always the same for the same graph.

    What is connected stands in rings around its best connected node; the groups, the largest first, stand in rows.
    It takes a time in proportion to nodes and edges, and is what the page's script begins with.
    """
    near: dict[str, list[str]] = defaultdict(list)
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    seen: set[str] = set()
    groups: list[list[list[str]]] = []
    for begin in sorted(ids, key=lambda node: -len(near[node])):
        if begin not in seen:
            groups.append(_rings(begin, near, seen))
    groups.sort(key=lambda rings: -sum(map(len, rings)))
    placed: dict[str, tuple[float, float]] = {}
    width = 2.0 * math.sqrt(max(1, len(ids)))
    x = y = tallest = 0.0
    for rings in groups:
        radius = _radius(rings) + 0.7
        if x and x + 2 * radius > width:
            x, y, tallest = 0.0, y + tallest, 0.0
        _place(rings, x + radius, y + radius, placed)
        x, tallest = x + 2 * radius, max(tallest, 2 * radius)
    return placed


def _rings(begin: str, near: Mapping[str, Sequence[str]], seen: set[str]) -> list[list[str]]:
    rings: list[list[str]] = []
    waiting = deque([(begin, 0)])
    seen.add(begin)
    while waiting:
        node, distance = waiting.popleft()
        if distance == len(rings):
            rings.append([])
        rings[distance].append(node)
        for other in near[node]:
            if other not in seen:
                seen.add(other)
                waiting.append((other, distance + 1))
    return rings


def _radius(rings: Sequence[Sequence[str]]) -> float:
    radius = 0.0
    for ring in rings[1:]:
        radius = max(radius + 1.0, len(ring) / (2.0 * math.pi))
    return radius


def _place(rings: Sequence[Sequence[str]], x: float, y: float, placed: dict[str, tuple[float, float]]) -> None:
    radius = 0.0
    for distance, ring in enumerate(rings):
        if distance:
            radius = max(radius + 1.0, len(ring) / (2.0 * math.pi))
        for at, node in enumerate(ring):
            angle = 2.0 * math.pi * (at / len(ring)) + distance
            placed[node] = round(x + radius * math.cos(angle), 2), round(y + radius * math.sin(angle), 2)

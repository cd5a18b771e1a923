"""Where things stand in a chart, in the units of its drawing. Pure; the templates draw it.

Every drawing is 720 wide, so that its text is readable, and its shapes differ where its colours do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from reasoningbank.signals import Evidence, EvidencePiece, SignalKind
from reasoningbank.upkeep import RunsOfDay

WIDTH: Final = 720
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 12, 28


@dataclass(frozen=True, slots=True)
class Frame:
    """The space of a chart: what is drawn from `first` to `last`, and between `low` and `high`."""

    first: float
    last: float
    low: float = 0.0
    high: float = 1.0
    height: int = 220
    width: int = WIDTH

    def x(self, value: float) -> float:
        """Return where a value stands from the left."""
        span = self.last - self.first
        part = (value - self.first) / span if span > 0 else 0.5
        return round(LEFT + part * (self.width - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        """Return where a value stands from the top."""
        span = self.high - self.low
        part = (value - self.low) / span if span > 0 else 0.5
        return round(self.height - BOTTOM - part * (self.height - TOP - BOTTOM), 1)

    def points(self, pairs: Iterable[tuple[float, float]]) -> str:
        """Return the points of a line."""
        return " ".join(f"{self.x(x)},{self.y(y)}" for x, y in pairs)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis: where, and what it says."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A piece of evidence in its chart: its shape is its kind, filled for and hollow against."""

    x: float
    y: float
    shape: str
    is_for: bool
    label: str


@dataclass(frozen=True, slots=True)
class Trail:
    """The chart of what was believed of a memory over time."""

    frame: Frame
    line: str
    band: str
    floor: float
    marks: tuple[Mark, ...]
    times: tuple[Tick, ...]
    levels: tuple[Tick, ...]


SHAPES: Final = {
    SignalKind.EXPLICIT: "vote",
    SignalKind.OUTCOME: "outcome",
    SignalKind.STABILITY: "stability",
    SignalKind.REPAIR: "repair",
    SignalKind.USAGE: "usage",
}


def trail(found: Evidence, floor: float, began: datetime, now: datetime) -> Trail | None:
    """Return the chart of the evidence about a memory; None where there is none."""
    if not found.pieces:
        return None
    start = found.pieces[0].at if found.earlier else min(began, found.pieces[0].at)
    frame = Frame(start.timestamp(), max(now, found.pieces[-1].at).timestamp())
    steps = [(start.timestamp(), found.confidence, found.low, found.high)]
    for piece in found.pieces:
        at = piece.at.timestamp()
        # A belief holds until the next piece: a line from one to the next would show what nobody believed.
        steps += [(at, *steps[-1][1:]), (at, piece.confidence, piece.low, piece.high)]
    steps.append((frame.last, *steps[-1][1:]))
    upper, lower = [(at, high) for at, _, _, high in steps], [(at, low) for at, _, low, _ in steps]
    return Trail(
        frame,
        frame.points((at, mean) for at, mean, _, _ in steps),
        frame.points([*upper, *reversed(lower)]),
        frame.y(floor),
        tuple(_mark(frame, piece) for piece in found.pieces),
        tuple(times(frame, start, timedelta(seconds=frame.last - frame.first))),
        levels(frame),
    )


def _mark(frame: Frame, piece: EvidencePiece) -> Mark:
    is_usage = piece.kind is SignalKind.USAGE
    is_for = piece.positive >= piece.negative
    side = "used" if is_usage else "for" if is_for else "against"
    who = f", by {piece.by}" if piece.by else ""
    what = f"{piece.at:%Y-%m-%d %H:%M} UTC: {piece.kind} {side}{who}; believed {piece.confidence:.2f} after it"
    y = frame.height - BOTTOM - 4.0 if is_usage else frame.y(piece.confidence)
    return Mark(frame.x(piece.at.timestamp()), y, SHAPES[piece.kind], is_for, what)


def levels(frame: Frame) -> tuple[Tick, ...]:
    """Return the marks of an axis of shares."""
    return tuple(Tick(frame.y(level), f"{level:.2g}") for level in (0.0, 0.25, 0.5, 0.75, 1.0))


def times(frame: Frame, start: datetime, span: timedelta, many: int = 4) -> Sequence[Tick]:
    """Return the marks of an axis of time: days, or times of a day where all is within two."""
    pattern = "%H:%M" if span < timedelta(days=2) else "%d %b" if span < timedelta(days=300) else "%b %Y"
    found: list[Tick] = []
    for step in range(many):
        at = start + span * ((step + 0.5) / many)
        found.append(Tick(frame.x(at.timestamp()), at.strftime(pattern)))
    return found


# -- the overview --------------------------------------------------------------------------------------------------

SPARK_WIDTH, SPARK_HEIGHT = 120, 28


@dataclass(frozen=True, slots=True)
class Spark:
    """A small line of a figure over time; where there was nothing to compute it from, it is broken."""

    lines: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    label: str


def spark(values: Sequence[float | None]) -> Spark | None:
    """Return the line of figures, the oldest first; None where fewer than two are known."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    low, high = min(known), max(known)
    step = (SPARK_WIDTH - 6) / max(1, len(values) - 1)

    def place(at: int, value: float) -> tuple[float, float]:
        part = (value - low) / (high - low) if high > low else 0.5
        return round(3 + at * step, 1), round(SPARK_HEIGHT - 4 - part * (SPARK_HEIGHT - 8), 1)

    runs: list[list[tuple[float, float]]] = [[]]
    for at, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append(place(at, value))
    lines = tuple(" ".join(f"{x},{y}" for x, y in run) for run in runs if len(run) > 1)
    alone = tuple(run[0] for run in runs if len(run) == 1)
    last = next(run[-1] for run in reversed(runs) if run)
    return Spark(lines, (*alone, last), f"from {known[0]:.2f} to {known[-1]:.2f}")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a column: its kind, and where it stands."""

    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """The runs of a day, one above the other by how they ended."""

    x: float
    width: float
    blocks: tuple[Block, ...]
    day: date
    label: str


COLUMNS_HEIGHT: Final = 160


def columns(days: Sequence[RunsOfDay]) -> list[Column]:
    """Return the columns of days, in their order; none where there were no runs."""
    kinds = ("success", "failure", "unknown", "open")
    most = max((sum(getattr(day, kind) for kind in kinds) for day in days), default=0)
    if not most:
        return []
    width = (WIDTH - LEFT - RIGHT) / len(days)
    space = COLUMNS_HEIGHT - TOP - BOTTOM
    found = []
    for at, day in enumerate(days):
        bottom, blocks = float(COLUMNS_HEIGHT - BOTTOM), []
        for kind in kinds:
            if many := getattr(day, kind):
                height = space * many / most
                bottom -= height
                blocks.append(Block(kind, round(bottom, 1), round(height, 1)))
        said = ", ".join(f"{getattr(day, kind)} {kind}" for kind in kinds if getattr(day, kind)) or "no runs"
        label = f"{day.day:%d %b %Y}: {said}"
        found.append(
            Column(round(LEFT + at * width + 1, 1), round(max(1.0, width - 2), 1), tuple(blocks), day.day, label)
        )
    return found

"""The overview: of one project, and of all projects of the tenant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from reasoningbank import ReasoningBank, ReasoningBankError
from reasoningbank.dashboard.addresses import address
from reasoningbank.dashboard.charts import Column, Spark, columns, spark
from reasoningbank.dashboard.site import Answer, Asked, Moved, Page
from reasoningbank.upkeep import Measure, Period, RunsOfDay, Status

WINDOWS: Final = (7, 30, 90, 365)
PARTS: Final = 12


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that wants a person: what it is, and where it is seen to."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A project in one line; `problem` says why there is no more of it."""

    project: str
    standings: dict[str, int]
    runs: int
    success: float | None
    concerns: int
    problem: str = ""


def all_projects(asked: Asked) -> Answer:
    """Show every project of the tenant; go on to the one that the dashboard was opened for."""
    names = asked.site.banks.projects()
    if asked.site.home in names and not asked.query:
        return Moved(address(asked.site.home or ""))
    summaries = [_summary(asked, name) for name in names]
    # What cannot be read has no name but that of its folder.
    unread = [each for each in asked.site.banks.overview() if each.problem and each.project not in names]
    summaries += [Summary(each.project, {}, 0, None, 0, each.problem) for each in unread]
    return Page("projects.html", {"title": "Projects", "summaries": summaries, "root": str(asked.site.banks.root)})


def _summary(asked: Asked, name: str) -> Summary:
    try:
        bank = asked.site.bank(name)
        metrics, standings = bank.upkeep.metrics(30), bank.upkeep.standings()
        known = [day for day in metrics.days if day.success or day.failure]
        won, many = sum(day.success for day in known), sum(day.success + day.failure for day in known)
        concerns = _concerns(name, bank.upkeep.status(), standings)
        return Summary(name, standings, count(metrics.days), won / many if many else None, len(concerns))
    except ReasoningBankError as error:
        # One project that cannot be read must not hide the others.
        return Summary(name, {}, 0, None, 0, str(error))


def one_project(asked: Asked) -> Page:
    """Show how a project does, what is in it, and what wants a person."""
    bank = asked.bank
    days = int(asked.number("days") or 30)
    days = days if days in WINDOWS else 30
    metrics, standings, status = bank.upkeep.metrics(days, PARTS), bank.upkeep.standings(), bank.upkeep.status()
    values = {
        "title": "Overview",
        "metrics": metrics,
        "standings": standings,
        "status": status,
        "criteria": [(measure, _trend(metrics.trend, at)) for at, measure in enumerate(metrics.criteria)],
        "columns": runs_chart(bank, metrics.days, days),
        "runs": count(metrics.days),
        "days": days,
        "windows": WINDOWS,
        "concerns": _concerns(asked.project, status, standings),
    }
    return Page("overview.html", values)


def count(days: Sequence[RunsOfDay]) -> int:
    """Return how many runs there were."""
    return sum(day.success + day.failure + day.unknown + day.open for day in days)


def _trend(periods: Sequence[Period], at: int) -> Spark | None:
    measures: list[Measure] = [period.criteria[at] for period in periods]
    return spark([measure.value for measure in measures])


def runs_chart(bank: ReasoningBank, days: Sequence[RunsOfDay], window: int) -> list[Column]:
    """Return the runs of each day of a window as columns; of each week or month, where the window is long."""
    span = 1 if window <= 30 else 7 if window <= 90 else 30
    today = bank.now().date()
    first = today - timedelta(days=window - 1)
    begins = [first + timedelta(days=n) for n in range(0, window, span)]
    rows = [_sum(begin, [day for day in days if begin <= day.day < begin + timedelta(days=span)]) for begin in begins]
    return columns(rows)


def _sum(begin: date, days: Sequence[RunsOfDay]) -> RunsOfDay:
    totals = {name: sum(getattr(day, name) for day in days) for name in ("success", "failure", "unknown", "open")}
    return RunsOfDay(begin, **totals)


def _concerns(project: str, status: Status, standings: dict[str, int]) -> list[Concern]:
    upkeep = address(project, "upkeep")
    failed = sum(status.jobs.get(kind, 0) for kind in ("failed", "refused", "truncated", "unparseable"))
    found = [
        (standings["quarantined"], "quarantined lesson", address(project, "review", queue="quarantined")),
        (standings["provisional"], "provisional lesson", address(project, "review", queue="provisional")),
        (status.open_episodes, "open run", address(project, "runs", kind="open")),
        (failed, "failed job", upkeep),
    ]
    counted = [Concern(f"{many:,} {what}{'' if many == 1 else 's'}", where) for many, what, where in found if many]
    return counted + [Concern(problem, upkeep) for problem in status.problems]

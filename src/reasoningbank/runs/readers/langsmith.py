"""Run trees of LangSmith: runs with their children inside them, or in a list, or one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.spans import MODEL, OTHER, TOOL, Span, read_spans
from reasoningbank.runs.readers.values import as_time, get, is_list

KINDS = {"llm": MODEL, "tool": TOOL}


def fits(record: Any) -> bool:
    """Tell whether it is a run of LangSmith's, or a list of these."""
    return any(map(_is_run, islice(record, 5))) if is_list(record) else _is_run(record)


def _is_run(run: Any) -> bool:
    return (
        isinstance(run, Mapping) and isinstance(run.get("run_type"), str) and ("inputs" in run or "child_runs" in run)
    )


def read(record: Any) -> Iterator[Found]:
    """Read each trace as one run."""
    yield from read_spans(_spans(record if is_list(record) else [record]))


def _spans(runs: Any) -> Iterator[Span]:
    open_runs = [(run, "", "") for run in reversed(list(runs))]
    while open_runs:
        run, parent, trace = open_runs.pop()
        if not _is_run(run):
            continue
        own = str(get(run, "id", "run_id") or id(run))
        trace = trace or str(get(run, "trace_id") or own)
        error = run.get("error")
        yield Span(
            trace=trace,
            id=own,
            parent=parent or str(get(run, "parent_run_id") or ""),
            kind=KINDS.get(run["run_type"], OTHER),
            name=str(run.get("name") or run["run_type"]),
            given=run.get("inputs"),
            gave=run.get("outputs"),
            wrong=str(error).strip().splitlines()[0] if error else "",
            at=as_time(run.get("start_time")) or as_time(f"{run.get('start_time')}Z"),
            ended=as_time(run.get("end_time")) or as_time(f"{run.get('end_time')}Z"),
            says=[run, *_feedback(run)],
        )
        children = run.get("child_runs")
        open_runs += [(child, own, trace) for child in reversed(list(children if is_list(children) else ()))]


def _feedback(run: Mapping[str, Any]) -> list[Any]:
    """Return what was said of a run, as records in which a verdict may stand: its name and its average."""
    stats = run.get("feedback_stats")
    named = stats.items() if isinstance(stats, Mapping) else ()
    return [{name: get(stat, "avg")} for name, stat in named if isinstance(stat, Mapping)]

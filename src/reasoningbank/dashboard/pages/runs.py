"""Runs: what was recalled for each, how it ended, what happened in it, and what was learned from it."""

from __future__ import annotations

from typing import Final

from reasoningbank import Verdict
from reasoningbank.dashboard.addresses import address
from reasoningbank.dashboard.pages.lesson import BY, titles
from reasoningbank.dashboard.site import Answer, Asked, Moved, Notice, Page, Undo

PER_PAGE: Final = 50
KINDS: Final = {"": "All", "open": "Open", "success": "Success", "failure": "Failure", "unknown": "Unknown"}
VERDICTS: Final = (Verdict.SUCCESS, Verdict.FAILURE, Verdict.UNKNOWN)


def listed(asked: Asked) -> Page:
    """Show a page of runs, the newest first."""
    kind, thread = asked.query.get("kind", ""), asked.query.get("thread") or None
    page = asked.bank.runs.list(
        verdict=kind if kind in VERDICTS else None,
        is_open=True if kind == "open" else None,
        thread=thread,
        after=asked.query.get("after") or None,
        limit=PER_PAGE,
    )
    values = {
        "title": "Runs",
        "page": page,
        "kind": kind,
        "kinds": KINDS,
        "thread": thread or "",
        "is_first": not asked.query.get("after"),
    }
    return Page("runs.html", values)


def shown(asked: Asked) -> Page:
    """Show all that is known of a run."""
    bank, ref = asked.bank, asked.parts["ref"]
    episode = bank.runs.get(ref)
    named = {served.memory for served in episode.memories} | set(episode.withheld)
    values = {
        "title": episode.task,
        "episode": episode,
        "titles": titles(bank, named),
        "trajectory": bank.runs.trajectory(ref),
        "lessons": bank.runs.lessons(ref),
        "verdicts": VERDICTS,
    }
    return Page("run.html", values)


def report(asked: Asked) -> Answer:
    """Say how a run ended."""
    ref, form = asked.parts["ref"], asked.form
    told = asked.bank.report(form.get("verdict", ""), ref=ref, reason=form.get("reason") or None, by=BY)
    here = address(asked.project, "runs", ref)
    if told.too_late:
        return Moved(here, Notice("It is too late to revise this run: its evidence was folded away.", is_problem=True))
    if not told.recorded:
        return Moved(here, Notice("The run had this verdict already; nothing changed."))
    learned = f" Its reason became {len(told.lessons)} lesson(s)." if told.lessons else ""
    text = f"The run is a {told.episode.verdict} now; {len(told.credited)} lessons were credited.{learned}"
    if told.episode.verdict is Verdict.UNKNOWN:
        text = "How the run ended is unknown now; it teaches nothing."
    # An open run cannot be opened again: unknown is what teaches nothing.
    previous = told.previous or Verdict.UNKNOWN
    undo = Undo(here, {"verdict": str(previous)}) if previous is not told.episode.verdict else None
    return Moved(here, Notice(text, undo))

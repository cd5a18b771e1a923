"""Upkeep: jobs, consolidation, pruning, roll-up, backup and repair; what takes long is done beside the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reasoningbank import ReasoningBank
from reasoningbank.dashboard.addresses import address
from reasoningbank.dashboard.pages.lesson import titles
from reasoningbank.dashboard.site import Answer, Asked, Moved, Notice, Page
from reasoningbank.dashboard.tasks import Progress
from reasoningbank.errors import InvalidInputError
from reasoningbank.results import Consolidated, Pruned

Work = Callable[[ReasoningBank, Progress, Mapping[str, str]], Any]
JOBS: Final = 50


@dataclass(frozen=True, slots=True)
class Chore:
    """Something that keeps a bank in order.

    Attributes:
        what: what it does, in a sentence.
        work: does it.
        proposal: the chore that shows beforehand what this one would do; "" where it asks for nothing.
    """

    label: str
    what: str
    work: Work
    proposal: str = ""


def _backup(bank: ReasoningBank, _: Progress, form: Mapping[str, str]) -> str:
    target = form.get("target", "").strip()
    if not target:
        raise InvalidInputError("target is empty: name a folder that is not there yet, on the machine of the dashboard")
    bank.upkeep.backup(target)
    return target


CHORES: Final[Mapping[str, Chore]] = {
    "doctor": Chore(
        "Look for damage",
        "Compares what is derived with what it is derived from. Changes nothing.",
        lambda bank, _, __: bank.upkeep.doctor(dry_run=True),
    ),
    "repair": Chore(
        "Repair it",
        "Derives again what differs. Memories and signals are never touched.",
        lambda bank, _, __: bank.upkeep.doctor(),
        proposal="doctor",
    ),
    "duplicates": Chore(
        "Look for duplicates",
        "Finds lessons that say the same in other words. Changes nothing.",
        lambda bank, _, __: bank.upkeep.consolidate(dry_run=True),
    ),
    "merge": Chore(
        "Merge them",
        "Merges what is proposed. Each merge can be taken apart again, on the page of the merged lesson.",
        lambda bank, _, __: bank.upkeep.consolidate(dry_run=False, force=True),
        proposal="duplicates",
    ),
    "doubtful": Chore(
        "Look for what does not help",
        "Finds lessons with much against them, and doubted ones that nobody uses. Changes nothing.",
        lambda bank, _, __: bank.upkeep.prune(dry_run=True),
    ),
    "prune": Chore(
        "Archive them",
        "Takes what is proposed out of service. Each can be restored.",
        lambda bank, _, __: bank.upkeep.prune(dry_run=False),
        proposal="doubtful",
    ),
    "maintain": Chore(
        "Do the daily round",
        "Rolls old signals up, closes runs that stayed open for too long, trims what is kept for a time.",
        lambda bank, _, __: bank.upkeep.maintain(),
    ),
    "backup": Chore("Back up", "Copies the project, as it is at one moment, into a new folder.", _backup),
    "reembed": Chore(
        "Embed what is not embedded",
        "Embeds every lesson and node anew. The bank is read and written meanwhile.",
        lambda bank, progress, _: bank.upkeep.reembed(progress=progress),
    ),
}


def shown(asked: Asked) -> Page:
    """Show jobs, chores and what came of them."""
    bank, site = asked.bank, asked.site
    tasks = {name: site.tasks.newest(asked.project, name) for name in CHORES}
    named = {
        memory_id
        for task in tasks.values()
        if task and isinstance(task.result, (Consolidated, Pruned))
        for change in task.result.changes[:JOBS]
        for memory_id in change.memories
    }
    values = {
        "title": "Upkeep",
        "status": bank.upkeep.status(),
        "jobs": bank.queue.list(limit=JOBS),
        "chores": CHORES,
        "tasks": tasks,
        "titles": titles(bank, named),
        "blocked": bank.sources.list(),
        "most": JOBS,
        "here": address(asked.project, "upkeep"),
    }
    return Page("upkeep.html", values)


def start(asked: Asked) -> Answer:
    """Begin a chore; its page tells how far it is."""
    name, here = asked.parts["chore"], address(asked.project, "upkeep")
    chore = CHORES.get(name)
    if chore is None:
        raise InvalidInputError(f"upkeep knows no {name!r}: it takes {', '.join(CHORES)}")
    bank, form = asked.bank, asked.form
    asked.site.tasks.start(asked.project, name, lambda progress: chore.work(bank, progress, form))
    return Moved(f"{here}#{name}")


def retry(asked: Asked) -> Answer:
    """Put a job back into the queue."""
    job = asked.bank.queue.retry(asked.parts["job"])
    where = address(asked.project, "upkeep")
    return Moved(where, Notice(f"“{job.task}” waits in the queue again: `reasoningbank work` takes it up."))

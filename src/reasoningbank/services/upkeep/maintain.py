"""One round of upkeep: what is always done, and what a bank is set up to do by itself; and pruning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from reasoningbank.filters import Filters
from reasoningbank.links import SuggestedLink
from reasoningbank.moments import shifted
from reasoningbank.results import EXPIRED, Change, Consolidated, Pruned
from reasoningbank.services import links
from reasoningbank.services.engine import Engine
from reasoningbank.services.upkeep import consolidate
from reasoningbank.services.upkeep.consolidate import take_turn
from reasoningbank.services.view import View
from reasoningbank.signals import parse_time, time_text
from reasoningbank.status import Maintained
from reasoningbank.storage import episodes, meta, pins, records, trajectories, trust
from reasoningbank.storage.place import Project
from reasoningbank.storage.stored_vectors import MEMORIES, NODES
from reasoningbank.upkeep import THRESHOLD
from reasoningbank.upkeep.pruning import UNUSED, Kept, evidence_against, proposals

# Every process catches up at its next call; one that slept through more than this rebuilds its index instead.
CHANGES_KEPT = 100_000
MOST_SUGGESTIONS = 20
PAGE = 500
# So many memories that have expired are archived in one round.
EXPIRED_AT_ONCE = 2_000
SUGGESTED = "links_suggested_at"
UNDER_WAY = "maintaining_since"
A_YEAR = timedelta(days=366)
# A process that was killed holds its place no longer than this.
HELD = timedelta(minutes=10)


def maintain(engine: Engine, now: datetime, *, dry_run: bool) -> Maintained:
    """Roll up, expire, trim and suggest links; consolidate and prune where settings say so, or propose all of it.

    Each step is a transaction of its own that looks again at what is there, so two rounds at once do no more than one.
    """
    project = engine.project()
    if project is None:
        return Maintained(dry_run=dry_run)
    return _proposed(engine, project, now) if dry_run else _done(engine, project, now)


def _done(engine: Engine, project: Project, now: datetime) -> Maintained:
    settings = engine.settings
    with engine.write() as edit:
        edit.catch_up()
        over = trust.archive(edit, _expired(edit, now), EXPIRED, now)
        expired = episodes.expire(edit, now, engine.episode_ttl)
        old_runs = trajectories.expire(edit, _oldest_run(edit, now))
        forgotten = sum(stored.trim_feed(edit, CHANGES_KEPT) for stored in (MEMORIES, NODES))
    rolled = project.roll_up(now, settings.keep_days)
    merged, pruned = _merged_and_pruned(engine, now)
    engine.keep_indexes()
    project.forget_words()
    project.tidy()
    return Maintained(
        tuple(rolled),
        expired,
        forgotten,
        old_runs,
        len(over),
        changes=(*merged.changes, *pruned.changes),
        proposed=merged.proposed,
        skipped=merged.skipped,
        # Every pair is compared for them, so at most once a day.
        suggested=_suggested(engine) if settings.auto_suggest and take_turn(engine, SUGGESTED, now) else (),
    )


def _oldest_run(view: View, now: datetime) -> datetime:
    newest = trajectories.newest(view)
    # What is deleted does not come back: a clock a year past all runs is taken for wrong until there is a newer one.
    if newest is not None and now > shifted(newest, A_YEAR):
        now = newest
    return shifted(now, -timedelta(days=view.engine.settings.trajectory_days))


def _expired(view: View, now: datetime) -> list[int]:
    return records.page(view, Filters(expired_by=now), 0, EXPIRED_AT_ONCE)


def _suggested(engine: Engine) -> tuple[SuggestedLink, ...]:
    return tuple(links.suggest_links(engine, MOST_SUGGESTIONS))


def _merged_and_pruned(engine: Engine, now: datetime) -> tuple[Consolidated, Pruned]:
    """Merge, then prune, as the settings say; by one process at a time, or what is to be merged would be pruned."""
    merged, pruned = Consolidated(due=False), Pruned()
    if not (engine.settings.auto_consolidate or engine.settings.auto_prune):
        return merged, pruned
    with alone(engine, UNDER_WAY) as mine:
        if mine and engine.settings.auto_consolidate:
            merged = consolidate.consolidate(
                engine, now, threshold=THRESHOLD, dry_run=False, max_clusters=None, chat=None, force=False
            )
        if mine and engine.settings.auto_prune:
            pruned = prune(engine, now, dry_run=False, unused_days=UNUSED.days)
    return merged, pruned


def _proposed(engine: Engine, project: Project, now: datetime) -> Maintained:
    with engine.read() as view:
        due = project.due(view, now, engine.settings.keep_days)
        expired = episodes.count_overdue(view, now, engine.episode_ttl)
        old_runs = trajectories.count_old(view, _oldest_run(view, now))
        over = len(_expired(view, now))
        forgotten = sum(stored.count_beyond(view, CHANGES_KEPT) for stored in (MEMORIES, NODES))
    found = consolidate.propose(engine, THRESHOLD)
    pruned = prune(engine, now, dry_run=True, unused_days=UNUSED.days)
    return Maintained(
        tuple(due),
        expired,
        forgotten,
        old_runs,
        over,
        changes=(*found.merges, *found.links, *pruned.changes),
        proposed=found.asked,
        suggested=_suggested(engine),
        dry_run=True,
    )


@contextmanager
def alone(engine: Engine, name: str) -> Iterator[bool]:
    """Hold a place that one process has at a time; give False when another has it.

    Since when it is held is kept in the project's database under `name`.
    """
    now = engine.now()
    since = time_text(now)
    with engine.write(create=False) as edit:
        held = meta.read(edit).get(name)
        mine = held is None or abs(now - parse_time(held)) >= HELD
        if mine:
            meta.put(edit, name, since)
    try:
        yield mine
    finally:
        if mine:
            with engine.write(create=False) as edit:
                meta.drop(edit, name, since)


# -- pruning ------------------------------------------------------------------------------------------------------


def prune(engine: Engine, now: datetime, *, dry_run: bool, unused_days: float) -> Pruned:
    """Propose what to archive; without `dry_run` archive it, all in one transaction."""
    unused = timedelta(days=min(unused_days, timedelta.max.days))
    if dry_run:
        with engine.read() as view:
            return Pruned(tuple(_propose(view, now, unused)))
    with engine.write(create=False) as edit:
        edit.catch_up()
        changes = _propose(edit, now, unused)
        for change in changes:
            n = records.find(edit, change.memories[0])
            trust.archive(edit, [] if n is None else [n], f"{trust.PRUNED}{change.reason}", now)
        return Pruned(tuple(changes), done=engine.project() is not None)


def _propose(view: View, now: datetime, unused: timedelta) -> list[Change]:
    kept: list[Kept] = []
    pinned = dict(pins.every_pin(view))
    after = 0
    while numbers := records.page(view, Filters(), after, PAGE):
        rows = view.load(numbers)
        beliefs = view.beliefs(rows.values())
        for n, row in rows.items():
            against, blamed, judged = evidence_against(row.tallies)
            used, changed = row.memory.last_used, row.memory.updated_at
            if n in pinned:
                continue
            kept.append(Kept(row.memory.id, beliefs[n].mean, against, blamed, judged, used, changed))
        after = numbers[-1]
    return proposals(kept, now, unused=unused, most=view.engine.settings.max_memories)

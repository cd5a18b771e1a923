"""What a bank says of itself. Looking changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from reasoningbank.links import SuggestedLink
from reasoningbank.measures.criteria import Weighing
from reasoningbank.measures.reliability import Calibration, Measure
from reasoningbank.memory import Memory
from reasoningbank.results import Change


@dataclass(frozen=True, slots=True)
class SharedStatus:
    """A shared bank as one handle sees it.

    Attributes:
        may: what the handle may do there (read, write, approve); None where it is closed, or there is none.
        memories: how many lessons are in each state.
        due: of how many runs it is still to be told.
        problem: why nothing is known of it, in words.
    """

    name: str
    may: str | None = None
    memories: dict[str, int] = field(default_factory=dict)
    due: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """Where a bank is, what is in it, and what is not as it should be.

    Attributes:
        confidence_model: the one that is set: calibrated, spec or ema.
        settings: of this handle, those that are not as they are by default.
        parameters: what the calibrated model has learned of this project's evidence, by name: `accuracy` of votes,
            `judges` with an accuracy of their own, the chance of success when a memory `helped` and `unhelped` when
            none did, `class_means` by initial confidence, their `strength` in observations, and `fading` per later
            use; None when nothing was learned yet, and the starting values hold.
        folder: the project's folder, absolute; it need not exist.
        exists: whether anything was recorded yet.
        format: number of the database's format.
        embedder: the embedder this handle uses, in words.
        stored_embedder: the one the stored vectors are of; None when there are none.
        memories: how many, by state.
        expired: how many of the active ones are not served any more, until `maintain` archives them.
        corrections: how often memories were changed (`revisions`), took another's place (`superseded`) and were retired
            by agents (`retired`); how many were archived since another one says the same (`twins`: of a bank of an
            older version, or a trusted import); and how often a lesson came again that somebody had decided about, and
            was held back (`held_back`).
        not_embedded: memories that are found by keyword only, until `reembed`.
        vectors: of memories, that are searched: one of each lesson, and one of when it applies where it says so.
        signals: that count, of the kept log; those that were rolled up are in the tallies only.
        links: between memories.
        nodes: of the memory graph, how many by state: active, quarantined.
        edges: between nodes.
        nodes_not_embedded: nodes that are found by keyword only, until `reembed`.
        kept_runs: runs whose steps are kept.
        open_episodes: runs without a verdict.
        late_recalls: how often a recall with a timeout came too late, within the last 400 days.
        lift: what lessons did to the runs of the last 90 days, in plain words, where some were held out; else "".
        jobs: runs to be distilled, and those that were, by status.
        unreadable_lines: lines of the signal log that cannot be read; they keep their segment from being deleted.
        orphan_lines: lines about memories that are gone or say something else now.
        positions_set_back: how often a power loss took lines that had been counted.
        unfolded_bytes: of the log, to be counted by the next write.
        stray_segments: segment files that do not count: rolled up before, or with a number that is taken.
        disk_bytes: what the project's files take on the disk.
        free_bytes: what is left there.
        read_only: the folder cannot be written by this user.
        shared: the shared banks that this handle looks through.
        problems: what is not as it should be, in words; empty when all is well.
    """

    root: str
    folder: str
    tenant: str
    project: str
    exists: bool
    embedder: str
    confidence_model: str
    settings: dict[str, Any] = field(default_factory=dict)
    format: int = 0
    stored_embedder: str | None = None
    memories: dict[str, int] = field(default_factory=dict)
    expired: int = 0
    corrections: dict[str, int] = field(default_factory=dict)
    not_embedded: int = 0
    vectors: int = 0
    signals: int = 0
    links: int = 0
    nodes: dict[str, int] = field(default_factory=dict)
    edges: int = 0
    nodes_not_embedded: int = 0
    kept_runs: int = 0
    parameters: dict[str, Any] | None = None
    open_episodes: int = 0
    late_recalls: int = 0
    lift: str = ""
    jobs: dict[str, int] = field(default_factory=dict)
    log_segments: int = 0
    rolled_segments: int = 0
    unreadable_lines: int = 0
    orphan_lines: int = 0
    positions_set_back: int = 0
    unfolded_bytes: int = 0
    stray_segments: tuple[str, ...] = ()
    disk_bytes: int = 0
    free_bytes: int = 0
    read_only: bool = False
    shared: tuple[SharedStatus, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunsOfDay:
    """How many runs began on one day in UTC, by how they ended; `open` ones have not."""

    day: date
    success: int = 0
    failure: int = 0
    unknown: int = 0
    open: int = 0


@dataclass(frozen=True, slots=True)
class Period:
    """The figures of a part of a window, by what happened in it.

    Attributes:
        votes, runs: as in Metrics.
    """

    since: datetime
    until: datetime
    criteria: tuple[Measure, ...]
    votes: Calibration
    runs: Calibration


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """How much is in a project.

    Attributes:
        project: its name; the name of its folder where that cannot be read.
        memories: how many, by state.
        episodes: how many runs it knows.
        problem: why it cannot be read, in words; empty when it can.
    """

    project: str
    memories: dict[str, int] = field(default_factory=dict)
    episodes: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What was saved of a damaged project.

    Attributes:
        folder: the new folder.
        memories: how many memories are in it.
        episodes: how many runs.
        rows: how many rows of every table.
        torn: the tables of which some rows could not be read.
    """

    folder: str
    memories: int
    episodes: int
    rows: dict[str, int]
    torn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """What was deleted of what was recorded under a name, or would be.

    Attributes:
        name: the `by`, session, thread or reference that was given.
        memories: ids of the lessons that it brought, or that were distilled from its runs alone.
        runs: references of the runs of that thread, or of that one run.
        jobs: of the queue, with those runs.
        nodes: of the memory graph: of that conversation, or requests of that user.
        judged: how many memories that stay its signals are about; they count on, under no name and without reasons.
        dry_run: nothing was done.
    """

    name: str
    memories: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    jobs: int = 0
    nodes: int = 0
    judged: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """What came from a source.

    Attributes:
        source: the `by` of its memories and signals, or their session; "" for what names neither.
        memories: how many it brought, by state.
        untrusted: how many of them can take one place of a result all together.
        judged: how many memories its signals are about.
        blocked: whether it is blocked.
    """

    source: str
    memories: dict[str, int] = field(default_factory=dict)
    untrusted: int = 0
    judged: int = 0
    blocked: bool = False


@dataclass(frozen=True, slots=True)
class Metrics:
    """How well a bank did within a window of time, from its log and database alone.

    Attributes:
        since: when the window began.
        until: when it ended: the time of the call.
        success: share of the runs with lessons that succeeded (`with_lessons`), what was to be expected of them
            (`expected`, and `expected_if_none_helped`), and share of those without lessons (`without_lessons`).
        criteria: SC-001 to SC-006, each with its value, its goal, and whether there was enough to tell.
        votes: confidences at recall against what was said of the memory for that run.
        runs: the success that the confidences at recall promised for a run, against how it ended.
        hit_rates: how often recalls handed out something, and how often runs and lessons were judged, by name.
        yields: what was recorded and distilled, by name.
        parameters: what the calibrated model has learned, as in `Status`.
        weights: how far each kind of evidence was trusted over time, oldest first; the last holds now.
        days: the days with runs, the oldest first.
        trend: the window in equal parts, the oldest first, if they were asked for.
        shared: how many lessons runs were handed from each shared bank; they count in no other figure.
    """

    since: datetime
    until: datetime
    confidence_model: str
    success: dict[str, float | None]
    criteria: tuple[Measure, ...]
    votes: Calibration
    runs: Calibration
    hit_rates: dict[str, float | None] = field(default_factory=dict)
    yields: dict[str, float | None] = field(default_factory=dict)
    parameters: dict[str, Any] | None = None
    weights: tuple[Weighing, ...] = ()
    days: tuple[RunsOfDay, ...] = ()
    trend: tuple[Period, ...] = ()
    shared: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Maintained:
    """What upkeep did, or would do.

    Attributes:
        rolled_up: segments of the signal log that were folded for good and deleted.
        expired: episodes that stayed open for too long and were closed as unknown.
        forgotten_changes: rows of the change feed that every process has long seen.
        forgotten_trajectories: runs whose steps were kept for long enough, and were deleted.
        expired_memories: memories whose time was over, and that are archived now.
        changes: merges, links and archived memories: those that were made, where the settings `auto_consolidate` and
            `auto_prune` say so; with `dry_run`, all that could be made.
        proposed: merges that wait for somebody to agree: `bank.upkeep.merge(change.memories)`.
        skipped: merges that were not carried out, each with why.
        suggested: links that the evidence speaks for, none of them set; at most once a day, and with `dry_run`.
        dry_run: nothing was done.
    """

    rolled_up: tuple[str, ...] = ()
    expired: int = 0
    forgotten_changes: int = 0
    forgotten_trajectories: int = 0
    expired_memories: int = 0
    changes: tuple[Change, ...] = ()
    proposed: tuple[Change, ...] = ()
    skipped: tuple[Change, ...] = ()
    suggested: tuple[SuggestedLink, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """A round of upkeep in one of many projects.

    Attributes:
        maintained: what was done; None when it could not be.
        problem: why, in words; it is tried again after an hour.
    """

    tenant: str
    project: str
    maintained: Maintained | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that is not as it should be, and what mends it.

    Attributes:
        what: what was found.
        remedy: what is done about it; empty when nothing can be done here.
        done: whether it was done.
    """

    what: str
    remedy: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Pin:
    """A memory that is shown whatever the task.

    Attributes:
        tag: shown where a recall asks for this tag; "" for always.
    """

    memory: Memory
    tag: str = ""

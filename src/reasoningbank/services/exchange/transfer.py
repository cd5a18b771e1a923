"""Import and export: memories in and out of a bank."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reasoningbank import arguments
from reasoningbank.belief.calibrated import Parameters
from reasoningbank.errors import InvalidInputError
from reasoningbank.exchange.history import SaidBefore
from reasoningbank.exchange.memories import Incoming, incoming, parse
from reasoningbank.exchange.others import voted
from reasoningbank.exchange.results import Imported
from reasoningbank.exchange.runs import KEY, ExportedRun, is_run, read_run
from reasoningbank.filters import Filters
from reasoningbank.formats.foreign import translated
from reasoningbank.formats.source import Entries, Entry, Line
from reasoningbank.links import SUPERSEDES, ExportedLink
from reasoningbank.memory import Draft, State, is_blank
from reasoningbank.results import Rejected
from reasoningbank.screening.door import clean as cleaned_text
from reasoningbank.services.engine import Engine
from reasoningbank.services.exchange.history_transfer import store_history
from reasoningbank.services.exchange.run_transfer import store_runs
from reasoningbank.services.record.preparing import Prepared, clean, embed
from reasoningbank.services.record.storing import Placed, check_embedder, store
from reasoningbank.services.view import Edit
from reasoningbank.storage import links, merges, parameters, pins, records, sameness, trust
from reasoningbank.storage.parameters import Fit

# Small enough that progress is seen, large enough that a transaction is worth it.
BATCH = 64
LINKS = 1_000
PAGE = 500


@dataclass
class _Tally:
    """What became of the lines so far. Lines of runs are taken only `with_runs`.

    Counts are by the names that they have in the answer, row numbers of memories by the ids that they have in the file.
    """

    with_runs: bool
    trusted: bool
    by: str | None
    dry: bool = False
    forms: Counter[str] = field(default_factory=Counter)
    planned: list[Draft] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    differing: list[Rejected] = field(default_factory=list)
    possible_duplicates: list[Rejected] = field(default_factory=list)
    joined: list[Rejected] = field(default_factory=list)
    held: list[Rejected] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    redactions: Counter[str] = field(default_factory=Counter)
    links: list[tuple[int, ExportedLink]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    archived: set[int] = field(default_factory=set)
    histories: list[tuple[int, tuple[SaidBefore, ...]]] = field(default_factory=list)
    merged: list[tuple[int, str]] = field(default_factory=list)
    fresh: set[int] = field(default_factory=set)


def import_entries(
    engine: Engine,
    source: Entries,
    *,
    trusted: bool,
    by: str | None,
    runs: bool,
    progress: Callable[[int, int | None], None] | None,
    dry_run: bool = False,
) -> Imported:
    """Store the lessons of many lines, a batch a transaction; a bad line costs no other."""
    tally = _Tally(runs, trusted, by, dry_run)
    tally.counts["left_out"] += len(source.left_out)
    filled = (entry for entry in source.entries if not _is_blank(entry.line))
    while batch := list(itertools.islice(filled, BATCH)):
        _import_batch(engine, batch, tally)
        if progress is not None:
            progress(batch[-1].number, source.total)
    _link(engine, tally.links)
    _settle(engine, tally)
    return Imported(
        source=by or "",
        differing=tuple(tally.differing),
        possible_duplicates=tuple(tally.possible_duplicates),
        joined=tuple(tally.joined),
        held=tuple(tally.held),
        rejected=tuple(tally.rejected),
        redactions=dict(tally.redactions),
        forms=dict(tally.forms),
        planned=tuple(tally.planned),
        **tally.counts,
    )


def _link(engine: Engine, waiting: Sequence[tuple[int, ExportedLink]]) -> None:
    """Set the links of what was imported, once all of their ends are there; those that lead nowhere are left out."""
    for start in range(0, len(waiting), LINKS):
        with engine.write() as edit:
            for source, link in waiting[start : start + LINKS]:
                target = records.find(edit, link.target)
                if target is None or target == source:
                    continue
                if link.type == SUPERSEDES and trust.state_of(edit, source) is State.ACTIVE:
                    trust.archive(edit, [target], f"superseded: {links.ids_of(edit, [source])[source]}", engine.now())
                links.put(
                    edit,
                    (source, target),
                    link.type,
                    strength=link.strength,
                    evidence=cleaned_text(link.evidence, engine.rules),
                    by=cleaned_text(link.by, engine.rules),
                    now=link.created_at or engine.now(),
                )


def _settle(engine: Engine, tally: _Tally) -> None:
    """Keep what memories said before, and let merged ones count, once all lines are there: what one memory said before
    another one may say now, and evidence that came along is not counted for a memory that was here.
    """
    for start in range(0, len(tally.histories), LINKS):
        with engine.write() as edit:
            for n, history in tally.histories[start : start + LINKS]:
                store_history(edit, n, history)
    for start in range(0, len(tally.merged), LINKS):
        with engine.write() as edit:
            for n, into in tally.merged[start : start + LINKS]:
                result = records.find(edit, into)
                if result in tally.fresh and result != n and trust.state_of(edit, n) is State.ARCHIVED:
                    merges.put(edit, [n], result, engine.now())


def _is_blank(line: Line) -> bool:
    if isinstance(line, bytes):
        line = line.decode("utf-8", "replace")
    return isinstance(line, str) and is_blank(line)


def _import_batch(engine: Engine, batch: Sequence[Entry], tally: _Tally) -> None:
    items: list[Incoming] = []
    cleaned: list[Prepared] = []
    runs: list[ExportedRun] = []
    for entry in batch:
        try:
            for line in _lines(entry, tally):
                if is_run(line):
                    runs.append(read_run(line[KEY]))
                    continue
                item = incoming(entry.number, line, trusted=tally.trusted, by=tally.by, now=engine.now())
                _parameters(item)
                named = None if item.memory_id is None else arguments.memory_id(item.memory_id)
                cleaned.append(clean(item.draft, named, engine.rules))
                items.append(item)
        except InvalidInputError as error:
            tally.rejected.append(Rejected(entry.number, f"{entry.name}: {error}" if entry.name else str(error)))
    if tally.dry:
        tally.planned += [prepared.draft for prepared in cleaned]
    else:
        _take(engine, items, cleaned, runs, tally)


def _take(
    engine: Engine, items: Sequence[Incoming], cleaned: Sequence[Prepared], runs: Sequence[ExportedRun], tally: _Tally
) -> None:
    if items:
        engine.with_embedder(lambda embedder: _store(engine, items, embed(embedder, cleaned), tally))
    if runs and tally.with_runs:
        tally.counts["runs"] += store_runs(engine, runs, tally.numbers)
    elif runs:
        tally.counts["runs_left_out"] += len(runs)


def _lines(entry: Entry, tally: _Tally) -> list[dict[str, Any]]:
    record = parse(entry.line)
    form, lines = translated(record)
    if form:
        tally.forms[form] += 1
    if not lines and "relationType" in record:
        tally.counts["left_out"] += 1
    elif not lines:
        raise InvalidInputError("it holds no lesson")
    return lines


def _store(engine: Engine, items: Sequence[Incoming], cleaned: Sequence[Prepared], tally: _Tally) -> None:
    with engine.write() as edit:
        check_embedder(edit, cleaned)
        was_empty = records.count(edit, Filters(states=tuple(State))) == 0
        for item, prepared in zip(items, cleaned, strict=True):
            placed = _store_one(edit, item, prepared, tally.archived)
            if placed.alike is not None:
                what = f"it may say the same as memory {placed.alike!r}, and is stored beside it"
                tally.possible_duplicates.append(Rejected(item.line, what))
            if placed.row is not None:
                tally.counts["created"] += 1
                tally.counts["quarantined"] += (item.state or prepared.state) is State.QUARANTINED
                tally.counts["untrusted"] += not prepared.draft.source.trusted
                tally.counts["not_embedded"] += bool(prepared.problem)
                tally.redactions.update(prepared.redactions)
                tally.links += [(placed.n, link) for link in item.links]
                tally.histories += [(placed.n, item.history)] if item.history else []
                tally.merged += [(placed.n, item.merged_into)] if item.merged_into else []
                tally.fresh.add(placed.n)
            else:
                tally.counts["existing"] += 1
                if not _name(edit, item, prepared, placed, tally):
                    continue
            if tally.with_runs and item.memory_id is not None:
                tally.numbers[item.memory_id] = placed.n
        if was_empty:
            # What belongs to a bank as a whole only a copy of it may take over.
            trust.restore_taught(edit, [counts for item in items for counts in item.taught])
            sources = [source for item in items for source in item.blocked]
            trust.note_blocked(edit, sources, engine.now())
            for found in filter(None, map(_parameters, items)):
                parameters.add(edit, Fit(found, edit.newest_change, engine.now()))


def _parameters(item: Incoming) -> Parameters | None:
    if item.parameters is None:
        return None
    try:
        return Parameters.of(item.parameters)
    except ValueError as error:
        raise InvalidInputError(str(error)) from None


def _store_one(edit: Edit, item: Incoming, prepared: Prepared, archived: set[int]) -> Placed:
    # What is out of service may well say the same as what is in it.
    is_copy = item.memory_id is not None and item.state not in (None, State.ACTIVE)
    placed = store(edit, [prepared], look_for_same=not is_copy, state=item.state, beside=archived, by_hand=False)[0]
    if placed.row is not None:
        if item.state is State.ARCHIVED:
            trust.note_archived(edit, placed.n, _before(edit, item, prepared), item.why, edit.engine.now())
            archived.add(placed.n)
        _restore_evidence(edit, placed.n, item)
        for tag in item.pins:
            pins.add(edit, placed.n, tag)
    return placed


def _restore_evidence(edit: Edit, n: int, item: Incoming) -> None:
    now = edit.engine.now()
    # No lesson is of tomorrow, whatever clock another tool had.
    created, updated = (None if at is None else min(at, now) for at in (item.created_at, item.updated_at))
    trust.restore_times(edit, n, created, updated)
    trust.restore_tallies(edit, n, (*item.tallies, *voted(item.votes, item.draft.source.by or "", now)))


def _before(edit: Edit, item: Incoming, prepared: Prepared) -> State:
    """Return the state that an archived memory goes back to: a source that is blocked here stays so."""
    source = prepared.draft.source
    distrusted = trust.blocked_among(edit, {name for name in (source.by, source.session) if name})
    return State.QUARANTINED if distrusted else item.before or prepared.state


def _name(edit: Edit, item: Incoming, prepared: Prepared, placed: Placed, tally: _Tally) -> bool:
    """Name what is odd about a lesson that was there already; tell whether it is the one that its id names."""
    if not placed.n:
        what = "it was deleted here and stays out; record it by hand to have it again"
        tally.held.append(Rejected(item.line, what))
        return False
    there = edit.row(placed.n).id
    says_this = sameness.identity_of(edit, placed.n) == prepared.identity
    if there == item.memory_id and not says_this:
        what = f"memory {there!r} is there and says something else; it was left as it is"
        tally.differing.append(Rejected(item.line, what))
        return False
    if placed.held:
        what = f"it stays out of service ({placed.held}): see memory {there!r}"
        tally.held.append(Rejected(item.line, what))
    if prepared.draft.source.trusted:
        tally.counts["trusted"] += len(trust.set_trusted(edit, [placed.n], edit.engine.now(), trusted=True))
    if says_this and item.memory_id not in (None, there) and item.tallies:
        _join(edit, item, prepared, placed.n)
        what = f"memory {there!r} says the same, and the evidence of {item.memory_id!r} counts for it now"
        tally.joined.append(Rejected(item.line, what))
    return True


def _join(edit: Edit, item: Incoming, prepared: Prepared, result: int) -> None:
    """Keep a lesson that says what another says out of service, and let its evidence count for that one."""
    now = edit.engine.now()
    n = store(edit, [prepared], look_for_same=False, state=State.ARCHIVED)[0].n
    trust.note_archived(edit, n, State.ACTIVE, f"said the same as {edit.row(result).id}", now)
    _restore_evidence(edit, n, item)
    merges.put(edit, [n], result, now)

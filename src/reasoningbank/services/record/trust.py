"""What is in service: approving what was quarantined, archiving, blocking sources, and undoing that."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial

from reasoningbank.errors import InvalidInputError, MemoryNotFoundError
from reasoningbank.memory import DOUBT, Memory, State
from reasoningbank.results import Blocked
from reasoningbank.screening import door
from reasoningbank.screening.scrub import RuleSet
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.history import checked_reason, restore_revision
from reasoningbank.services.record.record import number_of
from reasoningbank.services.view import Edit, View
from reasoningbank.status import SourceCounts
from reasoningbank.storage import asked, fits, merges, records, replica, revisions, sameness, trust
from reasoningbank.validation import nearest_name


def approve(engine: Engine, memory_id: str) -> Memory:
    """Serve a quarantined or doubted memory from now on; what was found in it stays on record."""
    with engine.write(create=False) as edit:
        n = number_of(edit, memory_id)
        memory = edit.shown([n])[n]
        if not (memory.doubted or memory.state is State.QUARANTINED):
            raise InvalidInputError(f"memory {memory_id!r} is neither quarantined nor in doubt; review() shows them")
        if not memory.doubted:
            _check_no_twin(edit, n)
        trust.settle(edit, n, [finding.removeprefix(DOUBT) for finding in memory.findings])
        records.set_state(edit, n, State.ACTIVE, engine.now())
        return edit.shown([n])[n]


def review(engine: Engine, limit: int) -> list[Memory]:
    """Return what a person should look at: quarantined memories, then those in doubt, as they were recorded."""
    with engine.read() as view:
        return [*view.shown(trust.to_review(view, limit)).values()]


def archive(engine: Engine, memory_id: str, *, reason: str | None, by: str | None) -> Memory:
    """Take a memory out of service; `restore` undoes it."""
    why = why_retired(by, engine.rules) if by else "by hand"
    why += f": {checked_reason(reason, engine.rules)}" if reason else ""
    with engine.write(create=False) as edit:
        n = number_of(edit, memory_id)
        trust.archive(edit, [n], why, engine.now())
        return edit.shown([n])[n]


def why_retired(by: str, rules: RuleSet) -> str:
    """Return why a memory is archived that somebody retired, without what was wrong with it."""
    return f"retired by {checked_reason(by, rules)}"


def restore(engine: Engine, memory_id: str) -> Memory:
    """Put an archived memory back into the state it was in."""
    with engine.write(create=False) as edit:
        n = number_of(edit, memory_id)
        _check_no_twin(edit, n)
        if not trust.restore(edit, [n], engine.now()):
            raise InvalidInputError(f"memory {memory_id!r} is not archived; list(state='archived') shows them")
        return edit.shown([n])[n]


def _check_no_twin(edit: Edit, n: int) -> None:
    if (twin := sameness.twin_of(edit, n)) is not None:
        raise InvalidInputError(f"memory {twin!r} says the same and is served: archive or delete it first")


# -- sources -------------------------------------------------------------------------------------------------------


def overview(engine: Engine) -> list[SourceCounts]:
    """Say who brought and judged memories, the one with the most memories first."""
    with engine.read() as view:
        rows, judged, blocked = trust.brought(view), trust.judges(view), set(trust.blocked(view))
    memories: defaultdict[str, dict[str, int]] = defaultdict(dict)
    untrusted: Counter[str] = Counter()
    for source, state, many, strange in rows:
        memories[source][state] = many
        untrusted[source] += strange
    names = memories.keys() | judged.keys() | blocked
    found = [
        SourceCounts(
            door.clean(name, engine.rules),
            memories.get(name, {}),
            untrusted[name],
            judged.get(name, 0),
            name in blocked,
        )
        for name in names
    ]
    return sorted(found, key=lambda each: (-sum(each.memories.values()), each.source))


def trust_source(engine: Engine, source: str, *, trusted: bool) -> tuple[str, ...]:
    """Let what came from a source count as trusted, or not; return the ids of the memories that it did not before."""
    with engine.write(create=False) as edit:
        brought = trust.of_source(edit, source)
        if not brought:
            raise InvalidInputError(f"{_nothing_from(edit, source)}: `sources` names those that there are")
        return _ids(edit, trust.set_trusted(edit, brought, engine.now(), trusted=trusted))


def block(engine: Engine, source: str) -> Blocked:
    """Archive what came from a source, let its signals count for nothing, and take back what it did to others'."""
    with engine.write(create=False) as edit:
        done, changed = _block(edit, source), revisions.changed_by(edit, source)
        retired = trust.retired_by(edit, why_retired(source, edit.engine.rules))
        served = trust.take_back(edit, source, retired, engine.now()) + _unmerged(edit, source)
        back = [*_ids(edit, served)]
    left = _say_again(engine, changed, _why(source), back)
    with engine.write(create=False) as edit:
        # What others say again already is in service; what the source made of it is not to be.
        numbers = [n for n in map(partial(records.find, edit), left) if n is not None]
        archived = _ids(edit, trust.archive(edit, numbers, _why(source), engine.now()))
    return replace(done, memories=(*done.memories, *archived), taken_back=tuple(dict.fromkeys(back)))


def _unmerged(edit: Edit, source: str) -> list[int]:
    """Serve what others brought and was merged into what a source brought; return what is served by it."""
    brought = trust.of_source(edit, source)
    others = sorted({n for result in brought for n in merges.sources_of(edit, result)} - set(brought))
    return trust.restore(edit, others, edit.engine.now())


def unblock(engine: Engine, source: str) -> Blocked:
    """Serve what came from a blocked source, let its signals count, and what it did to others' be done again."""
    with engine.read() as view:
        changed = revisions.replaced_because(view, _why(source))
    done, back = _unblock(engine, source), list[str]()
    left = _say_again(engine, changed, f"{source} is not blocked any more", back, by=source)
    with engine.write(create=False) as edit:
        retired = _ids(edit, trust.retire_again(edit, source, engine.now()))
    return replace(done, taken_back=(*back, *retired), left=(*done.left, *left))


def _say_again(engine: Engine, changed: dict[str, int], why: str, done: list[str], *, by: str = "") -> tuple[str, ...]:
    """Let memories say again what they said as a revision, and note which do; return the ids of those that cannot."""
    left = []
    for memory_id, number in changed.items():
        try:
            restore_revision(engine, memory_id, number, why=why, by=by)
            done.append(memory_id)
        except InvalidInputError:
            # Another one in service says this by now.
            left.append(memory_id)
        except MemoryNotFoundError:
            continue
    return tuple(left)


def _unblock(engine: Engine, source: str) -> Blocked:
    with engine.write(create=False) as edit:
        edit.catch_up()
        name = _blocked_as(edit, source)
        if not trust.blocked_among(edit, [name]):
            raise InvalidInputError(f"source {source!r} is not blocked; sources.list() names those that are")
        judged = trust.unblock(edit, name)
        _settle_fits(edit, name)
        archived = trust.archived_because(edit, _why(name))
        numbers = trust.restore(edit, archived, edit.engine.now())
        left = [n for n in archived if n not in numbers]
        return replace(_told(edit, source, numbers, judged), left=_ids(edit, left))


def forget(engine: Engine, source: str, *, dry_run: bool = False) -> Blocked:
    """Block a source, and delete for good what came from it, also what it made of others' memories."""
    if dry_run:
        with engine.write(create=False) as edit:
            edit.catch_up()
            _check_known(edit, source)
            return _told(edit, source, trust.of_source(edit, source), len(trust.judged_by(edit, source)))
    done = block(engine, source)
    with engine.write(create=False) as edit:
        # What still says what the source made of it said before what another one says by now.
        left = [records.find(edit, memory_id) for memory_id in revisions.changed_by(edit, source)]
        numbers = sorted({*trust.of_source(edit, source), *(n for n in left if n is not None)})
        revisions.forget_words(edit, source)
        trust.forget_retired(edit, source, why_retired(source, edit.engine.rules))
        forgotten = replace(_told(edit, source, numbers, done.judged), taken_back=done.taken_back)
        for n in numbers:
            records.delete(edit, n)
        return forgotten


def blocked(engine: Engine) -> list[str]:
    """Return the names of the sources that are blocked, sorted, through the present rules."""
    with engine.read() as view:
        return [door.clean(name, engine.rules) for name in trust.blocked(view)]


def _blocked_as(view: View, source: str) -> str:
    """Return the name that a source is blocked under, which is shown as `source` where the present rules hide it."""
    names = trust.blocked(view)
    shown_so = [name for name in names if door.clean(name, view.engine.rules) == source]
    return shown_so[0] if source not in names and len(shown_so) == 1 else source


def _block(edit: Edit, source: str) -> Blocked:
    edit.catch_up()
    now, changed = edit.engine.now(), revisions.changed_by(edit, source)
    others = {records.find(edit, memory_id) for memory_id in changed}
    brought = [n for n in trust.of_source(edit, source) if n not in others]
    _check_known(edit, source)
    judged = trust.block(edit, source, now)
    _settle_fits(edit, source)
    return _told(edit, source, trust.archive(edit, brought, _why(source), now), judged)


def _check_known(view: View, source: str) -> None:
    if not is_known(view, source):
        hint = "; this is a memory: archive or delete it" if records.find(view, source) is not None else ""
        raise InvalidInputError(
            f"{_nothing_from(view, source)}: give the `by` or the session of memories, or who judged{hint}"
        )


def _nothing_from(view: View, source: str) -> str:
    near = nearest_name(source, [*asked.sources(view), *trust.judges(view)])
    return f"nothing came from a source {source!r}{near}"


def _settle_fits(edit: Edit, source: str) -> None:
    if source.startswith(replica.PREFIX):
        fits.settle(edit, edit.engine.now())


def is_known(view: View, source: str) -> bool:
    """Tell whether a source brought, changed, judged or retired anything, or is blocked."""
    return bool(
        trust.of_source(view, source)
        or revisions.changed_by(view, source)
        or trust.judged_by(view, source)
        or trust.blocked_among(view, [source])
        or trust.retired_by(view, why_retired(source, view.engine.rules))
    )


def _why(source: str) -> str:
    return f"{trust.BLOCKED}{source}"


def _told(edit: View, source: str, numbers: list[int], judged: int) -> Blocked:
    return Blocked(source, _ids(edit, numbers), judged)


def _ids(edit: View, numbers: list[int]) -> tuple[str, ...]:
    rows = edit.load(numbers)
    return tuple(rows[n].id for n in numbers if n in rows)

"""Commands about what is trusted: memories, and those who brought them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import Blocked
from reasoningbank.cli import views
from reasoningbank.cli.arguments import MemoryId, UsageError, Yes
from reasoningbank.cli.correcting import Reason
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import counts, line, names, sentence, shown
from reasoningbank.upkeep import Erased, SourceCounts

app = typer.Typer()
SourceName = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The `by` of memories and judges, or the session they came from.")
]


@command(app, "approve")
def approve(session: Session, memory_id: MemoryId) -> Answer:
    """Serve a quarantined memory from now on, or end the doubt about one; `review` shows them."""
    memory = session.bank.upkeep.approve(session.id_of(memory_id))
    return Answer(memory, f"Approved: {memory.title}")


@command(app, "archive")
def archive(session: Session, memory_id: MemoryId, *, reason: Reason = None) -> Answer:
    """Take a memory out of service; `restore` undoes it."""
    memory = session.bank.upkeep.archive(session.id_of(memory_id), reason=reason)
    return Answer(memory, f"Archived: {memory.title}")


@command(app, "restore")
def restore(
    session: Session,
    what: Annotated[str, typer.Argument(metavar="ID|FOLDER", help="A memory's id, or the folder of a backup.")],
    *,
    revision: Annotated[
        int | None, typer.Option("--revision", min=1, help="Let it say again what it said; show --history has numbers.")
    ] = None,
) -> Answer:
    """Put an archived memory back into the state it was in, or what it said before; or a backup in the bank's place.

    A backup is a folder that `backup` or `salvage` made. What it replaces is kept, in a folder inside the project's.
    """
    if (folder := Path(what)).is_dir():
        return _put_back(session, folder)
    memory = session.bank.upkeep.restore(session.id_of(what), revision=revision)
    return Answer(memory, f"Restored: {memory.title} ({memory.state})")


def _put_back(session: Session, folder: Path) -> Answer:
    with session.waiting("Putting it back"):
        kept = session.unchecked_bank.upkeep.restore_backup(folder)
    count = session.unchecked_bank.count(state=None)
    said = f"{folder} is in the project's place now, with {count:,} memories."
    return Answer({"memories": count, "kept_aside": kept}, f"{said} What was there is in {kept}." if kept else said)


PinTag = Annotated[
    str | None, typer.Option("--tag", metavar="TAG", help="Where a recall asks for this tag only.", show_default=False)
]


@command(app, "pin")
def pin(session: Session, memory_id: MemoryId, *, tag: PinTag = None) -> Answer:
    """Show a memory at every recall, before what fits the task; --set pin_tokens=N says how much pins may take."""
    pinned = session.bank.upkeep.pin(session.id_of(memory_id), tag)
    return Answer(pinned, f"Pinned: {pinned.memory.title}{f' (for #{pinned.tag})' if pinned.tag else ''}")


@command(app, "unpin")
def unpin(session: Session, memory_id: MemoryId, *, tag: PinTag = None) -> Answer:
    """Remove the pins of a memory, or with --tag that one. Exit code 1 when there was none."""
    done = session.bank.upkeep.unpin(session.id_of(memory_id), tag)
    said = "Not pinned any more." if done else "There was no such pin."
    return Answer({"unpinned": done}, said, exit_code=0 if done else 1)


@command(app, "pins")
def pins(session: Session) -> Answer:
    """List what is pinned."""
    found = session.bank.upkeep.pins()
    return Answer({"pins": found}, lambda console, _: views.pins(console, found))


@command(app, "sources")
def sources(session: Session) -> Answer:
    """List who brought memories and who judged them, and what of it is trusted."""
    found = session.bank.sources.overview()
    return Answer({"sources": found}, _sources)


def _sources(console: Console, answer: Mapping[str, Sequence[SourceCounts]]) -> None:
    for each in answer["sources"]:
        parts = [f"{counts(each.memories)} memories" if each.memories else ""]
        parts += [f"{each.untrusted:,} of them untrusted" if each.untrusted else ""]
        parts += [f"judged {each.judged:,}" if each.judged else "", "blocked" if each.blocked else ""]
        line(console, Text.assemble((shown(each.source) or "(no name)", "bold"), "  ", ", ".join(filter(None, parts))))
    if not answer["sources"]:
        sentence(console, "Nothing came from anybody yet.")
    if any(each.untrusted for each in answer["sources"]):
        sentence(console, "Untrusted memories take one place of a result; `trust SOURCE` lifts that.", "dim")


@command(app, "trust")
def trust(
    session: Session,
    source: SourceName,
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
) -> Answer:
    """Let all that came from a source be served like your own lessons, not one of a result at the most."""
    changed = session.bank.sources.trust(source, trusted=not undo)
    said = f"{len(changed):,} memories of {source} are {'untrusted again' if undo else 'trusted now'}."
    return Answer({"source": source, "trusted": not undo, "memories": changed}, said)


@command(app, "block")
def block(session: Session, source: SourceName) -> Answer:
    """Archive everything from a source, and let its signals count for nothing; `unblock` undoes it."""
    return _told(session.bank.sources.block(source), "Archived")


@command(app, "unblock")
def unblock(session: Session, source: SourceName) -> Answer:
    """Undo `block`."""
    return _told(session.bank.sources.unblock(source), "Restored")


@command(app, "blocked")
def blocked(session: Session) -> Answer:
    """List the sources that are blocked."""
    found = session.bank.sources.list()
    return Answer({"blocked": found}, lambda console, _: names(console, found, "No source is blocked."))


@command(app, "forget")
def forget(session: Session, source: SourceName, *, yes: Yes = False) -> Answer:
    """Block a source, and delete for good every memory that came from it. Asks first."""
    if not yes:
        if session.as_json:
            raise UsageError("forget --json does not ask: confirm with --yes")
        came = session.bank.sources.forget(source, dry_run=True).memories
        typer.confirm(f"Delete {len(came):,} memories that came from {source!r}, for good?", abort=True, err=True)
    return _told(session.bank.sources.forget(source), "Deleted")


@command(app, "erase")
def erase(
    session: Session,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A `by`, a session, a thread, or the reference of a run.")
    ],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    yes: Yes = False,
) -> Answer:
    """Delete for good all that was recorded under a name, and the name. Says how much that is, and asks first.

    That is the memories it brought, the runs of its thread with their steps and jobs, the lessons that were distilled
    from those alone, and its nodes of the graph. What it voted and reported counts on, under no name.
    """
    if not (dry_run or yes):
        if session.as_json:
            raise UsageError("erase --json does not ask: confirm with --yes")
        typer.confirm(
            f"{_erased(session.bank.sources.erase(name, dry_run=True))} Do it, for good?", abort=True, err=True
        )
    done = session.bank.sources.erase(name, dry_run=dry_run)
    return Answer(done, _erased(done))


def _erased(done: Erased) -> str:
    parts = {"memories": len(done.memories), "runs": len(done.runs), "jobs": done.jobs, "nodes": done.nodes}
    said = f"{'To be deleted' if done.dry_run else 'Deleted'} of {done.name}: {counts(parts)}."
    return f"{said} What it said of {done.judged:,} memories counts on, under no name." if done.judged else said


def _told(done: Blocked, verb: str) -> Answer:
    text = f"{verb} {len(done.memories)} memories of {done.source}; its signals are about {done.judged}."
    if done.taken_back:
        text += f" What it did to {len(done.taken_back)} of others was taken back, or again."
    return Answer(done, text)

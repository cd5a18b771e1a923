"""bank.exchange: memories in and out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Unpack

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.errors import InvalidInputError
from reasoningbank.exchange.results import Imported
from reasoningbank.filters import FilterOptions
from reasoningbank.memory import State

if TYPE_CHECKING:
    from reasoningbank.services.exchange import export, sheet_transfer, transfer
else:
    export, sheet_transfer, transfer = Later.each(
        "reasoningbank.services.exchange", "export", "sheet_transfer", "transfer"
    )

FORMATS = ("jsonl", "markdown", "agents-md", "skill", "ace")


class Exchange(Namespace):
    """Import and export."""

    def import_from(
        self,
        source: str | os.PathLike[str] | Iterable[str | bytes | Mapping[str, Any]],
        *,
        trusted: bool = False,
        by: str | None = None,
        runs: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Imported:
        """Store the lessons of a file, of a folder, or of any lines or dictionaries.

        A line is a JSON object. It needs `content` or `text`; it may have title, description, applies_when, outcome
        ("success" when it says nothing), tags, id, occurred_at, expires_at or ttl, and metadata. Whatever else it says
        becomes metadata. Good lines are kept when others are bad, and the answer says which were bad and why. Importing
        the same again changes nothing: a lesson is known by its id or by what it says. One that is the same in a looser
        form only is stored, and named; those that are near by meaning are not looked for. A lesson that somebody took
        out of service here stays there, and is named.

        Also understood: a JSON array; exports of mem0, ReMe, PyPI's reasoning-bank and the ReasoningBank paper's code;
        items of LangGraph stores; the `memory.jsonl` of the official memory server; the `.swarm/memory.db` of
        agentic-flow and claude-flow; Markdown pages or a folder of them: one lesson with front matter, a skill, a page
        of many sections or rules (LESSONS.md, AGENTS.md, `.mdc`), an ACE playbook. Each section or rule is one lesson;
        its place is in `metadata["place"]`. What `export_to` wrote into a page is left out.

        Args:
            source: a path, or lines (an open file, say).
            trusted: the lines are as good as your own. What `export_to` wrote then comes back as it was: sources,
                times, states, pins, history, evidence and with it the confidences. Otherwise memories start at 0.6, and
                all of one import together can take only one slot of a result.
            by: the source to name; the file's name when None.
            runs: take the runs of an export as well, with their steps: cleaned, and each as long as the setting
                `trajectory_limit` lets it be. Only of a trusted file: what is said to have happened counts in metrics.
            dry_run: store nothing, and answer with the lessons that would be made (`planned`).
            progress: called with (lines done, lines in all or None).

        Raises:
            InvalidInputError: the file cannot be read, or is of no form that is understood; or runs are asked for of
                a file that is not trusted.
            StorageError: the disk refused; what was stored until then stays.
            EmbedderMismatchError: the bank holds vectors of another embedder.
        """
        from reasoningbank.formats.source import Entries, numbered, open_source

        if runs and not trusted:
            raise InvalidInputError(
                "runs are taken from trusted files only: give trusted=True as well, or leave them out"
            )
        opened: contextlib.AbstractContextManager[Entries]
        if isinstance(source, (str, os.PathLike)):
            path = Path(source).expanduser()
            opened, by = open_source(path), by or path.name
        else:
            opened = contextlib.nullcontext(numbered(source))
        with opened as entries:
            return transfer.import_entries(
                self._engine, entries, trusted=trusted, by=by, runs=runs, progress=progress, dry_run=dry_run
            )

    def export_to(
        self,
        target: str | os.PathLike[str] | IO[str],
        *,
        format: Literal["jsonl", "markdown", "agents-md", "skill", "ace"] = "jsonl",
        runs: bool = False,
        state: State | str | None = State.ACTIVE,
        expired: bool | None = False,
        newest_first: bool = False,
        history: bool = False,
        unproven: bool = False,
        progress: Callable[[int], None] | None = None,
        **filters: Unpack[FilterOptions],
    ) -> int:
        """Write the memories in service as they are at one moment; return how many.

        What is archived (retired, superseded, merged, pruned), quarantined or expired stays behind unless it is asked
        for. With `state=None, expired=None, history=True` everything goes along, and `import_from(..., trusted=True)`
        makes the same bank of it again, but for the marks of what was deleted. What was learned about evidence as such
        goes along where no filters are given.

        Args:
            target: a path, which appears whole or not at all; for JSON lines also an open text file.
            format: "jsonl", a memory a line; "markdown", a new folder with a page for each; or a page for agents to
                read: "agents-md" (rules), "skill" (a folder with a SKILL.md), "ace" (a playbook). Such a page holds the
                active lessons that are proven, between two marks: the next export replaces its own part of the file
                and leaves the rest alone.
            runs: behind the memories, write every run, a line each: its task, verdict, what it was handed, what was
                learned from it, and the steps that are kept. Off by default: lessons are made to be passed on, the
                transcripts of runs are not, and they are many times as large. JSON lines only.
            state: only memories in this state; whatever the state when None.
            expired: False leaves out what has expired, True what has not, None nothing.
            newest_first: what happened last comes first; else in the order they were recorded.
            history: also what memories said before they were changed, with the evidence that it had, by which
                `upkeep.restore` of a revision goes on working; not in pages for agents.
            unproven: pages for agents hold all active lessons.
            progress: called with the number of memories written.
            filters: see FilterOptions.

        Raises:
            InvalidInputError: an unknown format, one that holds no runs, a folder that is there already, or filters
                that ask for what no memory has.
            StorageError: the target cannot be written.
        """
        wanted = arguments.listed(filters, self._engine.now, state=state, expired=expired)
        chosen = export.Chosen(wanted, whole=not filters, newest_first=newest_first, history=history)
        export.check_chosen(self._engine, chosen)
        lines = partial(export.export_lines, self._engine, progress=progress, runs=runs, chosen=chosen)
        if not isinstance(target, (str, os.PathLike)):
            if format != "jsonl":
                raise InvalidInputError(f"format {format!r} needs a folder: give its path")
            return lines(target)
        path = Path(target).expanduser()
        if format == "jsonl":
            return export.write_whole(path, lines)
        if format not in FORMATS:
            raise InvalidInputError(f"format {format!r} is not one of {', '.join(FORMATS)}")
        if runs:
            raise InvalidInputError(f"format {format!r} holds no runs: give format='jsonl', or leave them out")
        if format != "markdown":
            if history:
                raise InvalidInputError(f"format {format!r} holds no history: leave it out, or give another format")
            return sheet_transfer.export_sheet(
                self._engine, path, format, unproven=unproven, progress=progress, chosen=chosen
            )
        return export.export_pages(self._engine, path, progress, chosen=chosen)

"""What distill reads from files and folders, and what it says came of it."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from reasoningbank.cli.terminal import counts, sentence

if TYPE_CHECKING:
    from reasoningbank import Distilled, JudgeUnavailableError, Trajectory
    from reasoningbank.runs import BadLine

    Outcome = Distilled | JudgeUnavailableError


@dataclass(frozen=True, slots=True)
class FileRead:
    """What was in a file.

    Attributes:
        digest: tells the file and how it is distilled from others; "" of one that is no part of a folder.
        done, of: how many files are done with this one, and of how many.
        known: it was distilled before, so it was not read.
    """

    name: str
    read: list[Trajectory | BadLine]
    digest: str = ""
    done: int = 1
    of: int = 1
    known: bool = False

    @property
    def has_runs(self) -> bool:
        """Whether there is a run in it."""
        from reasoningbank.runs import BadLine

        return any(not isinstance(each, BadLine) for each in self.read)


def files_read(path: Path, form: str | None, way: str, before: Callable[[str], bool]) -> Iterator[FileRead]:
    """Yield what is in each file of a path.

    A file in a folder that cannot be read is a bad line; one that is given by its name raises InvalidInputError.

    Args:
        way: how the files are distilled, for their digests.
        before: tells by its digest whether a file of a folder was distilled before.
    """
    from reasoningbank import InvalidInputError
    from reasoningbank.distill import read_runs
    from reasoningbank.distill.run_files import read_source
    from reasoningbank.distill.run_folders import sources_in
    from reasoningbank.runs import BadLine

    if str(path) == "-" or not path.is_dir():
        yield FileRead(str(path), list(read_runs(sys.stdin if str(path) == "-" else path, form=form)))
        return
    sources = sources_in(path)
    for done, source in enumerate(sources, start=1):
        digest, read = "", []
        try:
            digest = f"{source.digest()}-{hashlib.sha256(way.encode()).hexdigest()[:16]}"
            known = before(digest)
            read = [] if known else list(read_source(source, form))
        except (InvalidInputError, OSError) as error:
            known, read = False, [BadLine(0, str(error))]
        yield FileRead(str(source.path.relative_to(path)), read, digest, done, len(sources), known)


def is_over(outcome: Outcome) -> bool:
    """Tell whether a run was distilled for good: with lessons, or because it teaches nothing."""
    return not isinstance(outcome, Exception) and outcome.status.value in ("done", "empty")


class Summary:
    """What was read, and what came of it; a run without a verdict failed."""

    def __init__(self) -> None:
        self.came: list[Outcome] = []
        self.kept: list[Trajectory] = []
        self.bad_lines: list[dict[str, Any]] = []
        self.sources: list[dict[str, Any]] = []
        self.left_out: Counter[str] = Counter()
        self.runs = self.known = self.repeated = 0
        self.file_of: dict[str, str] = {}

    def read(self, one: FileRead) -> list[Trajectory]:
        """Count what was in a file; return its runs, without those that another file held already."""
        from reasoningbank.runs import BadLine

        told = [run for run in one.read if not isinstance(run, BadLine)]
        bad_lines = [bad for bad in one.read if isinstance(bad, BadLine)]
        runs = [run for run in told if run.is_empty or self._is_first(run, one.name)]
        self.repeated += len(told) - len(runs)
        source = one.name
        self.known += one.known
        self.runs += len(runs)
        self.left_out.update(each.what for run in runs for each in run.left_out)
        self.bad_lines += [{"file": source, "line": bad.number, "reason": bad.reason} for bad in bad_lines]
        self.sources += [
            {
                "file": source,
                "form": run.form,
                "steps": len(run.steps),
                "left_out": [str(each) for each in run.left_out],
            }
            for run in runs
        ]
        return runs

    def _is_first(self, run: Trajectory, file: str) -> bool:
        """Tell whether no other file before this one held a run in which the same happened."""
        from reasoningbank.runs.jobs import run_key

        return self.file_of.setdefault(run_key(run), file) == file

    @property
    def is_partial(self) -> bool:
        """Whether something could not be read or distilled, or there was nothing to read."""
        return bool(
            self.bad_lines or not (self.runs or self.known) or any(isinstance(each, Exception) for each in self.came)
        )

    def counted(self) -> dict[str, Any]:
        """Return the figures, and what was read as what."""
        drawn = [each for each in self.came if not isinstance(each, Exception)]
        recorded = [made for each in drawn for made in each.recorded]
        memories = [made.memory.id for made in recorded if made.created]
        reasons = [str(each) if isinstance(each, Exception) else each.result.reason for each in self.came]
        return {
            "runs": self.runs,
            "files_known": self.known,
            "repeated": self.repeated,
            "forms": dict(Counter(run["form"] for run in self.sources)),
            "statuses": dict(
                Counter("failed" if isinstance(each, Exception) else each.status.value for each in self.came)
            ),
            "lessons": len(memories),
            "duplicates": sum(len(each.duplicates) for each in drawn),
            "possible_duplicates": {m.memory.id: m.possible_duplicate_of for m in recorded if m.possible_duplicate_of},
            "held": {made.memory.id or made.memory.title: made.held for made in recorded if made.held},
            "rejected": dict(Counter(rejection.reason for each in drawn for rejection in each.result.rejected)),
            "reasons": dict(Counter(filter(None, reasons))),
            "left_out": dict(self.left_out),
            "bad_lines": self.bad_lines,
            "read": self.sources,
            "memories": memories,
        }


NOT_AGAIN = {
    "files_known": "files were distilled before, and not read again (--again reads them)",
    "repeated": "runs were in another file too, and count once",
}


def told(console: Console, counted: Mapping[str, Any]) -> None:
    again = f", {counted['duplicates']:,} known already" if counted["duplicates"] else ""
    runs = f"{counted['runs']:,} runs ({counts(counted['statuses']) or 'none'})"
    sentence(console, f"{runs}: {counted['lessons']:,} lessons{again}.")
    for memory_id, other in counted["possible_duplicates"].items():
        sentence(console, f"{memory_id} may say the same as {other}.", "yellow")
    for memory_id, why in counted["held"].items():
        sentence(console, f"{memory_id} stays out of service ({why}); restore puts it back.", "yellow")
    for name in filter(counted.get, NOT_AGAIN):
        sentence(console, f"  {counted[name]:,} {NOT_AGAIN[name]}", "dim")
    if counted["forms"]:
        sentence(console, f"  read as {counts(counted['forms'])}", "dim")
    for reason, times in {**counted["rejected"], **counted["reasons"]}.items():
        sentence(console, f"  {times:,} × {reason}", "dim")
    for what, times in counted["left_out"].items():
        sentence(console, f"  left out of {times:,} runs: {what}", "dim")
    several = len({bad["file"] for bad in counted["bad_lines"]} | {run["file"] for run in counted["read"]}) > 1
    for bad in counted["bad_lines"]:
        at = f"{bad['file']}, line {bad['line']}" if several else f"Line {bad['line']}"
        sentence(console, f"{at} is no run: {bad['reason']}", "yellow")

"""Tasks, the ways to go about them, and what became of an attempt."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 20.0
LONGEST_PROBLEM = 160


@dataclass(frozen=True, slots=True)
class Approach:
    """One way to go about a task.

    Attributes:
        does: what it does, in words; reads on after "to".
        command: what is run in the task's folder.
    """

    does: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task is tried.

    Attributes:
        variant: 0 or 1: other names and numbers, the same kind of task.
        resources: what has to stay open while it is tried.
    """

    folder: Path
    variant: int
    resources: ExitStack = field(default_factory=ExitStack)

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file, with its folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@dataclass(frozen=True, slots=True)
class Task:
    """Something to be done, once in these words and once in others.

    Attributes:
        approaches: the ways the agent knows, the one it likes best first.
        prepare: writes the files.
        check: says what is wrong with what was done and answered; nothing when all is well.
    """

    name: str
    words: tuple[str, str]
    approaches: tuple[Approach, ...]
    prepare: Callable[[Place], None]
    check: Callable[[Place, str], str]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try.

    Attributes:
        answer: what the command printed.
        problem: what went wrong, in words; empty when the check passed.
    """

    approach: Approach
    answer: str
    problem: str

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        return not self.problem


def sh(script: str) -> tuple[str, ...]:
    """Return the command that runs a shell script, with the same sorting order on every machine."""
    return ("sh", "-c", f"export LC_ALL=C; {script}")


def py(code: str) -> tuple[str, ...]:
    """Return the command that runs Python code, in an interpreter of its own."""
    return (sys.executable, "-I", "-S", "-X", "utf8", "-c", code)


def answers(first: str, second: str) -> Callable[[Place, str], str]:
    """Return the check for a task that is done when the right answer is printed."""

    def check(place: Place, answer: str) -> str:
        right = (first, second)[place.variant]
        return "" if answer == right else f"the answer was {answer or 'empty'}, but {right} is right"

    return check


def attempt(task: Task, approach: Approach, folder: Path, variant: int) -> Attempt:
    """Try a task in a new folder, for real."""
    folder.mkdir()
    with ExitStack() as resources:
        place = Place(folder, variant, resources)
        task.prepare(place)
        ran = _ran(approach.command, folder)
        answer = ran.stdout.strip()
        problem = _complaint(ran, folder) if ran.returncode else task.check(place, answer)
    return Attempt(approach, answer, problem[:LONGEST_PROBLEM])


def _ran(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, returncode=1, stdout="", stderr=str(error))


def _complaint(ran: subprocess.CompletedProcess[str], folder: Path) -> str:
    lines = ran.stderr.strip().splitlines() or [f"it ended with exit code {ran.returncode}"]
    return lines[-1].replace(str(folder), ".").strip()

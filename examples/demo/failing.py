"""A command that fails twice: the first time it teaches a lesson, the second time that lesson comes up by itself."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from reasoningbank import ReasoningBank
from reasoningbank.runs import FailureRecall

COMMAND, FIX = "sh publish.sh", "mkdir -p build/site"
SCRIPT = "# put the page where the server looks for it\necho '<h1>Hello</h1>' > build/site/index.html\n"


@dataclass(frozen=True, slots=True)
class Failed:
    """A command failed in another folder than before.

    Attributes:
        output: what it printed.
        recall: what is known of it.
        repaired: whether the same command succeeded after what the lesson says was done.
        before, after: the bank's belief in the lesson.
    """

    command: str
    output: str
    recall: FailureRecall
    repaired: bool
    before: float
    after: float


def fail_twice(bank: ReasoningBank, workshop: Path) -> Failed:
    """Run a command that fails, note what helped, and run it in another folder, where it fails again."""
    first, second = workshop / "shop", workshop / "blog"
    _, output = _run(COMMAND, first)
    _run(FIX, first)
    helped, _ = _run(COMMAND, first)
    lesson = bank.record(
        f"Before `{COMMAND}`: {FIX}",
        f"It failed since the folder was not there. After `{FIX}` it {'worked' if helped else 'failed too'}.",
        outcome="failure",
        signatures=[output],
    ).memory
    _, output = _run(COMMAND, second)
    found = bank.recall_failure(output, command=COMMAND, exit_code=1, task="publish the blog")
    repaired = False
    if FIX in found.text:
        _run(FIX, second)
        repaired, _ = _run(COMMAND, second)
        if repaired:
            bank.report_act(found.ref, command=COMMAND)
        bank.report(repaired, ref=found.ref)
    return Failed(COMMAND, output, found, repaired, lesson.confidence, bank.get(lesson.id).confidence)


def _run(command: str, folder: Path) -> tuple[bool, str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "publish.sh").write_text(SCRIPT)
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S602
    return done.returncode == 0, done.stdout + done.stderr

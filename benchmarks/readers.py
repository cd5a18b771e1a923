"""How much of run files is read: python -m benchmarks.readers --data FOLDER --json

FOLDER holds run files of any form, and beside each what is in it: `NAME.expected.json` (NAME with or without its
ending), an object, or a list of one object for each run in the file. NAME may be a folder whose files are the events
of one run; what is in it is then not looked for by itself.

    {"task": "words that the task holds", "steps": 3, "failures": [1], "verdict": "failure"}

`steps` counts the acts. `failures` has the numbers of the acts that failed, from 0, or how many these are. What is
not stated is not judged. A file is read whole when all its runs are there with their task, acts and verdict. A file is
silent when nothing came of it and nothing was said.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasoningbank import InvalidInputError, Trajectory
from reasoningbank.distill import read_runs

EXPECTED = ".expected.json"


@dataclass(slots=True)
class Score:
    """What was found of what there is; `failures` counts those that are true, found, and there."""

    files: int = 0
    whole: int = 0
    silent: int = 0
    steps_found: int = 0
    steps: int = 0
    failures_true: int = 0
    failures_found: int = 0
    failures: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the shares, each 1 where there was nothing to find."""
        return {
            "files": self.files,
            "whole": _share(self.whole, self.files),
            "steps": _share(self.steps_found, self.steps),
            "failures": {
                "precision": _share(self.failures_true, self.failures_found),
                "recall": _share(self.failures_true, self.failures),
            },
            "silent": self.silent,
        }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def measure(folder: Path, score: Score | None = None) -> tuple[Score, list[str]]:
    """Read every file that has its expectation beside it; return the score, and a line for each that is not whole."""
    score = score or Score()
    lines = []
    for file in sorted(folder.rglob("*")):
        expected = _expected(file)
        if expected is None:
            continue
        score.files += 1
        try:
            read = list(read_runs(file))
        except InvalidInputError as error:
            lines.append(f"{file.name}: {error}"[:300])
            read = []
            told = True
        else:
            told = any(not isinstance(each, Trajectory) or each.left_out for each in read)
        runs = [each for each in read if isinstance(each, Trajectory)]
        score.silent += not told and all(run.is_empty for run in runs)
        wrong = _judge(runs, expected, score)
        score.whole += not wrong
        if wrong:
            lines.append(f"{file.name} ({', '.join(run.form for run in runs) or 'no run'}): {'; '.join(wrong)}"[:300])
    return score, lines


def _expected(file: Path) -> list[dict[str, Any]] | None:
    if file.name.endswith(EXPECTED):
        return None
    for beside in (file.with_name(file.name + EXPECTED), file.with_name(file.stem + EXPECTED)):
        if beside.is_file():
            said = json.loads(beside.read_text("utf-8"))
            return said if isinstance(said, list) else [said]
    return None


def _judge(runs: Sequence[Trajectory], expected: Sequence[dict[str, Any]], score: Score) -> list[str]:
    """Count what is there of what is expected; return what is wrong, in words."""
    wrong = [] if len(runs) == len(expected) else [f"{len(runs)} runs, not {len(expected)}"]
    for number, said in enumerate(expected):
        run = runs[number] if number < len(runs) else Trajectory()
        acts = [step for step in run.steps if step.action]
        failed = [count for count, step in enumerate(acts) if step.error]
        if _words(said.get("task", "")) not in _words(run.task):
            wrong.append(f"task {run.task!r:.60}")
        if "steps" in said:
            score.steps += said["steps"]
            score.steps_found += min(len(acts), said["steps"])
            wrong += [] if len(acts) == said["steps"] else [f"{len(acts)} acts, not {said['steps']}"]
        if "failures" in said:
            _count_failures(failed, said["failures"], score)
        if "verdict" in said and run.verdict != said["verdict"]:
            wrong.append(f"verdict {run.verdict}")
    return wrong


def _count_failures(found: Sequence[int], there: int | Sequence[int], score: Score) -> None:
    of_them = min(len(found), there) if isinstance(there, int) else len(set(found) & set(there))
    score.failures_true += of_them
    score.failures_found += len(found)
    score.failures += there if isinstance(there, int) else len(there)


def _words(text: str) -> str:
    return " ".join(text.casefold().split())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the score; 1 when there is no file with its expectation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    given = parser.parse_args(arguments)
    score, lines = measure(given.data)
    for line in lines:
        print(line, file=sys.stderr)
    figures = score.as_json()
    print(json.dumps(figures) if given.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))
    return 0 if score.files else 1


if __name__ == "__main__":
    sys.exit(main())

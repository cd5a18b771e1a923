"""Is the lesson about an error found when the same error happens elsewhere, and nothing when the error is unknown?

    python -m benchmarks.failures [--json] [--tuning]

The errors are what really failing commands printed in two folders (`make.py`). A lesson of each known family is
recorded with the output of the first; the output of the second is what fails, alone and behind 200 and 5,000 lines of
log. Half of the families are set aside: rules and limits were chosen on the others (`--tuning`), whose lessons are in
the bank as well. Of those set aside one half is known and the other is not, and then the other way round.
With --json the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.failures.make import CORPUS
from reasoningbank import ReasoningBank

LINES = (0, 200, 5_000)
DOUBLINGS = (60_000, 120_000, 240_000)  # characters

# What builds print that go well; some of it looks like trouble, and is none.
LOG = (
    "Collecting {w}=={a}.{b}.{c}", "  Downloading {w}-{a}.{b}-py3-none-any.whl ({a}{b} kB)", "Requirement already satisfied: {w}>={a}.{b}",
    "[{a}/{b}] Building CXX object src/CMakeFiles/{w}.dir/{w}_error.cpp.o", "gcc -Wall -O2 -c src/{w}.c -o build/{w}.o",
    "npm http fetch GET 200 https://registry.npmjs.org/{w} {b}ms (cache hit)", "tests/test_{w}.py::test_error_{w} PASSED [ {a}%]",
    "#{a} {b}.{c} Get:{a} http://deb.debian.org/debian bookworm/main amd64 lib{w} amd64 {a}.{b}", "   Compiling {w} v{a}.{b}.{c}",
    "2026-03-0{d}T11:22:{b}Z INFO {w}: handled request {a} in {b} ms", "0 errors, {a} warnings", "  adding: {w}/failure_modes.md (deflated {b}%)",
    "INFO: retrying is not needed, {w} is ready", "checking for {w}.h... yes", "ok      example.com/{w}/errors  0.{b}s", "\tmodified:   src/{w}/exceptions.py",
    "src/{w}.c:{a}:{b}: warning: unused variable 'err' [-Wunused-variable]", "Step {a}/{b} : RUN make {w}", " ---> {a}f{b}c{c}e0{d}b1", "DEBUG {w} exit status 0",
)  # fmt: skip
WORDS = ("zlib", "request", "parser", "storage", "router", "crypto", "widget", "logger", "schema", "worker", "vector")


def corpus() -> list[dict[str, Any]]:
    """Return the families."""
    return [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]


def share(family: dict[str, Any], parts: int, salt: str) -> int:
    """Return which of some parts a family belongs to, the same at each run and whatever others there are."""
    return hashlib.sha256(f"{salt}{family['tool']} {family['name']}".encode()).digest()[0] % parts


def is_set_aside(family: dict[str, Any]) -> bool:
    """Tell whether nothing may be chosen on a family."""
    return share(family, 2, "") == 1


def log(lines: int, seed: str) -> str:
    """Return so many lines of a build's log."""
    chance = random.Random(seed)
    numbers = ({name: chance.randrange(1, 99) for name in "abc"} | {"d": chance.randrange(1, 9)} for _ in range(lines))
    return "".join(chance.choice(LOG).format(w=chance.choice(WORDS), **each) + "\n" for each in numbers)


def lesson(family: dict[str, Any]) -> dict[str, Any]:
    """Return what somebody noted about a family where it happened first."""
    first = family["runs"][0]
    return {
        "title": f"{family['tool']}: {family['name']}",
        "content": f"When `{first['command'][:200]}` fails like this, do what worked for {family['name']}.",
        "outcome": "failure",
        "signatures": [first["output"][-15_000:]],
        "metadata": {"family": f"{family['tool']} {family['name']}"},
    }


def asked(bank: ReasoningBank, families: Iterable[dict[str, Any]], lines: int) -> list[tuple[str, list[str]]]:
    """Return each family's name, and the families of what is handed out when it fails elsewhere."""
    answers = []
    for family in families:
        name, again = f"{family['tool']} {family['name']}", family["runs"][1]
        found = bank.recall_failure(log(lines, name) + again["output"], exit_code=again["exit_code"])
        answers.append((name, [str(memory.metadata["family"]) for memory in found.memories]))
    return answers


def measure(families: Sequence[dict[str, Any]], *, judged: bool, show: bool = False) -> dict[str, Any]:
    """Return the shares of known errors found first, and of unknown ones left alone, by the lines of log before."""
    asked_of = [family for family in families if is_set_aside(family) is judged]
    others = [family for family in families if is_set_aside(family) is not judged]
    hits: dict[int, list[bool]] = {lines: [] for lines in LINES}
    silent: dict[int, list[bool]] = {lines: [] for lines in LINES}
    for fold in (0, 1):
        known = [family for family in asked_of if share(family, 2, "fold") == fold]
        unknown = [family for family in asked_of if share(family, 2, "fold") != fold]
        with tempfile.TemporaryDirectory() as root, ReasoningBank(root, tenant="bench", project="failures") as bank:
            bank.record_many([lesson(family) for family in (*known, *others)])
            for lines in LINES:
                for name, found in asked(bank, known, lines):
                    hits[lines].append(found[:1] == [name])
                    if show and found[:1] != [name]:
                        print("missed", lines, name, found)
                for name, found in asked(bank, unknown, lines):
                    silent[lines].append(not found)
                    if show and found:
                        print("false", lines, name, found)
    return {
        "families": len(families),
        "judged": len(asked_of),
        "hit@1": {str(lines): sum(of) / len(of) for lines, of in hits.items()},
        "silent_on_unknown": {str(lines): sum(of) / len(of) for lines, of in silent.items()},
    }


def per_length() -> dict[str, float]:
    """Return the seconds that an output of each length takes, the best of three."""
    with tempfile.TemporaryDirectory() as root, ReasoningBank(root, tenant="bench", project="length") as bank:
        bank.record("Nothing", "Nothing of the kind.", outcome="failure")
        seconds = {}
        for length in DOUBLINGS:
            output = log(length // 20, "length")[:length]
            times = []
            for _ in range(3):
                start = time.perf_counter()
                bank.recall_failure(output)
                times.append(time.perf_counter() - start)
            seconds[str(length)] = round(min(times), 4)
    return seconds


def table(result: dict[str, Any]) -> Table:
    """Return the result for people."""
    shown = Table("lines of log before", "same error found first", "silent on unknown errors", title="Failures")
    for lines in LINES:
        shown.add_row(
            f"{lines:,}", f"{result['hit@1'][str(lines)]:.3f}", f"{result['silent_on_unknown'][str(lines)]:.3f}"
        )
    return shown


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.failures", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--tuning", action="store_true", help="on the families that are not set aside, naming misses")
    arguments = parser.parse_args()
    result = measure(corpus(), judged=not arguments.tuning, show=arguments.tuning)
    result["seconds_by_length"] = per_length()
    if arguments.json:
        print(json.dumps(result))
    else:
        Console().print(table(result))


if __name__ == "__main__":
    main()

"""Which errors of its run a lesson answers, by stated rules.

A failure and what came after it belong together when the same was tried again and worked (`reading.Trouble.resolved`)
and something was done otherwise or in between: most often the next command has nothing to do with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reasoningbank.diagnostics import mentioned
from reasoningbank.distill.reading import Trouble, read
from reasoningbank.memory import SAID, Draft
from reasoningbank.runs.trajectory import Trajectory

MOST, LONGEST = 4, 15_000  # outputs, and characters of the end of each

# A lesson about a failure says so in one of these words.
FAILING = re.compile(
    r"(?i)\b(?:fail\w*|errors?|exceptions?|missing|not (?:found|there|known|allowed|installed)|unknown|invalid|denied|"
    r"refused|rejected|broken|crash\w*|time[ds]? ?out|conflict\w*|cannot|can't|unable|wrong|complain\w*|raises?|says)\b"
)
_WORD = re.compile(r"[^\W\d_]{4,}")
# Words of most messages and most lessons, which tell nothing of what either is about.
_COMMON = frozenset(
    {
        "error",
        "failed",
        "failure",
        "fail",
        "exception",
        "traceback",
        "recent",
        "last",
        "call",
        "line",
        "file",
        "command",
    }
    | {"code", "exit", "statu", "with", "from", "that", "this", "when", "what", "then", "there", "doe", "have", "been"}
    | {"before", "after", "again", "instead", "already", "same", "other", "only", "into", "your", "must", "cannot"}
    | {"could", "should", "would", "invalid", "unknown", "missing", "found", "such", "wrong", "because", "make", "sure"}
    | {"first", "check", "name", "named", "value", "expected", "unexpected", "fatal", "warning", "object", "type"}
    | {"none", "true", "false", "step"}
)


def overcome(run: Trajectory) -> list[Trouble]:
    """Return the failures of a run after which the same worked since something was done about it."""
    return [t for t in read(run).troubles if t.resolved and (t.changed or t.after or t.instead)]


def outputs_with(run: Trajectory, said: Iterable[str]) -> tuple[str, ...]:
    """Return the outputs of a run that hold one of some lines, each once: what signatures are read from."""
    lines = [line for line in said if line]
    outputs = (step.error or step.observation for step in run.steps)
    return tuple(dict.fromkeys(out[-LONGEST:] for out in outputs if any(line in out for line in lines)))[:MOST]


def answered_by(draft: Draft, runs: Sequence[Trajectory]) -> tuple[str, ...] | None:
    """Return the outputs with the errors that a lesson in free words answers; None where nothing says so.

    It answers what was overcome in a run if it speaks of a failure, and of this one: it has a telling word of the
    command, or of the message. Where it names errors itself, those are the ones.
    """
    texts = [getattr(draft, name) for name in SAID]
    told = "\n".join(texts)
    if mentioned(*texts) or not FAILING.search(told):
        return None
    words = _telling(told)
    found = dict.fromkeys(
        output
        for run in runs
        for output in outputs_with(run, [t.said for t in overcome(run) if words & _telling(f"{t.what} {t.said}")])
    )
    return tuple(found)[:MOST] or None


def _telling(text: str) -> set[str]:
    # "modules" and "module", "ModuleNotFoundError" and "module".
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text).lower()
    return {word.rstrip("s") for word in _WORD.findall(parts)} - _COMMON

"""How a file says that its run ended, read by stated rules (docs/guides/distillation.md#how-a-run-ended)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.values import get, is_list, label
from reasoningbank.runs.transcript import as_text
from reasoningbank.verdict import Verdict, as_verdict, outcome_of

# Records inside a record that hold the evaluation of the run.
NESTED = (
    "report", "test_result", "test_results", "tests", "evaluation", "eval", "eval_result", "evaluation_result",
    "reward_info", "verifier_result", "rewards", "metrics", "info", "evaluation_details", "scores", "result",
)  # fmt: skip
# A run that is over, or not yet; which says nothing of whether it succeeded.
LIFECYCLE = frozenset({
    "completed", "complete", "finished", "done", "ended", "submitted", "exited", "stopped", "stop", "running", "open",
    "closed", "endturn", "active", "archived", "cancelled", "canceled", "aborted", "interrupted", "timeout", "pending",
    "queued", "inprogress", "incomplete", "terminated", "ready", "idle", "started", "ok", "agentstatefinished", "unset",
})  # fmt: skip
MAXIMA = ("max_score", "maxScore", "max_reward", "score_max", "out_of", "possible", "max_points")
REASONS = (
    "verdict_reason", "judge_reason", "failure_reason", "reason", "rationale", "explanation", "justification",
    "comment",
)  # fmt: skip
PASSED = ("tests_passed", "passed_tests", "num_passed", "n_passed", "passed", "passes", "pass_count")
FAILED = ("tests_failed", "failed_tests", "num_failed", "n_failed", "failed", "failures", "fails", "fail_count")
TOTAL = ("tests_total", "total_tests", "num_tests", "n_tests", "total", "total_count")
DEPTH = 3
# Where a judge's record says what it found.
LABELS = ("verdict", "label", "outcome", "value", "score", "passed", "success", "result", "status")
SHARE = re.compile(r"\d{1,9}(?:\.\d{1,9})?\s*(?:/\s*\d{1,9}(?:\.\d{1,9})?|%)")


def stated(says: Iterable[Any], ledger: Ledger) -> tuple[Verdict | None, str]:
    """Return the verdict that records state, and the reason given with it; None where nothing states one.

    Of one record the weightiest statement counts, in the order of RULES; a record that states none is asked for the
    records of an evaluation inside it. What looks like a verdict and is not understood is noted.
    """
    for record in says:
        verdict = _stated_in(record, ledger, DEPTH)
        if verdict is not None:
            return verdict, as_text(get(record, *REASONS[:3]))
    return None, ""


def _stated_in(record: Any, ledger: Ledger, depth: int) -> Verdict | None:
    if not isinstance(record, Mapping):
        return None
    for names, rule in RULES:
        for name in names:
            value = record.get(name)
            if value is None or value == "":
                continue
            verdict = (_inside if isinstance(value, Mapping) else rule)(name, value, record, ledger)
            if verdict is not None:
                return verdict
    verdict = _tests(record)
    inner = [record.get(name) for name in NESTED if isinstance(record.get(name), Mapping)] if depth else []
    for nested in inner:
        verdict = _stated_in(nested, ledger, depth - 1) if verdict is None else verdict
    return verdict


def _inside(name: str, value: Mapping[str, Any], _record: Mapping[str, Any], ledger: Ledger) -> Verdict | None:
    """Read a judge's record, such as {"label": "fail", "reason": …}, in the place of a verdict."""
    stated_there = get(value, *LABELS)
    if stated_there is None or isinstance(stated_there, Mapping):
        ledger.note(f"{name} {as_text(value):.60}, which is no verdict that is known", name)
        return None
    return _word(name, stated_there, value, ledger)


def _word(name: str, value: Any, record: Mapping[str, Any], ledger: Ledger) -> Verdict | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _share(name, value, record, ledger)
    value = getattr(value, "value", value)
    verdict = _of_word(name, value, record)
    if verdict is None and label(value) not in LIFECYCLE:
        ledger.note(f"{name} {value!r:.60}, which is no verdict that is known", name)
    return None if verdict is Verdict.UNKNOWN else verdict


def _of_word(name: str, value: Any, record: Mapping[str, Any]) -> Verdict | None:
    """Read a word: of a verdict, of the life of a run (which says none), of a lesson's outcome, or a score as text."""
    try:
        return as_verdict(value)
    except InvalidInputError:
        if label(value) in LIFECYCLE:
            return None
        return outcome_of(value) or (_share(name, value, record, Ledger()) if _is_share(value) else None)


def _flag(name: str, value: Any, record: Mapping[str, Any], ledger: Ledger) -> Verdict | None:
    """Read true, false, 1, 0 and words; a list or a count under such a name says something else."""
    return None if is_list(value) else _word(name, value, record, ledger)


def _yes(_name: str, value: Any, _record: Mapping[str, Any], _ledger: Ledger) -> Verdict | None:
    """Read true and false only; a number under such a name is a count, which `_tests` reads."""
    return as_verdict(value) if isinstance(value, bool) else None


def _share(name: str, value: Any, record: Mapping[str, Any], ledger: Ledger) -> Verdict | None:
    """Read a reward or score: the most there is is a success; nothing, or less, a failure; between, a partial one."""
    try:
        number, most = _as_share(value) if _is_share(value) else (float(value), float(get(record, *MAXIMA) or 1))
    except (TypeError, ValueError, OverflowError):
        number, most = math.nan, 1.0
    if not math.isfinite(number) or not 0 < most < math.inf or number > most:
        ledger.note(f"{name} {value!r:.60}, which is not on a scale that is known", name)
        return None
    if number <= 0:
        return Verdict.FAILURE
    return Verdict.SUCCESS if number >= most else Verdict.PARTIAL


def _is_share(value: Any) -> bool:
    return isinstance(value, str) and SHARE.fullmatch(value.strip()) is not None


def _as_share(value: str) -> tuple[float, float]:
    """Return a text such as "3/5" or "60 %" as a number and the most that it can be."""
    number, _, most = value.partition("/")
    return float(number.strip(" %")), float(most) if most else 100.0


def _tests(record: Mapping[str, Any]) -> Verdict | None:
    """Read test counts, when two of passed, failed and total are there: all passed is a success, else a failure."""
    passed, failed, total = (_count(record, names) for names in (PASSED, FAILED, TOTAL))
    if passed is not None and failed is None and total is not None:
        failed = total - passed
    if failed is not None and passed is None and total is not None:
        passed = total - failed
    if passed is None or failed is None or passed + failed <= 0:
        return None
    return Verdict.SUCCESS if failed <= 0 else Verdict.FAILURE


def _count(record: Mapping[str, Any], names: Iterable[str]) -> int | None:
    for name in names:
        value: Any = record.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if is_list(value):
            return len(value)
    return None


Rule = Callable[[str, Any, Mapping[str, Any], Ledger], "Verdict | None"]
# The weightiest statement first: a verdict in words, then what an evaluation says, then numbers, then a status.
RULES: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("verdict", "outcome"), _word),
    (("resolved", "is_resolved", "solved", "is_solved", "success", "succeeded", "is_success", "is_successful",
      "task_success", "correct", "is_correct"), _flag),
    (("passed", "pass"), _yes),
    (("reward", "final_reward", "total_reward", "score", "final_score", "correctness"), _share),
    (("status", "final_status"), _word),
)  # fmt: skip

"""What judges and evaluators say, in whatever form they say it, read as a verdict and why. A table, and no guessing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from reasoningbank.checks import is_junit, of_exit_code, read_junit, read_pytest
from reasoningbank.errors import InvalidInputError, in_short
from reasoningbank.verdict import Verdict, as_verdict

PASS_MARK = 0.5
"""A score from 0 to 1 that is at least this is a success, and one below it a failure."""

LEAST_STRENGTH = 0.1
"""How strongly a score says what it says: twice its distance from one half, and never less than this."""

# How evaluators name what they say, the most telling first: LlamaIndex gives `passing` beside a score of 1 to 5, and
# Langfuse a category's text beside its number.
SAID = (
    *("verdict", "passing", "passed", "success", "score", "stringValue", "string_value", "value", "label", "outcome"),
    *("results", "result", "criteria", "exit_code", "exitcode", "returncode"),
)
EXIT_CODES = frozenset({"exit_code", "exitcode", "returncode"})
WHY = ("comment", "reason", "reasons", "reasoning", "feedback", "explanation")
WHO = ("by", "key", "name")
LONGEST_REASON, MOST_REASONS = 500, 8


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of a run, why, who it is, and how strongly it says so, in (0, 1]."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    by: str = ""
    strength: float = 1.0

    @property
    def reason(self) -> str:
        """The reasons as one text."""
        return " ".join(self.reasons)


def as_judgement(given: Any) -> Judgement:
    """Read what a judge or an evaluator returned.

    Args:
        given: a Judgement, a verdict or its label, a boolean, a score from 0 to 1 (see PASS_MARK), each also as a
            numpy value; None, which is unknown; a pair of one of these and a reason in words; a dictionary or an object
            that has it under one of the names in SAID, as the results of openevals, agentevals, LangSmith, Langfuse and
            LlamaIndex do; a list of results, or `criteria` by name: what they agree on, and partial where they do not;
            an exit code (`exit_code` or, as of subprocess, `returncode`); a test report: JUnit XML, or what pytest
            printed.

    Raises:
        InvalidInputError: it is none of these.
    """
    for fits, read in RULES:
        if fits(given):
            return read(given)
    raise _no_verdict(given)


def reasons_in(value: object) -> tuple[str, ...]:
    """Return reasons that came as a text or as a list of texts, each cut to what is kept."""
    given = [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else []
    texts = (text.strip()[:LONGEST_REASON] for text in given if isinstance(text, str) and text.strip())
    return tuple(texts)[:MOST_REASONS]


def _scored(given: Any) -> Judgement:
    if not 0 <= given <= 1:
        raise InvalidInputError(f"the score {in_short(given)} is not from 0 to 1: return a verdict, or divide it")
    score = float(given)
    strength = max(LEAST_STRENGTH, min(1.0, abs(score - 0.5) * 2.0))
    return Judgement(Verdict.SUCCESS if score >= PASS_MARK else Verdict.FAILURE, strength=strength)


def _reported(text: str) -> Judgement:
    """Read a test report, or a label."""
    suite = read_junit(text) if is_junit(text) else read_pytest(text)
    return Judgement(as_verdict(text)) if suite is None else Judgement(suite.verdict, (str(suite),))


def _named(get: Callable[[str], Any]) -> Judgement:
    name, said = next(((name, value) for name in SAID if (value := get(name)) is not None), ("", None))
    found = _read_under(name, said)
    own = next((reasons for name in WHY if (reasons := reasons_in(get(name)))), ())
    who = next((value for name in WHO if isinstance(value := get(name), str)), "")
    return Judgement(found.verdict, own or found.reasons, who or found.by, found.strength)


def _read_under(name: str, said: Any) -> Judgement:
    if name in EXIT_CODES and isinstance(said, int):
        return Judgement(of_exit_code(said), (f"exit code {said:d}",))
    if name == "criteria" and isinstance(said, Mapping):
        each = {criterion: as_judgement(one) for criterion, one in said.items()}
        told = tuple(f"{criterion}: {one.verdict}" for criterion, one in each.items())[:MOST_REASONS]
        return replace(_agreed(list(each.values())), reasons=told)
    return as_judgement(said)


def _in_mapping(given: Mapping[str, Any]) -> Judgement:
    if not any(name in given for name in SAID):
        raise _no_verdict(given)
    return _named(given.get)


def _in_pair(given: tuple[Any, str]) -> Judgement:
    return replace(as_judgement(given[0]), reasons=reasons_in(given[1]))


def _agreed(given: Iterable[Any]) -> Judgement:
    judgements = [as_judgement(one) for one in given]
    reasons = tuple(reason for one in judgements for reason in one.reasons)[:MOST_REASONS]
    told = [one for one in judgements if one.verdict is not Verdict.UNKNOWN]
    said = {one.verdict for one in told}
    strength = sum(one.strength for one in told) / len(told) if told else 1.0
    return Judgement(
        Verdict.PARTIAL if len(said) > 1 else next(iter(said), Verdict.UNKNOWN), reasons, strength=strength
    )


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], str) and not _is_label(given[1])


def _is_label(text: str) -> bool:
    try:
        return bool(as_verdict(text))
    except InvalidInputError:
        return False


def _no_verdict(given: Any) -> InvalidInputError:
    return InvalidInputError(
        f"{given!r:.100} is no verdict: return success, failure or unknown, a boolean, a score from 0 to 1, "
        f"or a dictionary with one of them under 'verdict' or 'score'"
    )


# What it is, and how it is read; the first that fits counts. numpy's and torch's scalars are known by their shape.
RULES: Sequence[tuple[Callable[[Any], bool], Callable[[Any], Judgement]]] = (
    (lambda given: isinstance(given, Judgement), lambda given: given),
    (lambda given: given is None, lambda _: Judgement(Verdict.UNKNOWN)),
    (lambda given: isinstance(given, bool), lambda given: Judgement(as_verdict(given))),
    (lambda given: isinstance(given, str), _reported),
    (lambda given: getattr(given, "ndim", None) == 0, lambda given: as_judgement(given.item())),
    (lambda given: isinstance(given, Real), _scored),
    (lambda given: isinstance(given, Mapping), _in_mapping),
    (_is_pair, _in_pair),
    (lambda given: isinstance(given, (list, tuple)) and bool(given), _agreed),
    (
        lambda given: any(hasattr(given, name) for name in SAID),
        lambda given: _named(lambda name: getattr(given, name, None)),
    ),
)

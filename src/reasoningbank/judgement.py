"""What judges and evaluators say, in whatever form they say it, read as a verdict and why. A table, and no guessing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.verdict import Verdict, as_verdict

PASS_MARK = 0.5
"""A score from 0 to 1 that is at least this is a success, and one below it a failure."""

# How evaluators name what they say, the most telling first: LlamaIndex gives `passing` beside a score of 1 to 5.
SAID = ("verdict", "passing", "passed", "success", "score", "value", "label", "outcome", "results", "result")
WHY = ("comment", "reason", "reasons", "reasoning", "feedback", "explanation")
WHO = ("by", "key", "name")
LONGEST_REASON, MOST_REASONS = 500, 8


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of a run, why, and who it is."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    by: str = ""

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
            LlamaIndex do; or a list of results: what they agree on, and partial where they do not.

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
    score = float(given)
    if not 0 <= score <= 1:
        raise InvalidInputError(f"the score {given!r:.40} is not from 0 to 1: return a verdict, or divide it")
    return Judgement(Verdict.SUCCESS if score >= PASS_MARK else Verdict.FAILURE)


def _named(get: Callable[[str], Any]) -> Judgement:
    said = next((value for name in SAID if (value := get(name)) is not None), None)
    found = as_judgement(said)
    own = next((reasons for name in WHY if (reasons := reasons_in(get(name)))), ())
    who = next((value for name in WHO if isinstance(value := get(name), str)), "")
    return Judgement(found.verdict, own or found.reasons, who or found.by)


def _in_mapping(given: Mapping[str, Any]) -> Judgement:
    if not any(name in given for name in SAID):
        raise _no_verdict(given)
    return _named(given.get)


def _in_pair(given: tuple[Any, str]) -> Judgement:
    return Judgement(as_judgement(given[0]).verdict, reasons_in(given[1]))


def _agreed(given: Iterable[Any]) -> Judgement:
    judgements = [as_judgement(one) for one in given]
    reasons = tuple(reason for one in judgements for reason in one.reasons)[:MOST_REASONS]
    said = {one.verdict for one in judgements} - {Verdict.UNKNOWN}
    return Judgement(Verdict.PARTIAL if len(said) > 1 else next(iter(said), Verdict.UNKNOWN), reasons)


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
    (lambda given: isinstance(given, (bool, str)), lambda given: Judgement(as_verdict(given))),
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

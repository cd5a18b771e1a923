"""What judges and evaluators return, and what is read from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import InvalidInputError, Judgement, Verdict
from reasoningbank.judgement import PASS_MARK, as_judgement

YES, NO, UNKNOWN = Verdict.SUCCESS, Verdict.FAILURE, Verdict.UNKNOWN


@dataclass
class EvaluationResult:
    """As LlamaIndex gives it: the score has a scale of its own."""

    passing: bool | None
    score: float
    feedback: str


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (None, UNKNOWN),
        (True, YES),
        (Verdict.PARTIAL, Verdict.PARTIAL),
        ("PASS.", YES),
        ("no", NO),
        (np.True_, YES),
        (np.bool_(False), NO),
        (np.float32(0.9), YES),
        (np.array(0.0), NO),
        (np.str_("failed"), NO),
        (1, YES),
        (0, NO),
        (0.49, NO),
        (Fraction(3, 4), YES),
        ({"key": "k", "score": True, "comment": "c"}, YES),
        ({"key": "k", "score": np.float64(0.2)}, NO),
        ({"key": "k", "score": None, "value": "failed"}, NO),
        ({"key": "k", "score": None}, UNKNOWN),
        ({"verdict": "failure", "score": 0.9}, NO),
        ({"results": [{"score": 1}, {"score": 1.0}]}, YES),
        (SimpleNamespace(key="k", score=0.1, comment=None), NO),
        (EvaluationResult(True, 4.5, "good"), YES),
        (EvaluationResult(False, 2.0, "bad"), NO),
        ((True, "all tests pass"), YES),
        (("success", "failure"), Verdict.PARTIAL),
        ([True, None, 1.0], YES),
        ([{"score": True}, {"score": False}], Verdict.PARTIAL),
        ([None], UNKNOWN),
    ],
)
def test_a_judge_may_say_it_in_many_ways(said: Any, verdict: Verdict) -> None:
    assert as_judgement(said).verdict is verdict


@pytest.mark.parametrize(
    "said",
    ["well done", "", 7, -0.1, float("nan"), float("inf"), [], {}, {"comment": "c"}, object(), np.zeros(2), b"x"],
)
def test_what_is_no_verdict_is_refused_with_what_to_return(said: Any) -> None:
    with pytest.raises(InvalidInputError):
        as_judgement(said)


@pytest.mark.parametrize(
    ("said", "judgement"),
    [
        ({"key": "tests", "score": True, "comment": " c "}, Judgement(YES, ("c",), "tests")),
        ({"verdict": "failure", "reasons": ["one", 2, "two"]}, Judgement(NO, ("one", "two"))),
        ({"name": "n", "value": {"score": 0, "comment": "inner"}}, Judgement(NO, ("inner",), "n")),
        (EvaluationResult(True, 4.5, "good"), Judgement(YES, ("good",))),
        ((False, "it broke"), Judgement(NO, ("it broke",))),
        ([(True, "a"), (True, "b")], Judgement(YES, ("a", "b"))),
        (Judgement(YES, (), "ci"), Judgement(YES, (), "ci")),
    ],
)
def test_reasons_and_who_judged_are_read_too(said: Any, judgement: Judgement) -> None:
    assert as_judgement(said) == judgement


@given(st.floats(0, 1))
def test_a_score_counts_the_same_however_it_comes(score: float) -> None:
    verdict = YES if score >= PASS_MARK else NO

    assert {as_judgement(said).verdict for said in (score, np.float64(score), {"score": score}, [score])} == {verdict}

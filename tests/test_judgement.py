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


@pytest.mark.parametrize(
    ("said", "verdict", "strength"),
    [
        (True, YES, 1.0),
        (1.0, YES, 1.0),
        (0.8, YES, 0.6),
        (0.5, YES, 0.1),
        (0.4, NO, 0.2),
        (np.float32(0.0), NO, 1.0),
        ({"key": "correct", "score": 0.75}, YES, 0.5),
        ((0.75, "nearly"), YES, 0.5),
        ([0.75, True], YES, 0.75),
        ([0.75, None], YES, 0.5),
        ([True, False], Verdict.PARTIAL, 1.0),
    ],
)
def test_a_score_says_as_much_as_it_is_far_from_one_half(said: Any, verdict: Verdict, strength: float) -> None:
    found = as_judgement(said)

    assert found.verdict is verdict
    assert found.strength == pytest.approx(strength)


@pytest.mark.parametrize(
    ("said", "verdict", "reason", "by"),
    [
        # As LangSmith keeps feedback, and Langfuse scores: numeric, boolean, of a category.
        ({"key": "user", "score": 1.0, "value": None, "comment": "fine", "run_id": "r"}, YES, "fine", "user"),
        ({"name": "ok", "value": 0, "dataType": "BOOLEAN", "stringValue": "False"}, NO, "", "ok"),
        ({"name": "q", "value": 3, "dataType": "CATEGORICAL", "stringValue": "correct"}, YES, "", "q"),
        ({"name": "q", "value": 0.2, "dataType": "NUMERIC", "comment": "off"}, NO, "off", "q"),
        ({"criteria": {"right": True, "short": 0.9}}, YES, "right: success short: success", ""),
        ({"criteria": {"right": True, "short": False}}, Verdict.PARTIAL, "right: success short: failure", ""),
        ({"criteria": [True, True]}, YES, "", ""),
        ({"exit_code": 0}, YES, "exit code 0", ""),
        ({"returncode": 130}, UNKNOWN, "exit code 130", ""),
        (SimpleNamespace(args=["make"], returncode=2, stdout=""), NO, "exit code 2", ""),
        ("<testsuite><testcase/></testsuite>", YES, "1 passed", ""),
        ("== 1 failed, 2 passed in 1s ==", NO, "1 failed, 2 passed", ""),
    ],
)
def test_records_and_reports_are_read_with_their_reason(said: Any, verdict: Verdict, reason: str, by: str) -> None:
    found = as_judgement(said)

    assert (found.verdict, found.reason, found.by) == (verdict, reason, by)

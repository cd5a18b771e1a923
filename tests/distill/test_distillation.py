from __future__ import annotations

from reasoningbank import Verdict
from reasoningbank.distill.distillation import Distillation, Distilled, Rejection
from reasoningbank.memory import Draft
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.runs.trajectory import Trajectory


def test_counts_give_the_lessons_and_the_rejections_by_reason() -> None:
    draft = Draft(title="t", content="c", outcome=Verdict.SUCCESS)
    rejected = (Rejection("cut off"), Rejection("content is missing"), Rejection("cut off"))

    result = Distillation(DistillStatus.DONE, (draft,), rejected)

    assert result.counts == {"lessons": 1, "content is missing": 1, "cut off": 2}


def test_what_came_of_a_run_has_the_status_of_its_distillation() -> None:
    distilled = Distilled(Distillation(DistillStatus.EMPTY), Trajectory())

    assert (distilled.status, distilled.memories) == (DistillStatus.EMPTY, ())

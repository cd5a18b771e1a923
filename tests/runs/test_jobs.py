from __future__ import annotations

import pytest

from reasoningbank.runs.jobs import RETRYABLE, DistillStatus, key_of, pause_after, task_key


def test_a_task_in_other_case_spacing_and_punctuation_is_the_same_task() -> None:
    assert task_key("List  files!") == task_key("list files")
    assert task_key("List files") != task_key("List dirs")


def test_what_is_to_be_done_has_one_key_and_another_kind_of_it_another() -> None:
    assert key_of("run", "{}") == key_of("run", "{}")
    assert len({key_of("run", "{}"), key_of("anti-pattern", "{}"), key_of("run", "[]")}) == 3


def test_pauses_double_up_to_an_hour() -> None:
    assert [pause_after(n).total_seconds() for n in (0, 1, 2, 3, 20)] == [30, 30, 60, 120, 3600]


@pytest.mark.parametrize("status", DistillStatus)
def test_only_a_job_that_is_over_can_be_retried_and_one_that_gave_lessons_cannot(status: DistillStatus) -> None:
    assert status.is_over == (status in RETRYABLE or status is DistillStatus.DONE)

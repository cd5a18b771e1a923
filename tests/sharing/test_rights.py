"""Rights in a shared bank include those before them, and a person has none without a project that reads."""

from __future__ import annotations

import pytest

from reasoningbank.sharing import Right
from reasoningbank.sharing.rights import effective

READ, WRITE, APPROVE = Right.READ, Right.WRITE, Right.APPROVE


@pytest.mark.parametrize("right", Right)
def test_every_right_includes_itself_and_reading(right: Right) -> None:
    assert right.includes(right)
    assert right.includes(READ)


def test_no_right_includes_a_greater_one() -> None:
    assert not READ.includes(WRITE)
    assert not WRITE.includes(APPROVE)


@pytest.mark.parametrize(
    ("project", "person", "may"),
    [
        (None, None, None),
        (None, APPROVE, None),
        (READ, None, READ),
        (READ, APPROVE, APPROVE),
        (WRITE, READ, WRITE),
        (APPROVE, WRITE, APPROVE),
    ],
)
def test_a_handle_may_what_its_project_or_its_person_may(
    project: Right | None, person: Right | None, may: Right | None
) -> None:
    assert effective(project, person) is may

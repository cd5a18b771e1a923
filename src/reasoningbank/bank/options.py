"""What several calls of a bank take and pass on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from reasoningbank.bank.handle import Later
from reasoningbank.verdict import Verdict

if TYPE_CHECKING:
    from reasoningbank.distill import judge as judging
    from reasoningbank.distill import template
    from reasoningbank.distill.distiller import Distiller
    from reasoningbank.distill.judge import Judgement, RunJudge
    from reasoningbank.runs.trajectory import Trajectory

    AnyJudge = RunJudge | Callable[[Trajectory], Judgement | str | bool | None]
else:
    judging, template = Later("reasoningbank.distill.judge"), Later("reasoningbank.distill.template")


class RecallOptions(TypedDict, total=False):
    """What `recall` takes beside task and limit, for a run that waits for its lessons."""

    ref: str | None
    thread: str | None
    max_tokens: int
    deadline: datetime | None
    expand_links: bool
    min_confidence: float | None
    strict: bool
    outcome: Verdict | str | None
    tags: Sequence[str] | None
    where: Mapping[str, Any] | None
    policy: str


def as_distiller(given: Distiller | None) -> Distiller:
    """Return the distiller that is given, or the one that needs no model."""
    return template.TemplateDistiller() if given is None else given


def as_run_judge(given: AnyJudge | None) -> RunJudge | None:
    """Return what judges runs, if anything does."""
    return None if given is None else judging.as_judge(given)

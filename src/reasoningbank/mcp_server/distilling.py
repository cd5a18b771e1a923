"""The tool memory_distill, offered when a distiller is configured: from what was done to lessons in the bank."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from reasoningbank import Distiller, ReasoningBank, Trajectory
from reasoningbank.adapters import MemoryTool, ToolAnswer, ToolSpec
from reasoningbank.adapters.coercion import Flag, Reference, Text, to_list
from reasoningbank.adapters.tool import Arguments, with_account
from reasoningbank.distill import Distillation
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import is_blank

# More than any run that a model can write down in one call.
MOST_STEPS = 200


class StepArguments(Arguments):
    """One step of a run."""

    action: str = Field(min_length=1, description="What was done.")
    result: str = Field(default="", description="What came of it; an error in its own words.")


# What models write in place of `result`.
_RESULTS = ("observation", "output", "error")


def _to_steps(value: object) -> object:
    """Read a list of steps, or its JSON text; a step that is a text says what was done.

    A text that is no list is left as it is, for the schema to refuse: where one step ends nobody can tell.
    """
    if isinstance(value, str) and not value.strip().startswith("["):
        return value
    steps = to_list(value)
    return [_to_step(step) for step in steps] if isinstance(steps, list) else steps


def _to_step(step: object) -> object:
    if isinstance(step, str):
        return {"action": step}
    if isinstance(step, dict) and "result" not in step:
        return {"result" if name in _RESULTS else name: told for name, told in step.items()}
    return step


class DistillArguments(Arguments):
    """Arguments of memory_distill."""

    task: Text = Field(min_length=1, description="The task, in one sentence.")
    steps: Annotated[list[StepArguments], BeforeValidator(_to_steps)] = Field(
        min_length=1, max_length=MOST_STEPS, description="What was done, in order."
    )
    succeeded: Flag = Field(description="true if the task succeeded, false if it failed.")
    ref: Reference = Field(default=None, description="The ref that memory_search gave for this task; or null.")


MEMORY_DISTILL = ToolSpec(
    "memory_distill",
    "Draw lessons from a task that has ended, from what was done and what came of it, and store them. Once a task.",
    DistillArguments,
    idempotent=True,
)


@dataclass(frozen=True, slots=True)
class Untrusted:
    """A distiller whose lessons are untrusted, since the runs come from a server that is."""

    distiller: Distiller

    @property
    def name(self) -> str:
        """The distiller's name."""
        return self.distiller.name

    def distill(self, run: Trajectory, earlier: Sequence[Trajectory] = ()) -> Distillation:
        """Draw lessons from a run."""
        return _untrusted(self.distiller.distill(run, earlier))

    def distill_many(self, runs: Sequence[Trajectory]) -> Distillation:
        """Draw lessons from several runs of one task."""
        return _untrusted(self.distiller.distill_many(runs))


def _untrusted(drawn: Distillation) -> Distillation:
    drafts = (
        draft.model_copy(update={"source": draft.source.model_copy(update={"trusted": False})})
        for draft in drawn.drafts
    )
    return replace(drawn, drafts=tuple(drafts))


def distill_tool(bank: ReasoningBank, distiller: Distiller, *, trusted: bool) -> MemoryTool:
    """Return the tool for a bank, whose lessons are `trusted` or not."""
    return MemoryTool(MEMORY_DISTILL, functools.partial(_distill, bank, distiller if trusted else Untrusted(distiller)))


def _distill(bank: ReasoningBank, distiller: Distiller, given: DistillArguments) -> ToolAnswer:
    if is_blank(given.task):
        raise InvalidInputError("task is empty: say in one sentence what was to be done")
    steps = [{"action": step.action, "observation": step.result} for step in given.steps]
    run = {"task": given.task, "steps": steps}
    distilled = bank.distill(run, given.succeeded, distiller=distiller, ref=given.ref)
    ids = [one.memory.id for one in distilled.recorded if not one.held]
    duplicates = list(distilled.duplicates)
    data: dict[str, Any] = {"status": distilled.status.value, "memory_ids": ids, "duplicates": duplicates}
    near = {one.memory.id: one.possible_duplicate_of for one in distilled.recorded if one.possible_duplicate_of}
    held = {one.memory.id or one.memory.title: one.held for one in distilled.recorded if one.held}
    more = {"possible_duplicates": near, "held": held, "removed": distilled.removed}
    data |= {name: found for name, found in more.items() if found}
    told = [f"Stored {len(ids)} lessons: {', '.join(ids)}."] if ids else ["No new lesson."]
    if distilled.duplicates:
        told.append(f"Known already: {', '.join(distilled.duplicates)}.")
    told += [f"{memory_id} may say the same as {other}." for memory_id, other in near.items()]
    told += [f"{memory_id} stays out of service ({why})." for memory_id, why in held.items()]
    if distilled.result.reason:
        told.append(f"{distilled.status}: {distilled.result.reason}.")
    if distilled.removed:
        told.append(f"Left out of the run: {', '.join(f'{many} {what}' for what, many in distilled.removed.items())}.")
    degraded = dict.fromkeys(why for one in distilled.recorded for why in one.degraded)
    return with_account(" ".join(told), data, degraded=[*degraded])

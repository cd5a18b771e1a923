"""A run as a line of an export: its episode, what it was handed, what was learned from it, and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from reasoningbank.exchange.own import FORMAT
from reasoningbank.memory import ID_LIMIT, Text
from reasoningbank.runs.trajectory import Step
from reasoningbank.screening.door import checked_name
from reasoningbank.signals import as_utc
from reasoningbank.validation import validated
from reasoningbank.verdict import Verdict

# A line that holds a run stands behind those of the memories.
KEY = "run"

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Time = Annotated[datetime, AfterValidator(as_utc)]
Name = Annotated[
    Text, Field(min_length=1, max_length=ID_LIMIT), AfterValidator(partial(checked_name, "the name of a run or memory"))
]


class HandedOver(BaseModel, frozen=True, extra="forbid"):
    """A memory, by its id, as a run was handed it; `unchanged`: it still says what it said then."""

    memory: Name
    position: int = Field(ge=0, le=1_000_000)
    confidence: Share
    deviation: Share
    provisional: bool = False
    similarity: float = 0.0
    keyword: float = 0.0
    score: float = 0.0
    about: Share = 1.0
    step: int = Field(default=0, ge=0, le=1_000_000)
    pinned: bool = False
    unchanged: bool = True


class ExportedRun(BaseModel, frozen=True, extra="forbid"):
    """One run.

    Attributes:
        verdict: None while it is open.
        tokens: of the prompt block it was given, where that is known.
        memories: those it was handed.
        lessons: ids of the memories that were distilled from it.
        steps: those that are kept of it.
        left_out: how many were not kept.
        kept_at: when something was last added to what is kept; None when nothing is kept.
    """

    ref: Name
    task: Text = ""
    thread: Name | None = None
    opened_at: Time
    closed_at: Time | None = None
    verdict: Verdict | None = None
    reason: Text = ""
    by: Text = ""
    tokens: int | None = Field(default=None, ge=0)
    memories: tuple[HandedOver, ...] = ()
    lessons: tuple[Name, ...] = ()
    steps: tuple[Step, ...] = ()
    result: Text = ""
    left_out: int = Field(default=0, ge=0)
    kept_at: Time | None = None


def is_run(record: Mapping[str, Any]) -> bool:
    """Tell whether a line of an export holds a run."""
    return KEY in record and record.get("format") == FORMAT


def read_run(given: object) -> ExportedRun:
    """Return a run from the object of its line; InvalidInputError when it is none, or a value is not allowed."""
    return validated(ExportedRun, given if isinstance(given, Mapping) else {KEY: given})


def run_record(run: ExportedRun) -> dict[str, Any]:
    """Return a run as the object of its line."""
    return {"format": FORMAT, KEY: run.model_dump(mode="json", exclude_defaults=True)}

"""A trajectory: the ordered steps of one run, with its task, its result and its verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Metadata, Tags, Text
from reasoningbank.outputs import error_line
from reasoningbank.runs.transcript import as_text, read_messages
from reasoningbank.validation import validated
from reasoningbank.verdict import Verdict, as_verdict


class Step(BaseModel):
    """One step of a run.

    Attributes:
        thought: what the agent reasoned or said before acting.
        action: what it did: a command, or a tool call as `name(arguments)`.
        observation: what came back.
        error: the line that says what went wrong, or "".
        tool: the name of the tool it used, or "".
        at: when it began.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    thought: Text = ""
    action: Text = ""
    observation: Text = ""
    error: Text = ""
    tool: Text = ""
    at: AwareDatetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return not (self.thought or self.action or self.observation or self.error)


class Trajectory(BaseModel):
    """One run, from its task to its result.

    Attributes:
        task: what was asked.
        steps: in the order they happened.
        result: what the run ended with: an answer, a final message.
        verdict: how it ended. Having ended is not having succeeded: the default is unknown.
        reason: why it was judged so.
        session: the session or run it is from.
        trusted: False when it read what strangers wrote (web pages, mails): its lessons are then untrusted as well.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: Text = ""
    steps: tuple[Step, ...] = ()
    result: Text = ""
    verdict: Verdict = Verdict.UNKNOWN
    reason: Text = ""
    tags: Tags = ()
    session: Text | None = Field(default=None, max_length=200)
    started_at: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    trusted: bool = True
    metadata: Metadata = Field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to learn from: no step and no result."""
        return not self.result and all(step.is_empty for step in self.steps)

    @classmethod
    def of(cls, run: Any) -> Trajectory:
        """Read a run from whatever it comes as.

        Args:
            run: a trajectory; a dictionary with `task` and `steps` or `messages` (common other names of the fields
                are understood, other keys are left out); a list of steps or of chat messages of any framework;
                or None, which is an empty trajectory.

        Raises:
            InvalidInputError: it is none of these, or a message has an unknown role.
        """
        if isinstance(run, Trajectory):
            return run
        if run is None:
            return cls()
        if isinstance(run, Mapping):
            return _from_mapping(run)
        if isinstance(run, Sequence) and not isinstance(run, (str, bytes)):
            return _from_mapping({"messages" if _are_messages(run) else "steps": run})
        raise InvalidInputError(
            f"a run cannot be read from {type(run).__name__}: give a Trajectory, a dictionary with task and steps, "
            "or a list of chat messages"
        )

    @classmethod
    def from_messages(
        cls, messages: Iterable[Any], *, task: str = "", verdict: Verdict | str | bool | None = None, **fields: Any
    ) -> Trajectory:
        """Read a run from chat messages (dictionaries or objects) of any framework; see `transcript.read_messages`."""
        return _from_mapping({"messages": messages, "task": task, "verdict": verdict, **fields})


FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "task": ("task", "query", "instruction", "goal", "question", "problem"),
    "steps": ("steps", "trajectory", "actions"),
    "messages": ("messages", "history", "conversation"),
    "result": ("result", "final_answer", "answer", "output"),
    "verdict": ("verdict", "outcome", "status", "success"),
    "reason": ("reason", "verdict_reason"),
    "tags": ("tags",),
    "session": ("session", "session_id", "run_id", "id"),
    "started_at": ("started_at", "start_time"),
    "ended_at": ("ended_at", "end_time"),
    "trusted": ("trusted",),
    "metadata": ("metadata",),
}
STEP_NAMES: dict[str, tuple[str, ...]] = {
    "thought": ("thought", "thinking", "reasoning"),
    "action": ("action", "tool_call", "command", "act"),
    "observation": ("observation", "output", "result", "obs"),
    "error": ("error",),
    "tool": ("tool", "tool_name", "name"),
    "at": ("at", "timestamp"),
}


def _pick(given: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the fields of `given` under our names; the first name that is there and not None wins."""
    return {
        field: next(given[name] for name in known if given.get(name) is not None)
        for field, known in names.items()
        if any(given.get(name) is not None for name in known)
    }


def _from_mapping(run: Mapping[str, Any]) -> Trajectory:
    given = _pick(run, FIELD_NAMES)
    said = given.get("verdict")
    given["verdict"] = Verdict.UNKNOWN if said in (None, "") else as_verdict(said)
    for field in ("task", "result", "reason", "session"):
        if field in given:
            given[field] = as_text(given[field])
    messages = given.pop("messages", None)
    given["steps"] = tuple(map(_step, given.get("steps") or ()))
    if messages is not None:
        transcript = read_messages(messages, task=given.get("task", ""))
        given["task"] = transcript.task
        given["steps"] += tuple(map(_step, transcript.steps))
        given.setdefault("result", transcript.result)
    return validated(Trajectory, given)


def _step(value: Any) -> Step:
    """Read a step from a Step, a dictionary, a text (an action), or an (action, observation) pair."""
    if isinstance(value, Step):
        return value
    if isinstance(value, str):
        return Step(action=value)
    if isinstance(value, (tuple, list)) and len(value) == 2:
        value = {"action": value[0], "observation": value[1]}
    if not isinstance(value, Mapping):
        raise InvalidInputError(
            f"a step cannot be read from {value!r:.100}: give a dictionary with action, observation"
        )
    given = _pick(value, STEP_NAMES)
    at = given.pop("at", None)
    texts = {field: as_text(text) for field, text in given.items()}
    texts.setdefault("error", error_line(texts.get("observation", "")))
    return validated(Step, {**texts, "at": at})


def _are_messages(items: Sequence[Any]) -> bool:
    """Tell chat messages from steps: a message has a role, or a type and content."""
    first = items[0] if items else None
    names = set(first) if isinstance(first, Mapping) else set(dir(first))
    return "role" in names or ("type" in names and bool(names & {"content", "arguments", "output"}))


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no trajectory: its number (from 1) and why."""

    number: int
    reason: str


def read_lines(lines: Iterable[str]) -> Iterator[Trajectory | BadLine]:
    """Read JSON lines, one run each, in order; blank lines are skipped and a bad one costs only itself."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Trajectory.of(json.loads(line))
        except (ValueError, RecursionError) as error:  # InvalidInputError and JSON's own error are ValueErrors
            yield BadLine(number, re.sub(r"\s+", " ", str(error))[:300])

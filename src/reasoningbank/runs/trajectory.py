"""A trajectory: the ordered steps of one run, with its task, its result and its verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from reasoningbank.memory import Metadata, Tags, Text
from reasoningbank.runs.readers.ledger import LeftOut
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
        exit_code: the exit status of a command, where it is known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    thought: Text = ""
    action: Text = ""
    observation: Text = ""
    error: Text = ""
    tool: Text = ""
    at: AwareDatetime | None = None
    exit_code: int | None = None

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
        form: the form it was recognised as when it was read; "" of one that was made as a Trajectory.
        left_out: what is in the record that was read and not in the run.
        tools_understood: whether an act that is not among the steps did not happen. False when the form has no tools,
            or something may have been one and was not understood.

    Two runs are equal that tell the same, however they were read: the last three do not count.
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
    form: Text = ""
    left_out: tuple[LeftOut, ...] = ()
    tools_understood: bool = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trajectory) and all(
            getattr(self, name) == getattr(other, name) for name in type(self).model_fields if name not in HOW_READ
        )

    def __hash__(self) -> int:
        return hash((self.task, self.steps, self.result, self.verdict))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to learn from: no step and no result."""
        return not self.result and all(step.is_empty for step in self.steps)

    @classmethod
    def of(cls, run: Any, form: str | None = None) -> Trajectory:
        """Read a run from whatever it comes as.

        What is not understood costs itself and not the run; `left_out` says what it was.

        Args:
            run: a trajectory; a dictionary with `task` and `steps` or `messages` (common other names of the fields
                are understood); a list of steps or of messages of any framework; a record of any form of the table
                (`reasoningbank.runs.known_forms()`); or None, which is an empty trajectory.
            form: the name of its form, where it is not to be recognised by what it looks like.

        Raises:
            InvalidInputError: it is none of these, it holds several runs (`read_runs` reads them), or the form is
                not known. The message names the keys that were seen and the forms that are known.
        """
        if isinstance(run, Trajectory):
            return run
        if run is None or run in ({}, []):
            return cls()
        from reasoningbank.runs.readers.recognise import read_one

        return read_one(run, form)

    @classmethod
    def from_messages(
        cls, messages: Iterable[Any], *, task: str = "", verdict: Verdict | str | bool | None = None, **fields: Any
    ) -> Trajectory:
        """Read a run from chat messages (dictionaries or objects) of any framework.

        Raises:
            InvalidInputError: there are no messages among them, or the verdict is none that is known.
        """
        given = None if verdict in (None, "") else as_verdict(verdict)
        run = cls.of({"messages": list(messages), "task": task, **fields})
        return run if given is None else run.model_copy(update={"verdict": given})


# How a run was read, which is no part of what happened in it.
HOW_READ = frozenset({"form", "left_out", "tools_understood"})


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line, or an item of a list, that is no trajectory: its number (from 1), why, and of several files which."""

    number: int
    reason: str
    source: str = ""

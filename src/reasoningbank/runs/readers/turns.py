"""Turns of a conversation, and the run they make: results find the step that called, the last words are the result."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.outcome import NOTHING, Outcome
from reasoningbank.runs.readers.request import requested
from reasoningbank.runs.transcript import is_boot_text, without_blocks


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that is called.

    Attributes:
        id: what its result names; "" where there is none.
        action: what is done, as `tool(arguments)` or a command.
        waits: False when its result, if any, comes with it.
    """

    id: str
    tool: str
    action: str
    waits: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered: to the call of this id, else to the oldest one of this tool, else to the oldest one."""

    id: str
    tool: str
    text: str
    outcome: Outcome = NOTHING


@dataclass(slots=True)
class Turn:
    """One message, taken apart.

    Attributes:
        role: user, assistant, tool or system.
    """

    role: str
    text: str = ""
    thought: str = ""
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    at: datetime | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What a conversation tells: the task, the steps as dictionaries of Step's fields, and the last words."""

    task: str
    steps: tuple[dict[str, Any], ...]
    result: str


def told(turns: Iterable[Turn], ledger: Ledger, task: str = "") -> Told:
    """Read turns as a run. Without a `task` the first thing that a user asks is the task."""
    run = _Run(ledger, task)
    for turn in turns:
        run.take(turn)
    return run.told()


THOUGHT_ONLY = frozenset({"thought", "at"})


class _Waiting:
    """Calls that have no result yet, found by id, by tool or by age; each look-up takes constant time on average."""

    def __init__(self) -> None:
        self._open: dict[int, None] = {}
        self._by_id: dict[str, deque[int]] = defaultdict(deque)
        self._by_tool: dict[str, deque[int]] = defaultdict(deque)

    def add(self, step: int, call: Call) -> None:
        self._open[step] = None
        self._by_id[call.id].append(step)
        self._by_tool[call.tool].append(step)

    def take(self, result: Result) -> int | None:
        """Return the step that a result belongs to, which waits no longer; None when no call waits."""
        step = self._first(self._by_id[result.id]) if result.id else None
        if step is None and result.tool:
            step = self._first(self._by_tool[result.tool])
        if step is None:
            step = next(iter(self._open), None)
        self._open.pop(step, None)  # type: ignore[arg-type]
        return step

    def _first(self, steps: deque[int]) -> int | None:
        while steps:
            step = steps.popleft()
            if step in self._open:
                return step
        return None


class _Run:
    """Steps under construction."""

    def __init__(self, ledger: Ledger, task: str) -> None:
        self.task = task
        self.asked = task
        self.steps: list[dict[str, Any]] = []
        self.waiting = _Waiting()
        self.answered: dict[str, int] = {}
        self.ledger = ledger
        self.results: list[Result] = []
        self.last_words = ""

    def take(self, turn: Turn) -> None:
        if turn.role == "system":
            self.ledger.note("system message", turn.place)
            return
        if turn.role == "assistant":
            self._answer_all()
            self._act(turn)
        self.results += turn.results
        if turn.role == "user" and turn.text:
            self._answer_all()
            self._hear(turn)

    def _answer_all(self) -> None:
        """Give the answers to calls made together to these: first those that name one, then those that name a tool."""
        for result in sorted(self.results, key=lambda one: (one.id not in self.answered, not one.tool)):
            self._answer(result)
        self.results.clear()

    def _hear(self, turn: Turn) -> None:
        text = without_blocks(turn.text)
        if not text or (not self.steps and is_boot_text(text)):
            self.ledger.note("text of the harness", turn.place)
            return
        if not self.asked:
            self.task = self.asked = requested(text)
            return
        if not self.steps and requested(text) == requested(self.asked):
            return  # the task, said once more at the head of the conversation
        if self.steps and not self.steps[-1].get("action") and not self.steps[-1].get("observation"):
            self.steps[-1]["observation"] = f"User: {text}"
        else:
            self.steps.append({"observation": f"User: {text}", **_at(turn)})
        self.last_words = ""

    def _act(self, turn: Turn) -> None:
        said = "\n".join(part for part in (turn.thought, turn.text) if part)
        if turn.calls:
            said = "\n".join(filter(None, (self._thoughts(), said)))
        for number, call in enumerate(turn.calls):
            if call.waits:
                self.waiting.add(len(self.steps), call)
            step: dict[str, Any] = {"action": call.action, "tool": call.tool, **_at(turn)}
            if said and number == 0:
                step["thought"] = said
            if call.id:
                self.answered[call.id] = len(self.steps)
            self.steps.append(step)
        if not turn.calls and said:
            self.steps.append({"thought": said, **_at(turn)})
        self.last_words = turn.text if not turn.calls else ""

    def _thoughts(self) -> str:
        """Take back what was only thought right before an act: it belongs to the act's step."""
        thoughts: list[str] = []
        while self.steps and not self.steps[-1].keys() - THOUGHT_ONLY:
            thoughts.append(self.steps.pop()["thought"])
        return "\n".join(reversed(thoughts))

    def _answer(self, result: Result) -> None:
        """Put a result where its call is; one that no call waits for is a step of its own."""
        number = self.answered.get(result.id) if result.id else None
        waiting = self.waiting.take(result) if number is None or not self._is_answered(number) else None
        number = waiting if waiting is not None else number
        if number is None:
            number = len(self.steps)
            self.steps.append({"tool": result.tool} if result.tool else {})
        step = self.steps[number]
        before = step.get("observation", "")
        text = result.text
        step["observation"] = f"{before}\n{text}".strip() if before and before != text else text
        error = result.outcome.error(text)
        if error:
            step["error"] = error
        if result.outcome.exit_code is not None:
            step["exit_code"] = result.outcome.exit_code
        self.last_words = ""

    def _is_answered(self, number: int) -> bool:
        return "observation" in self.steps[number]

    def told(self) -> Told:
        self._answer_all()
        if self.last_words and self.steps and not self.steps[-1].keys() - THOUGHT_ONLY:
            self.steps.pop()  # the last words are the result, not a step as well
        return Told(self.task, tuple(self.steps), self.last_words)


def _at(turn: Turn) -> dict[str, datetime]:
    return {} if turn.at is None else {"at": turn.at}

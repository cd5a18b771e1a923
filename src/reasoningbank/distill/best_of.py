"""Memory-aware test-time scaling: several runs of one task, each with the bank's lessons, then lessons from them all.

Source: Ouyang et al., ReasoningBank (arXiv 2509.25140), section 3.3: parallel scaling with self-contrast, sequential
scaling with self-refinement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from reasoningbank.distill import prompts
from reasoningbank.distill.cleaning import clean, pack
from reasoningbank.distill.distillation import Distilled
from reasoningbank.distill.judge import RunJudge
from reasoningbank.distill.parse import json_values, without_thinking
from reasoningbank.errors import ChatError, InvalidInputError, JudgeUnavailableError
from reasoningbank.llm.base import Chat, ChatMessage, ChatRequest, as_chat
from reasoningbank.results import Recall
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.screening.door import said_by
from reasoningbank.verdict import Verdict

MOST_ROLLOUTS = 32
RUN_TOKENS = 8_000
ANSWER_TOKENS = 256

Mode = Literal["parallel", "sequential"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one rollout is given.

    Attributes:
        number: from 0.
        task: what to do.
        lessons: the bank's lessons for it, as a block for the prompt; "" if there are none.
        previous: the rollout before, in sequential mode.
        instruction: what to do about it: re-examine it, then check it again; "" where there is none before.
    """

    number: int
    task: str
    lessons: str = ""
    previous: Trajectory | None = None
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class Rollout:
    """What became of one attempt: a judged run, or what was raised.

    Attributes:
        run: None if it raised, or gave nothing that can be read as a run.
        error: what was raised, in one line.
        unjudged: why there is no verdict, where the judge gave none.
    """

    attempt: Attempt
    run: Trajectory | None = None
    error: str = ""
    unjudged: str = ""

    @property
    def verdict(self) -> Verdict:
        """The run's verdict; a rollout that raised is unknown, since its agent may have done nothing wrong."""
        return self.run.verdict if self.run is not None else Verdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class BestOf:
    """Several tries at one task, and what they taught together.

    Attributes:
        recall: the lessons that every try was given.
        rollouts: the tries, in their order.
        best: the one that was selected; None when none gave a run.
        distilled: the lessons that tell the tries apart.
    """

    recall: Recall
    rollouts: tuple[Rollout, ...]
    best: Rollout | None
    distilled: Distilled


Agent = Callable[[Attempt], Trajectory | Mapping[str, Any] | Sequence[Any]]
"""Makes one attempt at a task, and returns its run."""


class Selector(Protocol):
    """Chooses the best of several rollouts."""

    def __call__(self, rollouts: Sequence[Rollout]) -> int:
        """Return the position of the best one. Every rollout given has a run; there is at least one."""


def roll_out(
    agent: Agent, task: str, n: int, *, lessons: str, judge: RunJudge | None, mode: Mode
) -> tuple[Rollout, ...]:
    """Try a task `n` times.

    In parallel, each on a thread of its own; one that raises costs the others nothing. In sequence, each is given the
    one before and asked to re-examine it; the first success ends the sequence, and is part of it. InvalidInputError is
    raised where `n` is not from 1 to 32, or the mode is unknown.
    """
    if not 1 <= n <= MOST_ROLLOUTS:
        raise InvalidInputError(f"n is {n}: give 1 to {MOST_ROLLOUTS} rollouts")
    if mode == "parallel":
        attempts = [Attempt(number, task, lessons) for number in range(n)]
        with ThreadPoolExecutor(max_workers=n, thread_name_prefix="rollout") as pool:
            return tuple(pool.map(lambda attempt: try_once(agent, attempt, judge), attempts))
    if mode == "sequential":
        return _in_sequence(agent, Attempt(0, task, lessons), n, judge)
    raise InvalidInputError(f"mode {mode!r} is not one of parallel, sequential")


def _in_sequence(agent: Agent, first: Attempt, n: int, judge: RunJudge | None) -> tuple[Rollout, ...]:
    done: list[Rollout] = []
    previous: Trajectory | None = None
    for number in range(n):
        again = prompts.REEXAMINE_V1 if number == 1 else prompts.CHECK_AGAIN_V1
        instruction = "" if previous is None else again
        attempt = replace(first, number=number, previous=previous, instruction=instruction)
        done.append(try_once(agent, attempt, judge))
        if done[-1].verdict is Verdict.SUCCESS:
            break
        previous = done[-1].run or previous
    return tuple(done)


def try_once(agent: Agent, attempt: Attempt, judge: RunJudge | None) -> Rollout:
    """Let an agent make one attempt and judge it, if its run brought no verdict of its own. Nothing is raised."""
    try:
        trajectory = Trajectory.of(agent(attempt))
    except Exception as error:  # noqa: BLE001 - whatever an agent raises ends its own rollout only
        return Rollout(attempt, error=said_by(error))
    if not trajectory.task:
        trajectory = trajectory.model_copy(update={"task": attempt.task})
    if judge is None or trajectory.verdict is not Verdict.UNKNOWN:
        return Rollout(attempt, trajectory)
    try:
        judgement = judge.judge(clean(trajectory).run)
    except JudgeUnavailableError as error:
        return Rollout(attempt, trajectory, unjudged=str(error))
    update = {"verdict": judgement.verdict, "reason": judgement.reason}
    unjudged = "the judge is uncertain" if judgement.verdict is Verdict.UNKNOWN else ""
    return Rollout(attempt, trajectory.model_copy(update=update), unjudged=unjudged)


PREFERENCE = (Verdict.SUCCESS, Verdict.PARTIAL, Verdict.UNKNOWN, Verdict.FAILURE)


def by_verdict(rollouts: Sequence[Rollout]) -> int:
    """Choose by verdict, then by fewer errors, then by fewer steps; the earlier one among equals."""

    def rank(number: int) -> tuple[int, int, int, int]:
        run = rollouts[number].run
        steps = run.steps if run is not None else ()
        return PREFERENCE.index(rollouts[number].verdict), sum(bool(step.error) for step in steps), len(steps), number

    return min(range(len(rollouts)), key=rank)


class LLMSelector:
    """Chooses by asking a model to compare the runs, apart from any judge: it sees no verdicts."""

    def __init__(self, chat: Chat | Callable[..., Any], *, run_tokens: int = RUN_TOKENS) -> None:
        self._chat = as_chat(chat)
        self._run_tokens = run_tokens

    def __call__(self, rollouts: Sequence[Rollout]) -> int:
        """Choose; without a readable answer, by verdict."""
        runs = [rollout.run or Trajectory() for rollout in rollouts]
        blind = [run.model_copy(update={"verdict": Verdict.UNKNOWN, "reason": ""}) for run in runs]
        texts = [pack(clean(run).run, max_tokens=self._run_tokens // len(runs)).text for run in blind]
        prompt = prompts.SELECT_V1.format(count=len(texts), run=prompts.quoted_all(texts))
        messages = (ChatMessage("system", prompts.JUDGE_SYSTEM_V1), ChatMessage("user", prompt))
        request = ChatRequest(messages, prompts.CHOICE_SCHEMA, "choice", max_tokens=ANSWER_TOKENS)
        try:
            chosen = read_choice(self._chat.complete(request).text, len(runs))
        except ChatError:
            chosen = None
        return by_verdict(rollouts) if chosen is None else chosen


def read_choice(answer: str, count: int) -> int | None:
    """Return the position (from 0) that an answer names (from 1), None if it names none that is there."""
    said, _ = without_thinking(answer)
    for value in json_values(said):
        best = value.get("best") if isinstance(value, Mapping) else None
        if isinstance(best, int) and not isinstance(best, bool) and 1 <= best <= count:
            return best - 1
    digits = said.strip().strip(".")
    return int(digits) - 1 if digits.isdecimal() and 1 <= int(digits) <= count else None

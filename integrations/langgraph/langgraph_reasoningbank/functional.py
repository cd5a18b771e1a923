"""The functional API: the entrypoint's body runs again on a resume, so recall and report are tasks of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from langchain_core.runnables import RunnableConfig, run_in_executor
from langgraph.config import get_config
from langgraph.func import task
from langgraph.runtime import get_runtime

from langgraph_reasoningbank.hooks import ReasoningBankHooks

Recalled = dict[str, Any]


class Recalling:
    """A recall under way: `.result()`, or await it. The lessons' text is read for it, and is in no checkpoint."""

    def __init__(self, hooks: ReasoningBankHooks, future: Any, config: RunnableConfig) -> None:
        self._hooks, self._future, self._config = hooks, future, config

    def result(self, timeout: float | None = None) -> Recalled:
        """Return {"ref", "memories", "block"}."""
        return self._with_block(self._future.result(timeout))

    def __await__(self) -> Generator[Any, None, Recalled]:
        """Wait for {"ref", "memories", "block"}."""
        return self._wait().__await__()

    async def _wait(self) -> Recalled:
        entry = await self._future
        return await run_in_executor(None, self._with_block, entry)

    def _with_block(self, entry: Recalled) -> Recalled:
        return {**entry, "block": self._hooks.lessons({self._hooks.key: entry}, self._config)}


def recall_task(hooks: ReasoningBankHooks) -> Callable[[str], Recalling]:
    """Return a task that recalls for what is asked, once a run: `entry = recall_task(hooks)("...").result()`.

    It gives {"ref", "memories", "block"}; a resumed entrypoint gets back what it was given before.
    """

    def recall(asked: str, config: RunnableConfig) -> Recalled:
        info = get_runtime().execution_info
        return hooks.recalled(asked, config, ref=None if info is None else info.task_id)

    recall_once = _task("reasoningbank_recall", recall)
    return lambda asked: Recalling(hooks, recall_once(asked), get_config())


def report_task(hooks: ReasoningBankHooks) -> Callable[[Recalled, Any], Any]:
    """Return a task that judges what a run gave, and closes its episode: `report_task(hooks)(entry, answer)`."""

    def report(ref: str, given: Any) -> None:
        hooks.close(ref, given)

    report_once = _task("reasoningbank_report", report)
    return lambda recalled, given: report_once(recalled["ref"], given)


def _task(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    # The decorator's overloads cannot be told apart for a function that is made here.
    decorate: Any = task(name=name)
    made: Callable[..., Any] = decorate(function)
    return made

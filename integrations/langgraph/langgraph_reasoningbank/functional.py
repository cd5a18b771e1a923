"""The functional API: the entrypoint's body runs again on a resume, so recall and report are tasks of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.func import task
from langgraph.runtime import get_runtime

from langgraph_reasoningbank.hooks import ReasoningBankHooks

Recalled = dict[str, Any]


def recall_task(hooks: ReasoningBankHooks) -> Callable[[str], Any]:
    """Return a task that recalls for what is asked, once a run: `entry = recall_task(hooks)("...").result()`.

    It gives {"ref", "memories", "block"}; a resumed entrypoint gets back what it was given before.
    """

    def recall(asked: str, config: RunnableConfig) -> Recalled:
        info = get_runtime().execution_info
        return hooks.recalled(asked, config, ref=None if info is None else info.task_id)

    return _task("reasoningbank_recall", recall)


def report_task(hooks: ReasoningBankHooks) -> Callable[[Recalled, Any], Any]:
    """Return a task that judges what a run gave, and closes its episode: `report_task(hooks)(entry, answer)`."""

    def report(recalled: Recalled, given: Any) -> None:
        hooks.close(recalled["ref"], given)

    return _task("reasoningbank_report", report)


def _task(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    # The decorator's overloads cannot be told apart for a function that is made here.
    decorate: Any = task(name=name)
    made: Callable[..., Any] = decorate(function)
    return made

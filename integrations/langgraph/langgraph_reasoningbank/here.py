"""Where code of a graph runs: the config of its node or task, and the context of the run."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import get_runtime


def running() -> RunnableConfig:
    """Return the config of the node or task that this is called in; an empty one elsewhere."""
    try:
        return get_config()
    except RuntimeError:
        return {}


def context_here() -> Any:
    """Return what the caller gave as the run's context; None when nothing was given, and outside of runs."""
    try:
        return getattr(get_runtime(), "context", None)
    except (RuntimeError, KeyError):
        return None

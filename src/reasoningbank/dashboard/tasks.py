"""Work that takes longer than a page may: done in a thread of its own, and watched by whoever wants to."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from reasoningbank.errors import ReasoningBankError

log = logging.getLogger(__name__)

KEPT: Final = 50
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work, as it is at one moment.

    Attributes:
        kind: what it does, in a word.
        steps, of: how far it is; `of` is 0 where nobody knows.
        result: what came of it, once it is done.
        problem: why it could not be done, in words; "" otherwise.
    """

    key: str
    project: str
    kind: str
    done: bool = False
    steps: int = 0
    of: int = 0
    result: Any = None
    problem: str = ""


class Tasks:
    """The work of one dashboard; the newest is kept. Of a project, one piece of a kind is done at a time."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._changed = threading.Condition()

    def start(self, project: str, kind: str, work: Callable[[Progress], Any]) -> Task:
        """Begin a piece of work, and return it; the one that is under way where there is one of this kind."""
        with self._changed:
            for task in self._tasks.values():
                if not task.done and (task.project, task.kind) == (project, kind):
                    return task
            key = secrets.token_hex(8)
            begun = self._tasks[key] = Task(key, project, kind)
            for old in [each.key for each in self._tasks.values() if each.done][: len(self._tasks) - KEPT]:
                del self._tasks[old]
        threading.Thread(target=self._do, args=(key, work), name=f"dashboard-{kind}", daemon=True).start()
        return begun

    def get(self, key: str) -> Task | None:
        """Return a piece of work as it is now."""
        with self._changed:
            return self._tasks.get(key)

    def newest(self, project: str, kind: str) -> Task | None:
        """Return the newest work of a kind in a project."""
        with self._changed:
            found = [task for task in self._tasks.values() if (task.project, task.kind) == (project, kind)]
            return found[-1] if found else None

    def wait(self, key: str, last: Task, timeout: float) -> Task | None:
        """Return a piece of work as soon as it is another than `last`, or as it is after `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._tasks.get(key) != last, timeout)
            return self._tasks.get(key)

    def _do(self, key: str, work: Callable[[Progress], Any]) -> None:
        try:
            result = work(lambda steps, of: self._change(key, steps=steps, of=of))
        except (ReasoningBankError, OSError) as error:
            self._change(key, done=True, problem=str(error))
        except Exception as error:
            log.exception("the dashboard's task failed")
            self._change(key, done=True, problem=f"it broke down: {type(error).__name__}: {error}")
        else:
            self._change(key, done=True, result=result)

    def _change(self, key: str, **changes: Any) -> None:
        with self._changed:
            if (task := self._tasks.get(key)) is not None:
                self._tasks[key] = replace(task, **changes)
            self._changed.notify_all()

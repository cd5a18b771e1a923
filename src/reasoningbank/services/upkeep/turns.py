"""What a bank does at most once a day, or by one process at a time: whoever comes first has the turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from reasoningbank.services.engine import Engine
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage import meta

EVERY = timedelta(days=1)
# A process that was killed holds its place no longer than this.
HELD = timedelta(minutes=10)


def take_turn(engine: Engine, name: str, now: datetime, *, force: bool = False) -> bool:
    """Take this day's turn; False when somebody had it. Of several processes at once one gets it.

    The time of the last turn is kept in the project's database under `name`; `force` takes it whenever that was.
    """
    if engine.project() is None:
        return False
    with engine.write() as edit:
        last = meta.read(edit).get(name)
        # A time to come was written by a clock that was wrong: it takes no turn away.
        if not force and last is not None and abs(now - parse_time(last)) < EVERY:
            return False
        meta.put(edit, name, time_text(now))
        return True


@contextmanager
def alone(engine: Engine, name: str) -> Iterator[bool]:
    """Hold a place that one process has at a time; give False when another has it.

    Since when it is held is kept in the project's database under `name`.
    """
    now = engine.now()
    since = time_text(now)
    with engine.write(create=False) as edit:
        held = meta.read(edit).get(name)
        mine = held is None or abs(now - parse_time(held)) >= HELD
        if mine:
            meta.put(edit, name, since)
    try:
        yield mine
    finally:
        if mine:
            with engine.write(create=False) as edit:
                meta.drop(edit, name, since)

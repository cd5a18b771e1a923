"""What a bank does at most once a day: whoever comes first has the day's turn."""

from __future__ import annotations

from datetime import datetime, timedelta

from reasoningbank.services.engine import Engine
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage.project import read_meta

EVERY = timedelta(days=1)


def take_turn(engine: Engine, name: str, now: datetime, *, force: bool = False) -> bool:
    """Take this day's turn; False when somebody had it. Of several processes at once one gets it.

    Args:
        name: under which the time of the last turn is kept in the project's database.
        force: take it whenever the last one was.
    """
    with engine.write_existing() as opened:
        if opened is None:
            return False
        connection = opened[1]
        last = read_meta(connection).get(name)
        if not force and last is not None and now < parse_time(last) + EVERY:
            return False
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, time_text(now)))
        return True

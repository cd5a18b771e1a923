"""Transcripts of Cursor's agent: one message a line, who speaks beside it, and the request in `<user_query>`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list


def fits(record: Any) -> bool:
    """Tell whether it is a list of records with a role and, beside it, the message without one."""
    return is_list(record) and any(
        isinstance(get(each, "role"), str) and isinstance(get(each, "message"), Mapping) for each in islice(record, 8)
    )


def read(record: Any) -> Iterator[Found]:
    """Read a transcript as one run. It has the calls of tools, and not always what came of them."""
    yield read_messages(record, place="")

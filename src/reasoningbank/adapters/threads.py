"""Threads and references of frameworks as the bank takes them: texts of at most so many characters."""

from __future__ import annotations

import hashlib
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import ID_LIMIT, is_blank
from reasoningbank.screening.door import checked_name


def thread_of(thread_id: Any, path: str = "") -> str | None:
    """Return the name of a conversation for the bank; None when there is none.

    A sub-agent that inherits the thread has a conversation of its own, so that what a user reports by the thread
    reaches the run that the user saw.

    Args:
        thread_id: as the framework has it: a text, a number, a UUID.
        path: where the run stands in nested graphs, as LangGraph writes it: `node:task|node:task`; "" at the top.
    """
    text = "" if thread_id is None else str(thread_id)
    if is_blank(text):
        return None
    nodes = [part.split(":")[0] for part in path.split("|") if part and not part.isdigit()]
    return as_reference("|".join([text, *nodes]))


def above(checkpoint_ns: Any) -> str:
    """Return where the graph of a node stands in nested graphs, from the node's own place."""
    return str(checkpoint_ns or "").rpartition("|")[0]


def as_reference(given: Any) -> str | None:
    """Return what names a run, as the bank takes it; None when it is blank.

    A long one is cut, and stays its own; one that is a secret, or holds line breaks, is known by its hash.
    """
    text = "" if given is None else str(given)
    if is_blank(text):
        return None
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
    try:
        checked_name("reference", text)
    except InvalidInputError:
        # A token as the thread's name, say: the bank must not keep it, and the run must not break.
        return f"named-{digest}"
    return text if len(text) <= ID_LIMIT else f"{text[: ID_LIMIT - len(digest) - 1]}-{digest}"

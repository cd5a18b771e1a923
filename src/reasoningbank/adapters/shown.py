"""Which lessons stand in what a model is given: known by their ids and sentences, however a prompt is laid out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reasoningbank.memory import Memory

# A sentence or id of fewer letters and digits could stand in a prompt by chance.
SHORTEST = 16
_SIGNS = re.compile(r"[\W_]+")
_ENDS = re.compile(r"[\n.!?\u3002\uff01\uff1f]+")


def letters(text: str) -> str:
    """Return the letters and digits of a text alone: what wrapping, quoting, escaping and bullets leave as it is."""
    return _SIGNS.sub("", text).casefold()


def marks_of(memory: Memory) -> tuple[str, ...]:
    """Return what a lesson is known by in a text, as `letters`: any one of these shows that it is there."""
    found = [letters(memory.id), *map(letters, _ENDS.split(memory.content))]
    whole = letters(memory.content) or letters(memory.title)
    return tuple(mark for mark in found if len(mark) >= SHORTEST and mark) + ((whole,) if whole else ())


def texts_in(given: Any) -> Iterator[str]:
    """Yield the texts in what a chat model is given: messages with text or content blocks, nested as they come."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for name in ("text", "content", "output"):
            yield from texts_in(given.get(name))
    elif isinstance(given, Iterable) and not hasattr(given, "content"):
        for item in given:
            yield from texts_in(item)
    elif (content := getattr(given, "content", None)) is not None:
        yield from texts_in(content)


def letters_in(given: Any) -> str:
    """Return all that a model is given as `letters`."""
    return letters(" ".join(texts_in(given)))

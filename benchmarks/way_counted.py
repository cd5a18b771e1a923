"""How long the way of a call through the package is: files, functions, calls, depth, statements, validations."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import CO_GENERATOR, currentframe
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from pydantic_core import SchemaValidator

import reasoningbank

OWN = str(Path(reasoningbank.__file__).parent)
# What the interpreter runs as a function of its own, in some versions, and nobody would call one.
INSIDE = {"<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}


@dataclass(frozen=True, slots=True)
class Way:
    """What one call does, as far as it does it in the thread that makes it; of the package's own code only.

    Attributes:
        files: in which a function was called.
        functions: that were called, each counted once.
        calls: of all of them; going on with a generator is none.
        depth: how many of them were under way at once.
        statements: sent to SQLite, by any thread; BEGIN, COMMIT and ROLLBACK too.
        validations: calls of a pydantic validator.
    """

    files: int
    functions: int
    calls: int
    depth: int
    statements: int
    validations: int


@contextmanager
def statements_sent() -> Iterator[list[str]]:
    """Give a list that every statement is added to which is sent over a connection that is opened inside."""
    sent: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        # What a virtual table does inside is told as a comment.
        connection.set_trace_callback(lambda sql: None if sql.startswith("--") else sent.append(sql))
        return connection

    with patch.object(sqlite3, "connect", traced):
        yield sent


def way_of(call: Callable[[], object], sent: list[str]) -> Way:
    """Make a call and count its way.

    Args:
        sent: of `statements_sent`; the connections that are used were opened inside it.
    """
    codes: list[CodeType] = []
    generators: set[FrameType] = set()
    depths: list[int] = [0]
    validations = 0
    here = currentframe()

    def note(frame: FrameType, event: str, called: Any) -> None:
        nonlocal validations
        if event == "c_call":
            validations += isinstance(getattr(called, "__self__", None), SchemaValidator)
        elif event == "call" and _is_own(frame) and frame not in generators:
            codes.append(frame.f_code)
            depths.append(_depth(frame, here))
            if frame.f_code.co_flags & CO_GENERATOR:
                generators.add(frame)

    before = len(sent)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Way(
        files=len({code.co_filename for code in codes}),
        functions=len(set(codes)),
        calls=len(codes),
        depth=max(depths),
        statements=len(sent) - before,
        validations=validations,
    )


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(OWN) and frame.f_code.co_name not in INSIDE


def _depth(frame: FrameType | None, above: FrameType | None) -> int:
    """Return how many of the package's functions are under way from `frame` up to, without it, `above`."""
    depth = 0
    while frame is not None and frame is not above:
        depth += _is_own(frame)
        frame = frame.f_back
    return depth

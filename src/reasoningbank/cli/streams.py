"""The standard streams: UTF-8 whatever the locale, and a pipe that may close at any time."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator


def use_utf8() -> None:
    """Read and write UTF-8, whatever the locale or the console's code page; what is no text becomes U+FFFD or `?`."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def repaired(argument: str) -> str:
    """Return an argument as the UTF-8 that was typed.

    In a locale without UTF-8, Python hands over its bytes one by one, as lone surrogates.
    """
    return argument if argument.isascii() else os.fsencode(argument).decode("utf-8", "replace")


def standard_input() -> str:
    """Return all of standard input, without a byte order mark."""
    return sys.stdin.buffer.read().decode("utf-8", "replace").removeprefix("\ufeff")


@contextlib.contextmanager
def forgiving_a_closed_pipe() -> Iterator[None]:
    """Take it as the end of the output, not as an error, when the reader has seen enough (`| head -1`)."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would complain again at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

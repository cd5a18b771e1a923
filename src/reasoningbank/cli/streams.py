"""The standard streams: UTF-8 whatever the locale, results as JSON, and a pipe that may close at any time."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from reasoningbank import Memory


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


def json_form(value: object) -> Any:
    """Return a result of the library as what JSON can hold: fields by their names, times as ISO 8601 text."""
    if isinstance(value, Mapping):
        return {str(key): json_form(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_form(item) for item in value]
    if isinstance(value, Memory):
        return value.as_json()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_form(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return _leaf(value)


def _leaf(value: object) -> Any:
    match value:
        case BaseModel():
            return value.model_dump(mode="json")
        case Enum():
            return value.value
        case datetime() | date():
            return value.isoformat()
        case Path():
            return str(value)
    return value


def json_line(value: object) -> str:
    """Return a result as one line of JSON."""
    return json.dumps(json_form(value), ensure_ascii=False, allow_nan=False)

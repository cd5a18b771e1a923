"""Runs from files: JSON lines, or one JSON document, plain or gzipped."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.trajectory import BadLine, Trajectory, read_lines

RUN_KEYS = frozenset({"task", "query", "steps", "trajectory", "messages"})


def read_runs(source: str | os.PathLike[str] | IO[str]) -> Iterator[Trajectory | BadLine]:
    """Read runs, one at a time.

    Args:
        source: a file, gzipped if its name ends in `.gz`, or an open text stream. It holds JSON lines, one run each, or
            one JSON document: a run, a list of chat messages, or a list of runs.

    Yields:
        Each run in its order, or a BadLine that says which line is none and why.

    Raises:
        InvalidInputError: the file cannot be read.
    """
    if isinstance(source, (str, os.PathLike)):
        with _opened(Path(source)) as stream:
            yield from _read(stream)
    else:
        yield from _read(source)


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            yield io.TextIOWrapper(stream, "utf-8", errors="replace")
    except (OSError, EOFError) as error:
        raise InvalidInputError(f"{path} cannot be read ({error}): give a file of runs") from error


def _read(stream: IO[str]) -> Iterator[Trajectory | BadLine]:
    head = ""
    for line in stream:
        head += line
        if line.strip():
            break
    first = _loaded(head)
    if first is None:
        # Not JSON lines, then: one document on several lines. If it is none either, each line says so itself.
        rest = stream.read()
        document = _loaded(head + rest)
        if document is None:
            yield from read_lines((head + rest).splitlines())
        else:
            yield from _of_document(document)
    elif isinstance(first, list):
        yield from _of_document(first)
        yield from read_lines(stream)
    else:
        yield from read_lines(chain(head.splitlines(), stream))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_document(document: Any) -> Iterator[Trajectory | BadLine]:
    """Yield the runs of a document: a list of runs gives each, any other list is one run's messages or steps."""
    several = isinstance(document, list) and all(isinstance(run, Mapping) and RUN_KEYS & run.keys() for run in document)
    for run in document if several else [document]:
        yield from read_lines([json.dumps(run)])

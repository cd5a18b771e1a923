"""Runs from files, folders and streams: JSON lines, JSON documents, histories in Markdown, stores of editors."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from reasoningbank.distill.run_folders import RunSource, sources_in
from reasoningbank.distill.run_stores import is_store, records_in
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers.recognise import lines_form, named, read_as, recognised, split
from reasoningbank.runs.readers.table import Form
from reasoningbank.runs.trajectory import BadLine, Trajectory

LINE_LIMIT = 64 * 1024 * 1024  # characters of one line
DOCUMENT_LIMIT = 512 * 1024 * 1024  # characters of one document, which has to be held in memory
SAMPLE = 60  # lines that are looked at to tell whether they are runs, or events of one run
FEW = 3  # bad lines of a file with no good one that are named each; of more, the first speaks for all

Read = Trajectory | BadLine


def read_runs(source: str | os.PathLike[str] | IO[str], *, form: str | None = None) -> Iterator[Read]:
    """Read runs, one at a time.

    Args:
        source: a file (gzipped if its name ends in `.gz`), a folder (what is in it in the order of its paths, see
            `run_folders.sources_in`), or an open text stream. A file holds JSON lines, each a run or all together the
            events of a session, or JSON documents: a run, a list of messages, or runs in a list or dictionary; or it
            is an agent's history in Markdown, or an editor's SQLite store.
        form: the name of the form they are in; else it is recognised by what they look like.

    Yields:
        Each run in its order, or a BadLine that says which line or item is none and why.

    Raises:
        InvalidInputError: the file cannot be read, or the form is not known.
    """
    if form is not None:
        named(form)
    if not isinstance(source, (str, os.PathLike)):
        yield from _read(source, form)
        return
    path = Path(source)
    if not path.is_dir():
        yield from _of_file(path, form)
        return
    for each in sources_in(path):
        yield from (replace(read, source=str(each.path)) if isinstance(read, BadLine) else read
                    for read in read_source(each, form))  # fmt: skip


def read_source(source: RunSource, form: str | None = None) -> Iterator[Read]:
    """Read what is in a file of a folder, or in files that belong together, as `read_runs` does."""
    if source.join is None:
        yield from _of_file(source.path, form)
        return
    record, bad = source.record()
    yield from bad
    yield from _of_document(record, form, 1)


def _of_file(path: Path, form: str | None) -> Iterator[Read]:
    try:
        stored = is_store(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    if stored:
        for number, record in enumerate(records_in(path), start=1):
            yield from [record] if isinstance(record, BadLine) else _of_document(record, form, number)
        return
    with _opened(path) as stream:
        yield from _read(stream, form)


def _unreadable(path: Path, error: Exception) -> InvalidInputError:
    return InvalidInputError(f"{path} cannot be read ({error}): give a file of runs")


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            head = stream.peek(4)[:2]
            wide = head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            yield io.TextIOWrapper(stream, "utf-16" if wide else "utf-8", errors="replace", newline="\n")
    except (OSError, EOFError) as error:
        raise _unreadable(path, error) from error


Line = tuple[int, str]


def _read(stream: IO[str], form: str | None) -> Iterator[Read]:
    lines = _lines(stream)
    head = list(islice(lines, 1))
    if not head:
        return
    first = _loaded(head[0][1])
    if isinstance(first, BadLine):
        yield from _read_whole(head, stream, form)
        return
    sample = [*head, *islice(lines, SAMPLE - 1)]
    together = _together(sample, form)
    if len(sample) == 1 and together is None:
        yield from _of_document(first, form, 1)
    elif together is None:
        yield from _each_line(sample, form)
        yield from _each_line(lines, form)
    else:
        yield from _as_one([*sample, *lines], together)


def _lines(stream: IO[str]) -> Iterator[Line]:
    """Yield the lines that are not blank, with their numbers. Only a line feed ends one; a byte order mark is none."""
    number = 0
    while line := stream.readline(LINE_LIMIT + 1):
        number += 1
        if len(line) > LINE_LIMIT and not line.endswith("\n"):
            while not line.endswith("\n") and (line := stream.readline(LINE_LIMIT)):
                pass
            yield number, TOO_LONG
            continue
        line = line.removeprefix("\ufeff") if number == 1 else line
        if line.strip():
            yield number, line


TOO_LONG = f"\0longer than {LINE_LIMIT:,} characters"


def _loaded(text: str, number: int = 1) -> Any:
    """Return what a text says as JSON, or a BadLine."""
    if text is TOO_LONG:
        return BadLine(number, f"the line is {text[1:]}: split the file, one run a line")
    try:
        return json.loads(text)
    except ValueError as error:
        return BadLine(number, f"not JSON: {error}"[:300])
    except RecursionError:
        return BadLine(number, "not JSON that can be read: it is nested too deeply")


def _read_whole(head: Sequence[Line], stream: IO[str], form: str | None) -> Iterator[Read]:
    """Read what is not JSON lines from its first line on: one document on several lines, or several documents."""
    number, line = head[0]
    text = line if line is TOO_LONG else line + stream.read(DOCUMENT_LIMIT + 1 - len(line))
    if len(text) > DOCUMENT_LIMIT:
        yield BadLine(1, f"the document has more than {DOCUMENT_LIMIT:,} characters: write one run a line")
        return
    document = _loaded(text)
    if not isinstance(document, BadLine):
        yield from _of_document(document, form, number)
        return
    documents = list(_documents(text)) if text.lstrip()[:1] in ("{", "[") else []
    if documents:
        for count, each in enumerate(documents, start=1):
            yield from _of_document(each, form, count)
        return
    if recognised(text) is not None:
        yield from _of_document(text, form, number)
        return
    lines = [(count, each) for count, each in enumerate(text.split("\n"), start=number) if each.strip()]
    read = list(_each_line(lines, form))
    all_bad = all(isinstance(each, BadLine) for each in read)
    yield from [document] if all_bad and len(read) > FEW else read


def _documents(text: str) -> Iterator[Any]:
    """Yield the JSON documents that follow each other in a text; none if it holds anything else."""
    decoder, at, found = json.JSONDecoder(), 0, []
    space = re.compile(r"\s*")
    try:
        while (at := space.match(text, at).end()) < len(text):  # type: ignore[union-attr]
            document, at = decoder.raw_decode(text, at)
            found.append(document)
    except (ValueError, RecursionError):
        return
    yield from found


def _together(sample: Sequence[Line], form: str | None) -> Form | None:
    records = [record for record in (_loaded(line) for _, line in sample) if not isinstance(record, BadLine)]
    return lines_form(records, form) if records and isinstance(records[0], dict) else None


def _as_one(lines: Sequence[Line], form: Form) -> Iterator[Read]:
    """Read lines that are events of one record; a bad one costs only itself."""
    records = []
    for number, line in lines:
        record = _loaded(line, number)
        if isinstance(record, BadLine):
            yield record
        else:
            records.append(record)
    yield from _read_as(records, form, 1)


def _each_line(lines: Sequence[Line] | Iterator[Line], form: str | None) -> Iterator[Read]:
    for number, line in lines:
        record = _loaded(line, number)
        if isinstance(record, BadLine):
            yield record
        else:
            yield from _of_document(record, form, number)


def _of_document(document: Any, form: str | None, number: int) -> Iterator[Read]:
    if document in ({}, []):
        yield Trajectory()
        return
    try:
        parts = list(split(document, form))
    except InvalidInputError as error:
        yield BadLine(number, str(error))
        return
    several = len(parts) > 1
    for count, (_, record, its_form) in enumerate(parts, start=1):
        yield from _read_as(record, its_form, count if several else number)


def _read_as(record: Any, form: Form | None, number: int) -> Iterator[Read]:
    try:
        yield from read_as(record, form)
    except InvalidInputError as error:
        yield BadLine(number, re.sub(r"\s+", " ", str(error))[:1_000])

"""Opening what lessons come from, whatever its form."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from reasoningbank.errors import InvalidInputError, ReasoningBankError
from reasoningbank.formats.lesson_pages import holds_playbook, is_index, read_lessons

Line = str | bytes | Mapping[str, Any]
PAGES = (".md", ".markdown", ".mdc")
TEXTS = (".txt", "")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line, record, row or page.

    Attributes:
        number: of the line, from 1; of the record in what has no lines.
        name: of the file, where there are several.
    """

    number: int
    line: Line
    name: str = ""


@dataclass(frozen=True, slots=True)
class Entries:
    """What is in a source.

    Attributes:
        total: how many lines, records or pages there are, None when that is not known.
        left_out: names of pages that only lead to others.
    """

    entries: Iterator[Entry]
    total: int | None = None
    left_out: tuple[str, ...] = ()


def numbered(lines: Iterable[Line], total: int | None = None) -> Entries:
    """Return lines with their numbers."""
    return Entries((Entry(n, line) for n, line in enumerate(lines, start=1)), total)


@contextmanager
def open_source(path: Path) -> Iterator[Entries]:
    """Open a file of JSON lines, a JSON document, a database, a Markdown page or a folder of pages.

    InvalidInputError when it is none of these, or cannot be read.
    """
    try:
        if path.is_dir():
            yield _pages(sorted(file for ending in PAGES for file in path.rglob(f"*{ending}")), path)
        elif path.suffix.lower() in PAGES or _is_playbook(path):
            yield _pages([path], path.parent)
        elif _is_database(path):
            records = _swarm(path)
            yield numbered(records, len(records))
        else:
            with path.open("rb") as file:
                yield _json(file)
    except OSError as error:
        if isinstance(error, ReasoningBankError):
            # The bank's own trouble with what was read.
            raise
        raise InvalidInputError(f"{path} cannot be read: {error.strerror or error}") from error


def _pages(files: list[Path], folder: Path) -> Entries:
    if not files:
        raise InvalidInputError(f"{folder} holds no Markdown pages (*.md)")
    texts = {file: file.read_bytes().decode("utf-8", "replace") for file in files}
    indexes = {file for file in files if len(files) > 1 and is_index(texts[file], file.stem)}

    def read() -> Iterator[Entry]:
        for number, file in enumerate((file for file in files if file not in indexes), start=1):
            place = file.relative_to(folder).as_posix()
            # A skill is named by its folder.
            name = file.absolute().parent.name if file.stem.upper() == "SKILL" else file.stem
            for record in read_lessons(texts[file], name, place):
                yield Entry(number, record, place)

    left_out = tuple(file.relative_to(folder).as_posix() for file in files if file in indexes)
    return Entries(read(), len(files) - len(indexes), left_out)


def _json(file: IO[bytes]) -> Entries:
    document = None if _is_of_lines(file) else _document(file)
    file.seek(0)
    if document is not None:
        return numbered(document, len(document))
    total = sum(1 for _ in file)
    file.seek(0)
    return numbered(file, total)


def _is_of_lines(file: IO[bytes]) -> bool:
    """Tell whether each line is a value of its own, without reading the whole file."""
    filled = (line for line in file if line.strip())
    first, second = next(filled, b""), next(filled, None)
    return second is not None and isinstance(_loaded(first), dict)


def _document(file: IO[bytes]) -> list[Any] | None:
    """Return the records of a file that is one JSON value; None when it is not."""
    file.seek(0)
    match _loaded(file.read()):
        case list(records):
            return records
        case dict(record):
            return _held(record)
    return None


def _held(document: dict[str, Any]) -> list[Any]:
    """Return the records of an export: under a key, or under one for each of its namespaces; or the one there is."""
    for key in ("results", "memories", "data", "items"):
        if _is_records(document.get(key)):
            return list(document[key])
    if document and all(map(_is_records, document.values())):
        return [record for records in document.values() for record in records]
    return [document]


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(record, dict) for record in value)


def _loaded(text: bytes) -> Any:
    try:
        return json.loads(text.removeprefix(b"\xef\xbb\xbf"), parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


# -- the SQLite file of agentic-flow and claude-flow (`.swarm/memory.db`), read and never written ----------------------

SQLITE = b"SQLite format 3\0"


def _is_playbook(path: Path) -> bool:
    """Tell whether a file of plain text, such as `playbook.txt`, is one."""
    return path.suffix.lower() in TEXTS and holds_playbook(path.read_bytes().decode("utf-8", "replace"))


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _swarm(path: Path) -> list[str | dict[str, Any]]:
    """Return the lessons (`patterns`) and the entries (`memory_entries`) of a database, as records."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            tables = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables & {"patterns", "memory_entries"}:
                raise InvalidInputError(f"{path} holds neither patterns nor memory_entries: is it a .swarm/memory.db?")
            lessons = _patterns(connection) if "patterns" in tables else ()
            return [*lessons, *(_rows(connection) if "memory_entries" in tables else ())]
    except sqlite3.Error as error:
        raise InvalidInputError(f"{path} cannot be read as a database: {error}") from error


def _patterns(connection: sqlite3.Connection) -> Iterator[str | dict[str, Any]]:
    for row in connection.execute(
        "SELECT id, pattern_data FROM patterns WHERE type = 'reasoning_memory' ORDER BY rowid"
    ):
        lesson = _read(row["pattern_data"])
        # What is no JSON goes on as it is, to be named as a bad line.
        yield {"id": row["id"], "pattern_data": lesson} if isinstance(lesson, Mapping) else str(row["pattern_data"])


def _rows(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Versions differ: the text is `value` or `content`, and later ones mark what is deleted."""
    for row in connection.execute("SELECT * FROM memory_entries ORDER BY rowid"):
        entry = {key: row[key] for key in row.keys()}  # noqa: SIM118 - a Row is no dictionary
        if entry.get("status") in (None, "active"):
            yield {
                "key": entry["key"],
                "value": entry.get("value", entry.get("content")),
                "namespace": entry.get("namespace"),
                "tags": _read(entry.get("tags")),
                "metadata": _read(entry.get("metadata")),
            }


def _read(text: object) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None

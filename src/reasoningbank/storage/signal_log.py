"""The JSON-lines signal log: one append-only segment per UTC day, numbered.

The database's write transaction is the log's lock, so nothing here locks. Appends go to the newest segment only; the
order of evidence is (segment number, offset), never the clock: a clock that steps back across midnight would
otherwise let an older verdict win.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from reasoningbank.signals import BadLineError, Signal, from_line, to_line
from reasoningbank.storage.database import storage_error

_SEGMENT = re.compile(r"(\d{6,})-(\d{4})-(\d{2})-(\d{2})\.jsonl")
_EPOCH = date(1970, 1, 1)
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of the log.

    Attributes:
        number: its place in the order of evidence.
        day: days since 1970-01-01 of the UTC day it was begun.
    """

    number: int
    name: str
    day: int


@dataclass(frozen=True, slots=True)
class Line:
    """One terminated line of a segment.

    Attributes:
        end: the offset just behind its newline.
        signal: None when it cannot be read; `problem` then says why.
    """

    end: int
    signal: Signal | None
    problem: str = ""


def segment_of(number: int, day: int) -> Segment:
    """Return the segment with this number, begun on this day."""
    return Segment(number, f"{number:06d}-{(_EPOCH + timedelta(days=day)).isoformat()}.jsonl", day)


class SignalLog:
    """The segments of one project.

    Args:
        folder: where they are; it is made at the first append.
        fsync: wait for the disk after each append.
    """

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self.folder, self._fsync = folder, fsync

    def segments(self) -> list[Segment]:
        """Return the segments that are on the disk, in the order of evidence; other files are passed over."""
        try:
            names = sorted(entry.name for entry in self.folder.iterdir())
        except FileNotFoundError:
            return []
        found = []
        for name in names:
            if match := _SEGMENT.fullmatch(name):
                number, *ymd = (int(part) for part in match.groups())
                try:
                    found.append(Segment(number, name, (date(*ymd) - _EPOCH).days))
                except ValueError:
                    continue
        return sorted(found, key=lambda segment: (segment.number, segment.name))

    def size(self, segment: Segment) -> int:
        """Return the segment's length in bytes; 0 when it is gone."""
        try:
            return (self.folder / segment.name).stat().st_size
        except FileNotFoundError:
            return 0

    def heal_tail(self, segment: Segment, start: int) -> None:
        """End the segment's last line: with a newline when it is a whole signal, by cutting it off when it is torn.

        Must be done before an append: a new line glued to a torn one would lose both. What is cut is kept aside.

        Args:
            start: an offset at a line's beginning; what is before it is not looked at.
        """
        path = self.folder / segment.name
        try:
            with path.open("r+b") as file:
                file.seek(start)
                tail = file.read()
                if not tail or tail.endswith(b"\n"):
                    return
                cut = tail.rfind(b"\n") + 1
                torn = tail[cut:]
                try:
                    from_line(torn)
                except BadLineError:
                    with path.with_suffix(".torn").open("ab") as aside:
                        aside.write(torn + b"\n")
                    file.truncate(start + cut)
                else:
                    file.seek(0, os.SEEK_END)
                    file.write(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error(error, path) from error

    def append(self, segment: Segment, signals: Sequence[Signal]) -> tuple[int, int]:
        """Append whole lines and return the offsets before and behind them; when that fails, nothing is appended.

        Raises:
            StorageError: the disk refused; the segment is as before.
        """
        path = self.folder / segment.name
        data = b"".join(map(to_line, signals))
        try:
            self.folder.mkdir(exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
            try:
                before = os.fstat(descriptor).st_size
                try:
                    _write_all(descriptor, data)
                    if self._fsync:
                        os.fsync(descriptor)
                except BaseException:
                    os.ftruncate(descriptor, before)
                    raise
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error(error, path) from error
        if self._fsync and before == 0:
            self._sync_folder()
        return before, before + len(data)

    def _sync_folder(self) -> None:
        # A new file's name is only on the disk once its folder is.
        if os.name == "posix":
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def lines(self, segment: Segment, start: int) -> Iterator[Line]:
        r"""Yield the terminated lines from the offset `start` on. Lines are split at `\n` only."""
        path = self.folder / segment.name
        try:
            with path.open("rb") as file:
                file.seek(start)
                offset, rest = start, b""
                while chunk := file.read(_CHUNK):
                    *whole, rest = (rest + chunk).split(b"\n")
                    for raw in whole:
                        offset += len(raw) + 1
                        yield _line(raw, offset)
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error(error, path) from error

    def take_back(self, segment: Segment, *, start: int, end: int) -> None:
        """Cut off an append that ran from `start` to `end`, unless something stands behind it already."""
        path = self.folder / segment.name
        try:
            if self.size(segment) == end:
                os.truncate(path, start)
        except OSError as error:
            raise storage_error(error, path) from error

    def delete(self, segment: Segment) -> None:
        """Delete a segment's file, if it is there."""
        (self.folder / segment.name).unlink(missing_ok=True)


def _line(raw: bytes, end: int) -> Line:
    if not raw.strip():
        return Line(end, None)
    try:
        return Line(end, from_line(raw))
    except BadLineError as error:
        return Line(end, None, str(error))


def _write_all(descriptor: int, data: bytes) -> None:
    # A write may be short (a signal, a nearly full disk): what is left follows, so that no line is left half-made.
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]

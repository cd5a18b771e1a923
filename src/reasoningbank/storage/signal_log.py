"""The JSON-lines signal log: one append-only segment per UTC day, numbered.

The database's write transaction is the log's lock, so nothing here locks. Appends go to the newest segment only; the
order of evidence is (segment number, offset), never the clock: a clock that steps back across midnight would
otherwise let an older verdict win.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import BinaryIO

from reasoningbank.signals import BadLineError, Signal, from_line, to_line
from reasoningbank.storage.failures import reported
from reasoningbank.storage.files import aside, rename, size_of, sync_file, sync_folder

_SEGMENT = re.compile(r"(\d{6,12})-(\d{4})-(\d{2})-(\d{2})\.jsonl")
_TORN, _DAMAGED = ".torn", ".damaged"
_CHUNK = 1 << 20
_EPOCH = date(1970, 1, 1)
# Elsewhere than on Windows, files are read as they are.
_BINARY: int = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of the log: its place in the order of evidence, and its name."""

    number: int
    name: str

    @property
    def day(self) -> int:
        """The UTC day it was begun, as its name says (days since 1970-01-01); 0 where a damaged one says none."""
        named = _SEGMENT.fullmatch(self.name)
        try:
            return (date(*map(int, named.groups()[1:])) - _EPOCH).days if named else 0
        except ValueError:
            return 0


@dataclass(frozen=True, slots=True)
class Line:
    """A terminated line, and the offset behind its newline; without a signal, `problem` says why it cannot be read."""

    end: int
    signal: Signal | None
    problem: str = ""


def segment_of(number: int, day: int) -> Segment:
    """Return the segment with this number, begun on this day."""
    return Segment(number, f"{number:06d}-{(_EPOCH + timedelta(days=day)).isoformat()}.jsonl")


class SignalLog:
    """The segments of one project, in a folder that is made at the first append; `fsync` waits for the disk at each."""

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self.folder, self._fsync = folder, fsync

    def _names(self) -> list[str]:
        try:
            with os.scandir(self.folder) as entries:
                return sorted(entry.name for entry in entries if entry.is_file())
        except FileNotFoundError:
            return []

    def segments(self) -> list[Segment]:
        """Return the segments that are on the disk, in the order of evidence; other files are passed over."""
        with reported(self.folder):
            names = self._names()
        found = []
        for name in names:
            if match := _SEGMENT.fullmatch(name):
                number, *ymd = (int(part) for part in match.groups())
                with contextlib.suppress(ValueError):
                    date(*ymd)
                    found.append(Segment(number, name))
        return sorted(found, key=lambda segment: (segment.number, segment.name))

    def sizes(self) -> dict[str, int]:
        """Return the lengths in bytes of the segments that are on the disk, by name."""
        with reported(self.folder):
            try:
                with os.scandir(self.folder) as entries:
                    return {entry.name: entry.stat().st_size for entry in entries if _SEGMENT.fullmatch(entry.name)}
            except FileNotFoundError:
                return {}

    def kept_aside(self) -> tuple[str, ...]:
        """Return the names of the files with what was cut off unfinished lines, and of copies of damaged segments."""
        with reported(self.folder):
            return tuple(name for name in self._names() if name.endswith((_TORN, _DAMAGED)))

    def files(self) -> list[tuple[str, int]]:
        """Return every file of the log, and its length as it is now."""
        with reported(self.folder):
            return [(name, (self.folder / name).stat().st_size) for name in self._names()]

    def size(self, segment: Segment) -> int:
        """Return the segment's length in bytes; 0 when it is gone."""
        path = self.folder / segment.name
        with reported(path):
            return size_of(path)

    def ends_line_at(self, segment: Segment, position: int) -> bool:
        """Tell whether a line of the segment ends at `position`, as it does at its beginning."""
        if position == 0:
            return True
        path = self.folder / segment.name
        with reported(path):
            try:
                descriptor = os.open(path, os.O_RDONLY | _BINARY)
            except FileNotFoundError:
                return False
            try:
                return _ends_line(descriptor, position)
            finally:
                os.close(descriptor)

    def checksum(self, segment: Segment, start: int, end: int, begun: int = 0) -> int:
        """Return the CRC-32 of a segment's bytes from `start` to `end`, going on from that of those before `start`."""
        path = self.folder / segment.name
        with reported(path), contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(start)
            while chunk := file.read(min(_CHUNK, end - start)):
                begun = zlib.crc32(chunk, begun)
                start += len(chunk)
        return begun

    def keep_aside(self, segment: Segment) -> None:
        """Copy a segment that is damaged beside it, as it is; what was kept of it before stays."""
        path = self.folder / segment.name
        with reported(path), contextlib.suppress(FileNotFoundError):
            count = sum(name.startswith(path.stem) and name.endswith(_DAMAGED) for name in self._names())
            shutil.copy2(path, path.with_suffix(f".{count}{_DAMAGED}" if count else _DAMAGED))

    def drop_unreadable(self, segment: Segment) -> None:
        """Write a segment anew without the lines that cannot be read; cut short, it is as it was."""
        path = self.folder / segment.name
        with reported(path), contextlib.suppress(FileNotFoundError):
            lines = path.read_bytes().split(b"\n")[:-1]
            _write_anew(path, [raw + b"\n" for raw in lines if not read_line(raw, 0).problem])

    def reword(self, segment: Segment, said: Callable[[Signal], Signal]) -> int:
        """Write a segment anew with what `said` makes of its signals, and return how many it changed.

        The order stays, and what cannot be read does; cut short, the segment is as it was.
        """
        path, changed = self.folder / segment.name, 0
        with reported(path), contextlib.suppress(FileNotFoundError):
            lines = path.read_bytes().splitlines(keepends=True)
            for at, raw in enumerate(lines):
                signal = read_line(raw.rstrip(b"\n"), 0).signal
                if signal is not None and (anew := said(signal)) != signal:
                    lines[at], changed = to_line(anew), changed + 1
            if changed:
                _write_anew(path, lines)
        return changed

    def heal_tail(self, segment: Segment, start: int) -> None:
        """End the segment's last line: with a newline when it is a whole signal, by cutting it off when it is torn.

        Must be done before an append: a new line glued to a torn one would lose both. What is cut is kept aside. What
        is before `start`, which is at a line's beginning, is not looked at.
        """
        path = self.folder / segment.name
        with reported(path), contextlib.suppress(FileNotFoundError), path.open("r+b") as file:
            _heal(file, start, path.with_suffix(_TORN))

    def append(self, segment: Segment, signals: Sequence[Signal]) -> tuple[int, int]:
        """Append whole lines and return the offsets before and behind them.

        StorageError when the disk refuses; the segment is as before then.
        """
        path = self.folder / segment.name
        data = b"".join(map(to_line, signals))
        with reported(path):
            descriptor = self._open_to_append(path)
            try:
                before = os.fstat(descriptor).st_size
                # What has been counted is not looked at again, and a power loss can leave zeros at its end.
                if before and not _ends_line(descriptor, before):
                    data = b"\n" + data
                try:
                    _write_all(descriptor, data)
                    if self._fsync:
                        sync_file(descriptor)
                except BaseException:
                    os.ftruncate(descriptor, before)
                    raise
            finally:
                os.close(descriptor)
            if self._fsync and before == 0:
                sync_folder(self.folder)
        return before, before + len(data)

    def _open_to_append(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY
        try:
            return os.open(path, flags, 0o644)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                self.folder.mkdir()
                if self._fsync:
                    sync_folder(self.folder.parent)
            return os.open(path, flags, 0o644)

    def lines(self, segment: Segment, start: int) -> Iterator[Line]:
        r"""Yield the terminated lines from the offset `start` on. Lines are split at `\n` only."""
        path = self.folder / segment.name
        with reported(path), contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(start)
            offset = start
            for raw in file:
                if not raw.endswith(b"\n"):
                    return
                offset += len(raw)
                yield read_line(raw[:-1], offset)

    def take_back(self, segment: Segment, *, start: int, end: int) -> None:
        """Cut off an append that ran from `start` to `end`, unless something stands behind it already."""
        path = self.folder / segment.name
        with reported(path):
            if self.size(segment) == end:
                os.truncate(path, start)

    def delete(self, segment: Segment) -> None:
        """Delete a segment's file, if it is there, and can be deleted now."""
        # Where it cannot (another process reads it, on Windows), its mark lets the next upkeep do it.
        with contextlib.suppress(FileNotFoundError, PermissionError):
            (self.folder / segment.name).unlink()


def _write_anew(path: Path, lines: Iterable[bytes]) -> None:
    anew = aside(path, "mended")
    with anew.open("wb") as file:
        file.writelines(lines)
        file.flush()
        sync_file(file.fileno())
    rename(anew, path)


def _heal(file: BinaryIO, start: int, aside: Path) -> None:
    file.seek(start)
    tail = file.read()
    if not tail or tail.endswith(b"\n"):
        return
    cut = tail.rfind(b"\n") + 1
    torn = tail[cut:]
    try:
        from_line(torn)
    except BadLineError:
        with aside.open("ab") as kept:
            kept.write(torn + b"\n")
        file.truncate(start + cut)
    else:
        file.seek(0, os.SEEK_END)
        file.write(b"\n")


def read_line(raw: bytes, end: int) -> Line:
    """Return a line without its newline, which ends at an offset, as what it says."""
    if not raw.strip():
        return Line(end, None)
    try:
        return Line(end, from_line(raw))
    except BadLineError as error:
        return Line(end, None, str(error))


def _ends_line(descriptor: int, position: int) -> bool:
    os.lseek(descriptor, position - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    # A write may be short (a signal, a nearly full disk): what is left follows, so that no line is left half-made.
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]

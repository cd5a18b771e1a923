"""A disk that is full from one write on: those of our own and those of SQLite."""

from __future__ import annotations

import ctypes
import errno
import os
from types import TracebackType
from typing import Any, Self

from tests.torture.sqlite_calls import SystemCalls

_PositionedWrite = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)


class FullDisk:
    """Counts writes, and refuses all from one on; `short` lets a part of the first refused one through.

    Args:
        full_at: number of the first write that is refused, from 1; 0 refuses none.
    """

    def __init__(self, full_at: int, *, short: bool = False) -> None:
        self._full_at, self._short = full_at, short
        self.writes = 0
        self._calls = SystemCalls()

    @property
    def was_full(self) -> bool:
        """Whether it ever refused a write."""
        return 0 < self._full_at <= self.writes

    def _has_room(self) -> bool:
        self.writes += 1
        return not self.was_full

    def __enter__(self) -> Self:
        self._write = os.write
        os.write = self._our_write
        write = self._calls.original("pwrite64", _PositionedWrite)

        def positioned(descriptor: int, data: int, length: int, offset: int) -> int:
            if self._has_room():
                written: int = write(descriptor, data, length, offset)
                return written
            if self._short and self.writes == self._full_at and length > 1:
                return int(write(descriptor, data, length // 2, offset))
            ctypes.set_errno(errno.ENOSPC)
            return -1

        self._calls.replace("pwrite64", _PositionedWrite(positioned))
        return self

    def _our_write(self, descriptor: int, data: Any) -> int:
        if self._has_room():
            return self._write(descriptor, data)
        if self._short and self.writes == self._full_at and len(data) > 1:
            return self._write(descriptor, bytes(data)[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.write = self._write
        self._calls.restore()

"""SQLite's own calls to the operating system, reached through the shared library that Python's sqlite3 uses."""

from __future__ import annotations

import ctypes
import sqlite3
from typing import Any

import pytest

# Behind three ints: pNext, zName, pAppData, twelve methods, xCurrentTimeInt64, and these two.
_METHODS_BEFORE = 16
_SetCall = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_GetCall = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


def library() -> ctypes.CDLL:
    """Return the SQLite that Python's sqlite3 uses, or skip the test where it cannot be reached."""
    try:
        found = ctypes.CDLL("libsqlite3.so.0")
    except OSError:
        pytest.skip("SQLite is not a shared library here: its calls cannot be seen")
    found.sqlite3_libversion.restype = ctypes.c_char_p
    if found.sqlite3_libversion().decode() != sqlite3.sqlite_version:
        pytest.skip("Python's sqlite3 uses another SQLite than the shared library")
    found.sqlite3_file_control.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    found.sqlite3_vfs_find.restype = ctypes.c_void_p
    found.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    return found


class SystemCalls:
    """Puts calls of ours in the place of SQLite's (its `xSetSystemCall`, which is there for tests)."""

    def __init__(self) -> None:
        self._vfs: int = library().sqlite3_vfs_find(None)
        methods = self._vfs + 3 * ctypes.sizeof(ctypes.c_int) + ctypes.sizeof(ctypes.c_int)
        size = ctypes.sizeof(ctypes.c_void_p)
        set_, get = (ctypes.c_void_p.from_address(methods + (_METHODS_BEFORE + i) * size).value for i in (0, 1))
        self._set, self._get = _SetCall(set_ or 0), _GetCall(get or 0)
        self._ours: dict[str, Any] = {}

    def original(self, name: str, prototype: Any) -> Any:
        """Return the call that SQLite makes now."""
        return prototype(self._get(self._vfs, name.encode()))

    def replace(self, name: str, call: Any) -> None:
        """Have SQLite make this call instead; `call` is a ctypes function pointer."""
        self._ours[name] = call
        assert self._set(self._vfs, name.encode(), ctypes.cast(call, ctypes.c_void_p)) == 0

    def restore(self) -> None:
        """Have SQLite make its own calls again."""
        for name in self._ours:
            self._set(self._vfs, name.encode(), None)
        self._ours = {}

"""The text index as it is stored."""

from __future__ import annotations

from importlib.resources import files

_FIRST = files("reasoningbank.storage") / "migrations" / "0001_foundation.sql"
TERMS_TABLE = next(line for line in _FIRST.read_text("utf-8").splitlines() if line.startswith("CREATE VIRTUAL TABLE"))

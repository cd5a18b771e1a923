"""Rows of files of runs that were distilled."""

from __future__ import annotations

from datetime import datetime

from reasoningbank.signals import time_text
from reasoningbank.storage.contract import Reading, Writing


def has(reading: Reading, digest: str) -> bool:
    """Tell whether a file was distilled."""
    return bool(reading.execute("SELECT 1 FROM read_files WHERE digest = ?", (digest,)).fetchone())


def add(writing: Writing, digest: str, now: datetime) -> None:
    """Note that a file was distilled; the first time stays."""
    writing.insert("read_files", ("digest", "at"), [(digest, time_text(now))], "ON CONFLICT (digest) DO NOTHING")

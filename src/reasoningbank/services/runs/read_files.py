"""Files of runs that were distilled before."""

from __future__ import annotations

from reasoningbank.services.engine import Engine
from reasoningbank.storage import read_files


def was_read(engine: Engine, digest: str) -> bool:
    """Tell whether a file was noted."""
    with engine.read() as view:
        return read_files.has(view, digest)


def note_read(engine: Engine, digest: str) -> None:
    """Note a file."""
    with engine.write() as edit:
        read_files.add(edit, digest, engine.now())

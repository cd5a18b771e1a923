"""Lessons out as a page that agents read, kept up to date in its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reasoningbank.errors import InvalidInputError
from reasoningbank.exchange.sheets import SHEETS, skill_front, with_block
from reasoningbank.memory import State
from reasoningbank.services.engine import Engine
from reasoningbank.services.exchange.export import Chosen, export_records, write_whole


def export_sheet(
    engine: Engine,
    path: Path,
    form: str,
    *,
    unproven: bool,
    chosen: Chosen,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the active lessons that are proven, or all of them, the surest first; return how many.

    Of a file that is there, what was exported before is replaced, and the rest stays as it is. A skill is a folder with
    a SKILL.md in it. InvalidInputError when the file is no text, StorageError when it cannot be written.
    """
    file = path / "SKILL.md" if form == "skill" and path.suffix.lower() != ".md" else path
    floor = 0.0 if unproven else engine.settings.floor
    records = [
        record
        for record in export_records(engine, chosen=chosen)
        if record["state"] == State.ACTIVE.value and record["confidence"] >= floor
    ]
    records.sort(key=lambda record: (-record["confidence"], record["id"]))
    before = _text_of(file)
    if form == "skill" and not before.strip():
        before = skill_front(file.absolute().parent.name)
    text = with_block(before, SHEETS[form](records) or "No lesson is proven yet.")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, lambda target: target.write(text))
    if progress is not None:
        progress(len(records))
    return len(records)


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8") if file.exists() else ""
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{file} is not text in UTF-8: name another file") from error

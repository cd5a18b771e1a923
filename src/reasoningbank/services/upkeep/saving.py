"""Copies: what can be saved of a damaged project, and a backup in a project's place."""

from __future__ import annotations

from pathlib import Path

from reasoningbank.errors import BusyError, InvalidInputError, ProjectNotFoundError
from reasoningbank.services.engine import Engine
from reasoningbank.services.upkeep.state import doctor
from reasoningbank.signals import time_text
from reasoningbank.status import Salvaged
from reasoningbank.storage import salvage as salvaging
from reasoningbank.storage.project import DATABASE_NAME


def salvage(engine: Engine, target: Path) -> Salvaged:
    """Save what can be read into a new folder."""
    if target.exists():
        raise InvalidInputError(f"{target} is there already: name a new folder")
    if not (engine.folder / DATABASE_NAME).is_file():
        raise ProjectNotFoundError(engine.project_name, engine.tenant, f"there is no {DATABASE_NAME} to save")
    owner = {
        "tenant": engine.tenant,
        "project": engine.project_name,
        "created_at": time_text(engine.now()),
    }
    saved = salvaging.salvage(engine.folder, target, owner)
    rows = saved.rows
    return Salvaged(str(target), rows.get("memories", 0), rows.get("episodes", 0), rows, tuple(saved.torn))


def restore_backup(engine: Engine, source: Path) -> Path | None:
    """Put a backup in the project's place; what was there is kept."""
    folder = engine.folder
    if not engine.rest():
        raise BusyError(f"{folder} is in use by another call of this handle: try again", path=folder)
    kept = salvaging.put_back(folder, source, tenant=engine.tenant, project=engine.project_name, now=engine.now())
    doctor(engine, dry_run=False)
    return kept

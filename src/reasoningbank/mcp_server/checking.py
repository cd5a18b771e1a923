"""What is looked at before a server starts: what would make every call fail is one sentence now, and no server."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from reasoningbank import BankRoot, InvalidInputError, ProjectNotFoundError, ReasoningBank
from reasoningbank.mcp_server.projects import Projects, nearest

log = logging.getLogger("reasoningbank")


def check(projects: Projects, *, read_only: bool = False) -> None:
    """Check that the projects can be served. Nothing is made. A shared bank that is closed is logged: it may be opened.

    Raises:
        InvalidInputError: the embedder cannot be used, or is not the one whose vectors are stored; or what is recorded
            could not be written.
        ProjectNotFoundError: there is nothing to look up in a project that is only to be looked into.
        ReasoningBankError: a name, a setting or a file that a bank cannot be opened with.
    """
    for name in projects.names:
        _check_one(projects.bank(name), read_only=read_only)


def _check_one(bank: ReasoningBank, *, read_only: bool) -> None:
    status = bank.upkeep.status()
    stored = status.stored_embedder
    for one in status.shared:
        if one.problem:
            log.warning("shared bank %r is left out: %s", one.name, one.problem)
    if status.problems and (status.embedder == "none" or stored not in (None, status.embedder)):
        raise InvalidInputError(status.problems[0])
    if read_only:
        if not status.exists:
            near = nearest(bank.project, BankRoot(bank.root, tenant=bank.tenant).projects())
            raise ProjectNotFoundError(bank.project, bank.tenant, f"there is nothing to look up{near}")
    elif status.read_only or not _can_be_written(Path(status.folder)):
        raise InvalidInputError(f"{status.folder} cannot be written: give another --root, or --read-only")


def _can_be_written(folder: Path) -> bool:
    """Tell whether a folder can be written, or made where there is none."""
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return nearest is not None and nearest.is_dir() and os.access(nearest, os.W_OK)

"""The folders under a root: `<root>/<tenant>/<project>/`.

Their names are safe: injective, and the same on every operating system.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from reasoningbank.errors import (
    CorruptionError,
    InvalidInputError,
    InvalidNameError,
    ProjectDeletedError,
    ProjectMovedError,
    ProjectNotFoundError,
    ReasoningBankError,
    ScopeError,
)
from reasoningbank.screening import door
from reasoningbank.status import ProjectCounts
from reasoningbank.storage import meta
from reasoningbank.storage.contract import by_state, number
from reasoningbank.storage.failures import not_allowed_error
from reasoningbank.storage.lifecycle import finish_deletion, remove_damaged, sweep
from reasoningbank.storage.project import DATABASE_NAME, Project
from reasoningbank.storage.sharing import shared_name
from reasoningbank.storage.transaction import SqliteReading

NAME_LIMIT = 200
_SLUG_LENGTH = 40
# Control, format (zero-width, bidirectional marks), surrogate, private use, unassigned, line and paragraph separators.
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def checked_name(name: object, what: str) -> str:
    """Return a name in NFC, of a "tenant" or a "project" as `what` says.

    Raises:
        ScopeError: there is none; there is no default.
        InvalidNameError: it is blank, longer than 200 characters, a secret, or holds invisible characters.
    """
    if name is None:
        raise ScopeError(f"no {what} was given: name the {what}, there is no default")
    if not isinstance(name, str):
        raise InvalidNameError(f"{what} {name!r} is not a text: give its name")
    normal = unicodedata.normalize("NFC", name)
    if not normal.strip():
        raise ScopeError(f"the {what}'s name is empty: name the {what}, there is no default")
    if len(normal) > NAME_LIMIT:
        raise InvalidNameError(f"the {what}'s name has {len(normal)} characters; the limit is {NAME_LIMIT}")
    for character in normal:
        if unicodedata.category(character) in _REFUSED_CATEGORIES:
            raise InvalidNameError(f"{what} {name!r} holds U+{ord(character):04X}, which cannot be seen: leave it out")
    try:
        return door.checked_name(what, normal)
    except InvalidInputError as secret:
        raise InvalidNameError(str(secret)) from None


def folder_name(name: str) -> str:
    """Return the folder's name for a checked name: a readable ASCII slug and 80 bits of its hash.

    Lower case, digits, dashes only and never empty, so that case-insensitive file systems, device names, separators
    and path limits cannot make two names meet or let one escape.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:_SLUG_LENGTH].strip("-") or "x"
    return f"{slug}-{hashlib.blake2b(name.encode(), digest_size=10).hexdigest()}"


def project_folder(root: Path, tenant: str, project: str) -> Path:
    """Return the folder of a project under an absolute root, by checked names; it need not exist.

    ScopeError when the folder is a symbolic link that leads out of the root.
    """
    tenant_folder = root / folder_name(tenant)
    folder = tenant_folder / folder_name(project)
    for part in (tenant_folder, folder, folder / DATABASE_NAME):
        try:
            leads_out = part.is_symlink() and not part.resolve().is_relative_to(root.resolve())
        except PermissionError as error:
            raise not_allowed_error(part) from error
        if leads_out:
            raise ScopeError(f"{part} is a symbolic link that leads out of {root}: remove the link")
    return folder


def list_tenants(root: Path) -> list[str]:
    """Return the names of the tenants that have projects under a root, sorted; nothing is made."""
    folders = [entry for entry in root.iterdir() if entry.is_dir()] if root.is_dir() else []
    firsts = (next((owner for _, owner in _owners(folder) if isinstance(owner, dict)), None) for folder in folders)
    return sorted({owner["tenant"] for owner in firsts if owner is not None})


def list_projects(root: Path, tenant: str) -> list[str]:
    """Return the names of a tenant's projects and shared banks that can be opened, sorted; nothing is made."""
    tenant = checked_name(tenant, "tenant")
    owners = (owner for _, owner in _owners(root / folder_name(tenant)) if isinstance(owner, dict))
    return sorted(owner["project"] for owner in owners if owner["tenant"] == tenant)


def count_projects(root: Path, tenant: str) -> list[ProjectCounts]:
    """Return how much is in each of a tenant's projects, by name; behind them those that cannot be read."""
    tenant = checked_name(tenant, "tenant")
    counted, damaged = [], []
    for folder, owner in _owners(root / folder_name(tenant)):
        if isinstance(owner, ReasoningBankError):
            damaged.append(ProjectCounts(folder.name, problem=str(owner)))
        elif owner["tenant"] == tenant and shared_name(owner["project"]) is None:
            with _reading(folder) as reading:
                runs = number(reading, "SELECT count(*) FROM episodes")
                counted.append(ProjectCounts(owner["project"], by_state(reading, "memories"), runs))
    return sorted(counted, key=lambda each: each.project) + sorted(damaged, key=lambda each: each.project)


def _owners(tenant_folder: Path) -> Iterator[tuple[Path, dict[str, str] | ReasoningBankError]]:
    """Yield the folders of projects, each with whose it is, or why that cannot be read; none that is being deleted."""
    for entry in tenant_folder.iterdir() if tenant_folder.is_dir() else ():
        if not (entry / DATABASE_NAME).is_file():
            continue
        try:
            with _reading(entry) as reading:
                owner = meta.read(reading)
            yield entry, {name: owner[name] for name in ("tenant", "project")}
        except ProjectDeletedError:
            continue
        except KeyError:
            yield entry, CorruptionError(f"{entry} does not say whose it is", path=entry)
        except ReasoningBankError as error:
            yield entry, error


@contextlib.contextmanager
def _reading(folder: Path) -> Iterator[SqliteReading]:
    project = Project(folder, durability="normal", busy_timeout=10.0)
    with contextlib.closing(project.database), project.read() as reading:
        yield reading


def delete_project_files(root: Path, tenant: str, project: str) -> None:
    """Mark a project as deleted, then remove its folder.

    The mark comes first: a process that has the project open refuses from its next call on, instead of writing into
    files that are gone.

    Raises:
        ProjectNotFoundError: there is none of this name.
        StorageError: the files could not be removed; the mark stays, and calling again goes on.
    """
    tenant = checked_name(tenant, "tenant")
    project = project if shared_name(project) is not None else checked_name(project, "project")
    folder = project_folder(root, tenant, project)
    if not (folder / DATABASE_NAME).is_file():
        # A deletion that was killed after it took the folder away goes on here.
        sweep(folder)
        raise ProjectNotFoundError(project, tenant)
    try:
        _mark_deleted(folder, tenant, project)
        finish_deletion(folder / DATABASE_NAME)
    except (CorruptionError, ProjectMovedError):
        # What cannot be marked cannot be used either, and what is left of a project that was moved is not it.
        remove_damaged(folder)


def _mark_deleted(folder: Path, tenant: str, project: str) -> None:
    opened = Project.open(folder, tenant=tenant, project=project, durability="full", busy_timeout=10.0)
    # None: a deletion that was cut short after the mark goes on.
    if opened is not None:
        with contextlib.closing(opened.database), opened.write() as writing:
            meta.put(writing, "deleted", "1")

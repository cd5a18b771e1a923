"""Addresses of pages: any project's name and any id is one readable segment of a path, and comes back as it was."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlencode

_OTHER = re.compile(rb"[^A-Za-z0-9_-]")
_ESCAPED = re.compile(rb"~([0-9A-Fa-f]{2})")


def segment(text: str) -> str:
    """Return a text as one segment of a path: `~` and two hexadecimal digits stand for each other byte of its UTF-8.

    No server, proxy or browser makes anything else of it, as they do of `%2F`, `..` and blanks.
    """
    return _OTHER.sub(lambda found: b"~%02X" % found[0][0], text.encode()).decode("ascii")


def text_of(given: str) -> str:
    """Return the text that a segment stands for; "" where it stands for none, which is nobody's name or id."""
    try:
        return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), given.encode("ascii")).decode()
    except UnicodeError:
        return ""


# No project's name may hold what nobody sees.
_SHARED: Final = "shared\x1f"


def in_shared(bank: str) -> str:
    """Return what stands in the place of a project's name in the addresses of a shared bank's lessons."""
    return f"{_SHARED}{bank}"


def shared_of(project: str) -> str | None:
    """Return the shared bank that stands in the place of a project's name; None for a project."""
    return project.removeprefix(_SHARED) if project.startswith(_SHARED) else None


def shared(*parts: str) -> str:
    """Return the address of a page about shared banks."""
    return "/".join(["/shared", *map(segment, parts)])


def is_own(path: str) -> bool:
    """Tell whether a path is that of a page of this dashboard that an action may lead back to."""
    return path.startswith(("/p/", "/shared/"))


def address(project: str, *parts: str, **query: str | int | None) -> str:
    """Return the address of a project's page; what is None or "" is left out of the query."""
    path = "/".join(["/p", *map(segment, (project, *parts))])
    said = {name.rstrip("_"): value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(said)}" if said else path

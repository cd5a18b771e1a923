"""What a lesson names that its run never had: hosts, mailboxes, packages to install.

A lesson is drawn from a run. What it sends somebody to, or tells them to install, and the run nowhere named, was put
there by whoever wrote the lesson: a model that made it up, or a text in the run that only spoke of it in pieces.
"""

from __future__ import annotations

import re
from typing import Final

_HOST: Final = re.compile(
    r"(?:https?|ftp|wss?|git|ssh)://(?:[^\s/@]{1,64}@)?([\w-]+(?:\.[\w-]+)+)|[\w.+-]{1,64}@([\w-]+(?:\.[\w-]+)+)"
    r"|(?<![\w.-])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.])"
)
_PACKAGE: Final = re.compile(
    r"\b(?:pipx?|uv|npm|pnpm|yarn|cargo|gem|go|apt(?:-get)?|brew|conda|docker|podman)[ \t]+(?:pip[ \t]+)?"
    r"(?:install|add|get|pull|i)[ \t]+(?:-{1,2}[\w-]+[ \t]+){0,4}([@\w][\w./@:-]{2,80})"
)
# They lead nowhere outside.
_HERE: Final = re.compile(r"127\.|0\.0\.0\.0|10\.|192\.168\.|localhost")


def unfounded(text: str, told: str) -> tuple[str, ...]:
    """Return the hosts and packages that a text names and what was `told` does not, sorted, in lower case."""
    named = {next(filter(None, match.groups())) for match in _HOST.finditer(text)}
    named |= {match[1].rstrip(".,:;") for match in _PACKAGE.finditer(text)}
    known = told.casefold()
    return tuple(sorted(name for name in map(str.casefold, named) if name not in known and not _HERE.match(name)))

"""A change to another program's file: shown before it is made, written as a whole or not at all."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from reasoningbank.errors import InvalidInputError

# Of a new file, which may come to hold secrets of other programs.
PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a file.

    Attributes:
        before, after: its text; None where it is not there.
        backup: what is to stand in `backup_of(path)` from then on: a text, or None for no such file.
    """

    path: Path
    before: str | None
    after: str | None
    backup: str | None = None

    @property
    def changes(self) -> bool:
        """Whether anything is to be written."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff; "" where nothing changes."""
        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(difflib.unified_diff(before, after, str(self.path), str(self.path), lineterm=""))

    def carry_out(self) -> None:
        """Write the file, or delete it.

        InvalidInputError when somebody else wrote it meanwhile: nothing was done then.
        """
        if read_text(self.path) != self.before:
            raise InvalidInputError(f"{self.path} was changed meanwhile: run it again")
        if not self.changes:
            return
        if self.backup is not None:
            _write(backup_of(self.path), self.backup)
        if self.after is None:
            self.path.unlink(missing_ok=True)
        else:
            _write(self.path, self.after)
        if self.backup is None:
            backup_of(self.path).unlink(missing_ok=True)


def backup_of(path: Path) -> Path:
    """Return where the text from before a file was first changed is kept."""
    return path.with_name(path.name + ".reasoningbank-backup")


def read_text(path: Path) -> str | None:
    """Return a file's text with its line ends as they are; None where there is no file.

    InvalidInputError when it is not UTF-8.
    """
    if not path.exists():
        return None
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not UTF-8: mend it first; it was left as it is") from None


def _write(path: Path, text: str) -> None:
    # A link stays one: people keep such files in a repository of their own.
    place = path.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    mode = place.stat().st_mode & 0o777 if place.exists() else PRIVATE
    aside = place.with_name(f"{place.name}.reasoningbank-{os.getpid()}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        aside.chmod(mode)
        aside.replace(place)
    finally:
        aside.unlink(missing_ok=True)

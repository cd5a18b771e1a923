"""The transfer part of the API: memories as JSON lines, in and out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from reasoningbank.bank.handle import Handle
from reasoningbank.results import Imported


class Transfer(Handle):
    """Import and export."""

    def import_from(
        self,
        source: str | os.PathLike[str] | Iterable[str | bytes | Mapping[str, Any]],
        *,
        trusted: bool = False,
        by: str | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Imported:
        """Store the lessons of a file of JSON lines, or of any lines or dictionaries.

        A line needs `content` or `text`; it may have title, description, applies_when, outcome ("success" when it says
        nothing), tags, id and metadata. Whatever else it says becomes metadata. Good lines are kept when others are
        bad, and the answer says which were bad and why. Importing the same again changes nothing: a lesson is known by
        its id or by what it says. Near duplicates are not looked for.

        Args:
            source: a path, or lines (an open file, say).
            trusted: the lines are as good as your own. What `export_to` wrote then comes back as it was: sources,
                times, states, evidence and with it the confidences. Otherwise memories start at 0.6, and all of one
                import together can take only one slot of a result.
            by: the source to name; the file's name when None.
            progress: called with (lines done, lines in all or None).

        Raises:
            StorageError: the file cannot be read, or the disk refused; what was stored until then stays.
            EmbedderMismatchError: the bank holds vectors of another embedder.
        """
        from reasoningbank.services import transfer

        if isinstance(source, (str, os.PathLike)):
            return transfer.import_file(
                self._engine, Path(source).expanduser(), trusted=trusted, by=by, progress=progress
            )
        return transfer.import_lines(self._engine, source, trusted=trusted, by=by, progress=progress)

    def export_to(
        self, target: str | os.PathLike[str] | IO[str], *, progress: Callable[[int], None] | None = None
    ) -> int:
        """Write every memory, whatever its state, as one JSON line, as they are at one moment; return how many.

        `import_from(..., trusted=True)` makes the same bank of it again.

        Args:
            target: a path, which appears whole or not at all, or an open text file.
            progress: called with the number of memories written.

        Raises:
            StorageError: the file cannot be written.
        """
        from reasoningbank.services import transfer

        if isinstance(target, (str, os.PathLike)):
            return transfer.export_file(self._engine, Path(target).expanduser(), progress)
        return transfer.export_lines(self._engine, target, progress)

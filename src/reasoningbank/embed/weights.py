"""Whether a model file is the one that was published."""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
from pathlib import Path

import platformdirs

from reasoningbank.errors import ModelFileError

log = logging.getLogger(__name__)


def verify(file: Path, sha256: str, *, remedy: str, stamps: Path | None = None) -> None:
    """Check a file's SHA-256 once: the next process only looks whether size and time are still what they were.

    The stamp lies in the user's cache folder; where that cannot be written, the file is read each time.

    Args:
        file: the file.
        sha256: what it must be, in hexadecimal.
        remedy: what to do when it is not, for the message.
        stamps: another folder for the stamps.

    Raises:
        ModelFileError: it is missing, cannot be read, or is another file.
    """
    try:
        found = file.stat()
        stamp = {"file": str(file), "size": found.st_size, "modified": found.st_mtime_ns, "sha256": sha256}
        place = (stamps or Path(platformdirs.user_cache_dir("reasoningbank", appauthor=False))) / _stamp_name(file)
        if _read(place) == stamp:
            return
        with file.open("rb") as opened:
            actual = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read ({error.strerror or error}): {remedy}") from error
    if actual != sha256:
        raise ModelFileError(f"{file} is not the published model (SHA-256 {actual}, not {sha256}): {remedy}")
    _write(place, stamp)


def _stamp_name(file: Path) -> str:
    # One stamp for each installed file: two virtual environments must not take turns in one.
    return f"verified-{hashlib.blake2b(str(file).encode(), digest_size=8).hexdigest()}.json"


def _read(stamp: Path) -> object:
    try:
        return json.loads(stamp.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _write(stamp: Path, content: dict[str, object]) -> None:
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=stamp.parent, suffix=".tmp", delete=False, encoding="utf-8") as half:
            json.dump(content, half)
        Path(half.name).replace(stamp)
    except OSError as error:
        log.debug("no stamp for %s: %s", content["file"], error)

"""What a benchmark is given to judge on: files and folders, and which of their rows something was tuned on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TUNED = "tuned on"
ASIDE = "not tuned on"


def files(given: Sequence[Path], *suffixes: str) -> list[Path]:
    """Return the files, and of folders those below with one of these endings, each folder's in the order of names."""
    found = []
    for path in given:
        inside = sorted(p for p in path.rglob("*") if p.suffix in suffixes and p.is_file()) if path.is_dir() else [path]
        if not inside:
            raise SystemExit(f"{path} holds no file that ends with {' or '.join(suffixes)}")
        found += inside
    return found


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-lines file."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def is_aside(text: str) -> bool:
    """Tell whether a text is of the third that was set aside before anybody looked, by its hash."""
    return hashlib.sha256(text.encode()).digest()[0] % 3 == 0

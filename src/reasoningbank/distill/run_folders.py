"""What in a folder holds runs: files, and files that make one record together, an event or a message in each."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasoningbank.runs.readers import openhands
from reasoningbank.runs.trajectory import BadLine

# What the files of a folder that hold runs are called, each also with `.gz`.
ENDINGS = (".jsonl", ".json", ".ndjson", ".traj", ".af")
NAMES = frozenset({".aider.chat.history.md", "environment_io.md", "state.vscdb", "opencode.db"})
# Files that stand beside runs and hold none.
BESIDE = frozenset({
    "sessions-index.json", "settings.json", "settings.local.json", "package.json", "package-lock.json", "tsconfig.json",
    "base_state.json",
})  # fmt: skip
SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages"})
# AppWorld writes a run twice; only the first of these has its task.
BETTER_BESIDE = {"environment_io.md": "lm_calls.jsonl"}

# OpenHands: `events/0.json`, `events/event-00000-<id>.json`.
EVENT = re.compile(r"(?:event-)?(?P<number>\d{1,9})(?:-[\w-]{1,80})?\.json")
# OpenCode: `message/<session>/<message>.json`, `part/<message>/<part>.json`; older ones have `part/<session>/…`.
MESSAGE = re.compile(r"(?P<root>.*)/message/(?P<session>[^/]+)/(?P<message>[^/]+)\.json")
PART = re.compile(r"(?P<root>.*)/part/(?:[^/]+/)?(?P<message>[^/]+)/[^/]+\.json")
INFO = re.compile(r"(?P<root>.*?)(?:/session)?/(?:session|info)/(?:[^/]+/)?(?P<session>[^/]+)\.json")


@dataclass(frozen=True, slots=True)
class RunSource:
    """A file of runs, or the files that make one record together.

    Attributes:
        path: the file, or the folder that the record is named by.
        files: all files of it, in their order.
        join: makes the record of the files' JSON; None of a single file, which is read as it is.
    """

    path: Path
    files: tuple[Path, ...]
    join: Callable[[Sequence[tuple[Path, Any]]], Any] | None = None

    def digest(self) -> str:
        """Return the SHA-256 of the files' names and contents; OSError if one cannot be read."""
        digest = hashlib.sha256()
        for file in self.files:
            with file.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256")
            if self.join is None:
                return content.hexdigest()  # a file that was moved is the same
            digest.update(f"{file.name}:{content.hexdigest()}\n".encode())
        return digest.hexdigest()

    def record(self) -> tuple[Any, list[BadLine]]:
        """Return the record that the files make together, and those that are not JSON."""
        read: list[tuple[Path, Any]] = []
        bad = []
        for file in self.files:
            try:
                read.append((file, json.loads(file.read_text("utf-8", errors="replace"))))
            except (OSError, ValueError, RecursionError) as error:
                bad.append(BadLine(1, f"not JSON: {error}"[:300], str(file)))
        return self.join(read) if self.join is not None else None, bad


def sources_in(folder: Path) -> list[RunSource]:
    """Return what in a folder, and in the folders in it, may hold runs, in the order of their paths.

    Hidden folders inside it, links to folders, and files that are known to hold none are left out.
    """
    found = []
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in SKIPPED]
        present = set(files)
        found += [Path(at, name) for name in files if _may_hold_runs(name) and BETTER_BESIDE.get(name) not in present]
    paths = sorted(found)
    together = [*_event_folders(paths), *_open_code(paths)]
    taken = {file for source in together for file in source.files}
    single = [RunSource(path, (path,)) for path in paths if path not in taken]
    return sorted([*together, *single], key=lambda source: source.path)


def _may_hold_runs(name: str) -> bool:
    if name in NAMES:
        return True
    return name.lower().removesuffix(".gz").endswith(ENDINGS) and name not in BESIDE and not name.startswith(".")


def _event_folders(paths: Sequence[Path]) -> Iterator[RunSource]:
    """Yield folders whose numbered files are events: those of which the first one is."""
    folders: dict[Path, list[tuple[int, Path]]] = defaultdict(list)
    for path in paths:
        event = EVENT.fullmatch(path.name)
        if event is not None:
            folders[path.parent].append((int(event["number"]), path))
    for folder, numbered in folders.items():
        files = tuple(path for _, path in sorted(numbered))
        source = RunSource(folder, files, lambda read: [event for _, event in read])
        first, _ = RunSource(folder, files[:1], source.join).record()
        if first and openhands.is_event(first[0]):
            yield source


Session = tuple[str, str]  # the folder of all sessions, and the session's name


def _open_code(paths: Sequence[Path]) -> Iterator[RunSource]:
    """Yield the sessions whose messages, and the parts of these, are files of their own."""
    sessions: dict[Session, list[Path]] = defaultdict(list)
    of_message: dict[tuple[str, str], Session] = {}
    for path in paths:
        message = MESSAGE.fullmatch(path.as_posix())
        if message is not None:
            session = (message["root"], message["session"])
            sessions[session].append(path)
            of_message[message["root"], message["message"]] = session
    beside = [(path, _beside(path, sessions, of_message)) for path in paths] if sessions else []
    for path, own in beside:
        if own is not None:
            sessions[own].append(path)
    for (root, name), files in sessions.items():
        yield RunSource(Path(root, "message", name), tuple(sorted(files)), open_code_session)


def _beside(
    path: Path, sessions: Mapping[Session, object], of_message: Mapping[tuple[str, str], Session]
) -> Session | None:
    """Return the session that a file is a part of, or the head of; None if it is neither."""
    part, info = PART.fullmatch(path.as_posix()), INFO.fullmatch(path.as_posix())
    if part is not None and (part["root"], part["message"]) in of_message:
        return of_message[part["root"], part["message"]]
    roots = (info["root"], f"{info['root']}/session") if info is not None else ()
    return next(((root, info["session"]) for root in roots if info and (root, info["session"]) in sessions), None)


def open_code_session(read: Sequence[tuple[Path, Any]]) -> dict[str, Any]:
    """Return a session, as OpenCode exports it, of its records: what the session is, its messages, and their parts."""
    records = [record for _, record in read if isinstance(record, dict)]
    parts: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        if "messageID" in record:
            parts[str(record["messageID"])].append(record)
    messages: list[dict[str, Any]] = [
        {"info": record, "parts": sorted(parts[str(record.get("id"))], key=lambda part: str(part.get("id")))}
        for record in records
        if "role" in record and "messageID" not in record
    ]
    messages.sort(key=lambda message: (_created(message["info"]), str(message["info"].get("id"))))
    info = next((record for record in records if "role" not in record and "messageID" not in record), {})
    return {"info": info or {"id": records[0].get("sessionID")} if records else {}, "messages": messages}


def _created(record: dict[str, Any]) -> float:
    time = record.get("time")
    created = time.get("created") if isinstance(time, dict) else None
    return float(created) if isinstance(created, (int, float)) else 0.0

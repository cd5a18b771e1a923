"""A bulk import of real lessons with their vectors given, and the least that a look at their texts can take."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median as middle
from typing import Any

import numpy as np

from benchmarks.retrieval_sets import lesson, rows
from benchmarks.speed_lessons import Float32, StubEmbedder
from benchmarks.speed_timing import each_ms, median
from reasoningbank import ReasoningBank

ROOT = Path(__file__).parents[1]
PASSAGE = 700
IMPORTS = 3
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Real:
    """Lessons that somebody wrote.

    Attributes:
        said: which they are, for people.
        lessons: the arguments of `record`.
    """

    said: str
    lessons: list[dict[str, Any]]


def real_lessons(folder: Path | None = None) -> Real:
    """Read the lessons of a retrieval set; without one, cut this repository's docs and examples into passages."""
    if folder is not None:
        found = [_draft(row) for row in rows(folder / "corpus.jsonl")]
        return Real(f"{len(found):,} lessons of {folder.name}", found)
    files = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")])
    found = [_draft({"text": passage}) for file in files for passage in passages(file.read_text("utf-8"))]
    return Real(f"{len(found):,} passages of docs and examples", found)


def _draft(row: dict[str, Any]) -> dict[str, Any]:
    said = lesson(row)
    return {"title": said.title, "content": said.content, "outcome": said.outcome.value}


def passages(text: str, size: int = PASSAGE) -> Iterator[str]:
    """Cut a text at blank lines into pieces of at least `size` characters; the last may be shorter."""
    piece = ""
    for paragraph in re.split(r"\n\s*\n", text):
        piece = f"{piece}\n\n{paragraph}".strip()
        if len(piece) >= size:
            yield piece
            piece = ""
    if piece:
        yield piece


def text_ms(lessons: list[dict[str, Any]]) -> float:
    r"""Return what a look at one lesson's text costs at least: one pass of `\w+` over it, and its fields as JSON."""

    def looked_at(lesson: dict[str, Any]) -> str:
        WORD.findall(lesson["title"])
        WORD.findall(lesson["content"])
        return json.dumps(lesson)

    return median(each_ms(looked_at, lessons))


class Given(StubEmbedder):
    """Gives a text that it embedded before the same vector again, without embedding it."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, Float32] = {}

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one unit row for each text."""
        new = [text for text in texts if text not in self._rows]
        self._rows.update(zip(new, super().embed_documents(new), strict=True))
        return np.stack([self._rows[text] for text in texts])


def bulk_per_s(bank: ReasoningBank, lessons: list[dict[str, Any]]) -> int:
    """Import lessons some times, each time taking them out again, and return the median of lessons per second.

    Args:
        bank: one whose embedder is `Given`: it is taught the vectors by an import that is not timed.
    """
    taken = []
    for _ in range(1 + IMPORTS):
        start = time.perf_counter()
        recorded = bank.record_many(lessons)
        taken.append(time.perf_counter() - start)
        for memory_id in {done.memory.id for done in recorded if done.created}:
            bank.delete(memory_id)
    return round(len(lessons) / middle(taken[1:]))

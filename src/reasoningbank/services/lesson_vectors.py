"""The vectors a memory is found by: one of what the lesson says, and one of when it applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reasoningbank.embed.base import Embedder
from reasoningbank.embed.guarded import embed_each
from reasoningbank.memory import Draft, Memory
from reasoningbank.terms import applies_text, lesson_passages
from reasoningbank.vectors.base import Float32, unit_rows

# How much a title weighs beside all that it heads.
TITLE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class LessonVectors:
    """What became of a memory's texts.

    Attributes:
        roles: (role, unit vector), the lesson's first; empty when the lesson could not be embedded.
        problem: why it could not.
    """

    roles: tuple[tuple[str, Float32], ...]
    problem: str = ""


def lesson_vectors(embedder: Embedder, memories: Sequence[Draft | Memory]) -> list[LessonVectors]:
    """Embed memories, all texts in one go; one that cannot be embedded costs no other."""
    jobs = [_Job.of(memory) for memory in memories]
    embedded = embed_each(embedder, [text for job in jobs for text in job.texts])
    made, start = [], 0
    for job in jobs:
        end = start + len(job.texts)
        failures = {i - start: reason for i, reason in embedded.failures.items() if start <= i < end}
        made.append(job.vectors(embedded.vectors[start:end], failures))
        start = end
    return made


@dataclass(frozen=True, slots=True)
class _Job:
    """The texts of one memory: passages, then its title and when it applies, where it has them."""

    texts: list[str]
    passages: int
    titled: bool

    @classmethod
    def of(cls, memory: Draft | Memory) -> _Job:
        title, passages = lesson_passages(memory)
        return cls([*passages, *filter(None, (title, applies_text(memory)))], len(passages), bool(title))

    def vectors(self, rows: Float32, failures: Mapping[int, str]) -> LessonVectors:
        lesson = self.passages + self.titled
        failed = next((reason for i, reason in sorted(failures.items()) if i < lesson), None)
        if failed is not None:
            return LessonVectors((), failed)
        roles = [("lesson", pooled(rows[: self.passages], rows[self.passages] if self.titled else None))]
        if lesson < len(rows) and lesson not in failures:
            roles.append(("applies_when", rows[lesson]))
        return LessonVectors(tuple(roles))


def pooled(passages: Float32, title: Float32 | None) -> Float32:
    """Return the one unit vector of a lesson.

    Args:
        passages: (n, dim) unit rows, in the order of the text. What comes first says what a lesson is about: they weigh
            1, 1/2, 1/3, ... (docs/decisions/0031-lesson-vectors.md).
        title: (dim,) unit vector, weighing TITLE_SHARE beside all passages; None when there is no title of its own.
    """
    if len(passages) == 1:
        body = passages[0]
    else:
        body = unit_rows(1.0 / np.arange(1, len(passages) + 1, dtype=np.float32) @ passages)
    return body if title is None else unit_rows(body + np.float32(TITLE_SHARE) * title)

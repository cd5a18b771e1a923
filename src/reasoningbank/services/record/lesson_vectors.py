"""The vectors a memory is found by: one of what the lesson says, and one of when it applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from reasoningbank.embed.base import Embedder
from reasoningbank.embed.guarded import embed_each
from reasoningbank.memory import Draft, Memory
from reasoningbank.search.terms import applies_text, lesson_passages
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
    starts = [0, *accumulate(len(job.texts) for job in jobs)]
    lessons = _lessons(jobs, starts, embedded.vectors)
    return [
        job.vectors(lesson, embedded.vectors, embedded.failures, start, end)
        for job, lesson, (start, end) in zip(jobs, lessons, pairwise(starts), strict=True)
    ]


def _lessons(jobs: Sequence[_Job], starts: Sequence[int], rows: Float32) -> Float32:
    """Return (n, dim): the one unit vector of each lesson."""
    bodies = rows[starts[:-1]]
    for place, (job, start) in enumerate(zip(jobs, starts, strict=False)):
        if job.passages > 1:
            bodies[place] = pooled(rows[start : start + job.passages])
    titled = [place for place, job in enumerate(jobs) if job.titled]
    titles = rows[[starts[place] + jobs[place].passages for place in titled]]
    bodies[titled] = unit_rows(bodies[titled] + np.float32(TITLE_SHARE) * titles)
    return bodies


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

    def vectors(
        self, lesson: Float32, rows: Float32, failures: Mapping[int, str], start: int, end: int
    ) -> LessonVectors:
        told = start + self.passages + self.titled
        failed = next((failures[i] for i in range(start, told) if i in failures), None)
        if failed is not None:
            return LessonVectors((), failed)
        roles = [("lesson", lesson)]
        if told < end and told not in failures:
            roles.append(("applies_when", rows[told]))
        return LessonVectors(tuple(roles))


def pooled(passages: Float32) -> Float32:
    """Return the unit vector of a lesson's passages, (n, dim) unit rows in the order of the text.

    What comes first says what a lesson is about: they weigh 1, 1/2, 1/3, ... (docs/decisions/0031-lesson-vectors.md).
    """
    return unit_rows(1.0 / np.arange(1, len(passages) + 1, dtype=np.float32) @ passages)

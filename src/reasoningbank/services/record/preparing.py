"""What is done to a lesson before it is stored, outside of any transaction: check, scrub, inspect, embed.

A memory is found by two vectors: one of what the lesson says, and one of when it applies.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from reasoningbank.diagnostics import Diagnostic, mentioned, read
from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.embed.guarded import embed_each
from reasoningbank.memory import DOUBT, SAID, SIGNATURES_LIMIT, Draft, Memory, Source, State
from reasoningbank.screening import door
from reasoningbank.screening.guard import (
    DOUBTFUL,
    SUSPICIOUS,
    Finding,
    inspect,
    normalise_hidden,
    suspicion,
    unfounded_names,
)
from reasoningbank.screening.prefilter import joined, look
from reasoningbank.screening.scrub import DEFAULT_RULES, RuleSet, scrub_each, scrub_value
from reasoningbank.search.terms import keyword_text, lesson_passages, terms
from reasoningbank.storage.records import fingerprint, identity_of
from reasoningbank.validation import validated
from reasoningbank.vectors.base import Float32, unit_rows

_SEPARATORS = re.compile(r"[-_./:+]+")

# How much a title weighs beside all that it heads.
TITLE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Prepared:
    """A lesson that is ready to be stored: scrubbed, inspected and embedded.

    Attributes:
        findings: what makes it suspicious, or doubtful.
        suspicion: how much.
        vectors: role and unit vector; empty when it could not be embedded.
        embedder: whose vectors they are.
        problem: why there are none, in words.
        terms: what it is found by by keyword, space-separated.
        fingerprint, identity: hashes of what it says, in a looser form and exactly.
        has_own_id: the id was given, so that there may be a memory with it.
        signatures: the errors that it answers.
    """

    draft: Draft
    memory_id: str
    redactions: dict[str, int]
    findings: tuple[str, ...]
    suspicion: float = 0.0
    vectors: tuple[tuple[str, Float32], ...] = ()
    embedder: EmbedderIdentity | None = None
    problem: str = ""
    terms: str = ""
    fingerprint: bytes = b""
    identity: bytes = b""
    has_own_id: bool = False
    signatures: tuple[Diagnostic, ...] = ()

    @property
    def state(self) -> State:
        """Quarantined when it looks like planted instructions, else active."""
        return State.QUARANTINED if self.suspicion >= SUSPICIOUS else State.ACTIVE


def clean(draft: Draft, memory_id: str | None, rules: RuleSet = DEFAULT_RULES, *, told: str | None = None) -> Prepared:
    """Remove secrets and hidden characters from every string of a lesson, and look for planted instructions.

    `told` is all that the run said that the lesson was drawn from; None when there is none.
    """
    said = {name: getattr(draft, name) for name in SAID}
    texts = [*said.values(), *draft.tags]
    visible = list(map(normalise_hidden, texts))
    seen = look(joined(visible))
    scrubbed = scrub_each(visible, rules, seen)
    dropped = Counter(name for text in scrubbed for name, count in text.counts.items() for _ in range(count))
    changed: dict[str, Any] = {}
    if (kept := [text.text for text in scrubbed]) != texts:
        changed = dict(zip(SAID, kept, strict=False)) | {"tags": tuple(kept[len(SAID) :])}
    for name, value, (cleaned, found) in _values_of(draft, rules):
        dropped.update(found)
        if cleaned != value:
            changed[name] = cleaned
    # What was hidden is looked for in the text as it came: afterwards it is gone.
    findings = inspect(seen, **said, tags=joined(draft.tags), **_metadata(draft))
    if told is not None:
        findings += unfounded_names(joined(said.values()), told)
    suspected = suspicion(findings, sum(map(len, said.values())), trusted=draft.source.trusted) if findings else 0.0
    if memory_id is not None:
        # An id stands in the prompt block, and in an import a stranger chose it.
        named = inspect(id=_SEPARATORS.sub(" ", memory_id))
        findings, suspected = findings + named, suspected + suspicion(named, 0)
    # What lost a secret may be longer or shorter than before: checked again.
    kept_draft = validated(Draft, draft.model_dump() | changed) if changed else draft
    signatures = answered(kept_draft, rules)
    if kept_draft.signatures:
        # Only now: what a secret stands in is read as it came.
        cleaned_ones = tuple(door.clean(one, rules) for one in kept_draft.signatures)
        kept_draft = kept_draft.model_copy(update={"signatures": cleaned_ones})
    return Prepared(
        draft=kept_draft,
        memory_id=memory_id or str(uuid.uuid4()),
        redactions=dict(dropped),
        findings=_in_words(findings, suspected, rules),
        suspicion=suspected,
        has_own_id=memory_id is not None,
        signatures=signatures,
    )


def _in_words(findings: Sequence[Finding], suspected: float, rules: RuleSet) -> tuple[str, ...]:
    """Return findings in words, where they suffice for a doubt."""
    if suspected < DOUBTFUL:
        return ()
    begins = "" if suspected >= SUSPICIOUS else DOUBT
    return tuple(door.clean(f"{begins}{finding}", rules) for finding in findings)


def answered(draft: Draft, rules: RuleSet) -> tuple[Diagnostic, ...]:
    """Return the errors that a lesson answers: those that are given, or else those that its text names."""
    if draft.signatures is None:
        return mentioned(draft.title, draft.description, draft.applies_when, draft.content)
    given = (replace(one, message=door.clean(one.message, rules)) for text in draft.signatures for one in read(text))
    return tuple(dict.fromkeys(given))[:SIGNATURES_LIMIT]


def _metadata(draft: Draft) -> dict[str, str]:
    """Return what metadata say as one text, where a lesson has some: tools show them to a model, too."""
    return {"metadata": "\n".join(_leaves(draft.metadata))} if draft.metadata else {}


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, held in value.items():
            yield from (key, *_leaves(held))
    elif isinstance(value, (list, tuple)):
        for held in value:
            yield from _leaves(held)
    elif isinstance(value, str):
        yield value


def _values_of(draft: Draft, rules: RuleSet) -> Iterator[tuple[str, Any, tuple[Any, dict[str, int]]]]:
    """Yield the fields that hold more than text, and them without secrets."""
    if draft.metadata:
        yield "metadata", draft.metadata, scrub_value(draft.metadata, rules)
    if draft.source.by or draft.source.session:
        yield "source", *_scrubbed_source(draft.source, rules)


@lru_cache(maxsize=256)
def _scrubbed_source(source: Source, rules: RuleSet) -> tuple[dict[str, Any], tuple[Any, dict[str, int]]]:
    """Return a source as a dictionary, and that without secrets; many lessons come from one."""
    given = source.model_dump()
    return given, scrub_value(given, rules)


def embed(embedder: Embedder, prepared: Sequence[Prepared]) -> list[Prepared]:
    """Give lessons what they are found by, outside any transaction; one that cannot be embedded costs no other."""
    made = lesson_vectors(embedder, [p.draft for p in prepared])
    return [
        replace(
            p,
            vectors=vectors.roles,
            embedder=embedder.identity,
            problem=vectors.problem and f"not embedded ({vectors.problem}); found by keyword until it is re-embedded",
            terms=" ".join(terms(keyword_text(p.draft))),
            fingerprint=fingerprint(p.draft.title, p.draft.content),
            identity=identity_of(p.draft),
        )
        for p, vectors in zip(prepared, made, strict=True)
    ]


# -- vectors -------------------------------------------------------------------------------------------------------


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
        return cls([*passages, *filter(None, (title, memory.applies_when))], len(passages), bool(title))

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

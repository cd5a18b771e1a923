"""What is done to a lesson before it is stored, outside of any transaction: check, scrub, inspect, embed."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.memory import SAID, Draft, Source, State
from reasoningbank.screening.guard import inspect, is_suspicious, normalise_hidden
from reasoningbank.screening.prefilter import joined, look
from reasoningbank.screening.scrub import scrub, scrub_each, scrub_value
from reasoningbank.search.terms import keyword_text, terms
from reasoningbank.services.record.lesson_vectors import lesson_vectors
from reasoningbank.storage.records import fingerprint
from reasoningbank.validation import validated

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A lesson that is ready to be stored: scrubbed, inspected and embedded.

    Attributes:
        vectors: role and unit vector; empty when it could not be embedded.
        embedder: whose vectors they are.
        problem: why there are none, in words.
        terms: what it is found by by keyword, space-separated.
        fingerprint: the hash of what it says.
        has_own_id: the id was given, so that there may be a memory with it.
    """

    draft: Draft
    memory_id: str
    redactions: dict[str, int]
    findings: tuple[str, ...]
    vectors: tuple[tuple[str, Float32], ...] = ()
    embedder: EmbedderIdentity | None = None
    problem: str = ""
    terms: str = ""
    fingerprint: bytes = b""
    has_own_id: bool = False

    @property
    def state(self) -> State:
        """Quarantined when it looks like planted instructions, else active."""
        return State.QUARANTINED if self.findings else State.ACTIVE

    @property
    def stored_vectors(self) -> tuple[tuple[str, bytes], ...]:
        """Role and vector, as they are stored."""
        return tuple((role, vector.tobytes()) for role, vector in self.vectors)


def clean(draft: Draft, memory_id: str | None) -> Prepared:
    """Remove secrets and hidden characters from every string of a lesson, and look for planted instructions."""
    said = {name: getattr(draft, name) for name in SAID}
    texts = [*said.values(), *draft.tags]
    visible = list(map(normalise_hidden, texts))
    seen = look(joined(visible))
    scrubbed = scrub_each(visible, seen=seen)
    dropped = Counter(name for text in scrubbed for name, count in text.counts.items() for _ in range(count))
    changed: dict[str, Any] = {}
    if (kept := [text.text for text in scrubbed]) != texts:
        changed = dict(zip(SAID, kept, strict=False)) | {"tags": tuple(kept[len(SAID) :])}
    for name, value, (cleaned, found) in _values_of(draft):
        dropped.update(found)
        if cleaned != value:
            changed[name] = cleaned
    # What was hidden is looked for in the text as it came: afterwards it is gone.
    findings = inspect(seen, **said, tags=joined(draft.tags))
    return Prepared(
        # What lost a secret may be longer or shorter than before: checked again.
        draft=validated(Draft, draft.model_dump() | changed) if changed else draft,
        memory_id=memory_id or str(uuid.uuid4()),
        redactions=dict(dropped),
        findings=tuple(scrub(str(finding)).text for finding in findings) if is_suspicious(findings) else (),
        has_own_id=memory_id is not None,
    )


def _values_of(draft: Draft) -> Iterator[tuple[str, Any, tuple[Any, dict[str, int]]]]:
    """Yield the fields that hold more than text, and them without secrets."""
    if draft.metadata:
        yield "metadata", draft.metadata, scrub_value(draft.metadata)
    if draft.source.by or draft.source.session:
        yield "source", *_scrubbed_source(draft.source)


@lru_cache(maxsize=256)
def _scrubbed_source(source: Source) -> tuple[dict[str, Any], tuple[Any, dict[str, int]]]:
    """Return a source as a dictionary, and that without secrets; many lessons come from one."""
    given = source.model_dump()
    return given, scrub_value(given)


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
        )
        for p, vectors in zip(prepared, made, strict=True)
    ]

"""Lessons as documents, and documents as the block that is meant for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from reasoningbank import Hit, Verdict, prompt_block
from reasoningbank.prompt import delimited, undelimited

# What is given no budget shows all that was found.
NO_BUDGET = 1_000_000
DOUBT = "(Most likely not about what was asked.)"


class LessonDocument(Document):
    """A lesson that was retrieved. The same lesson found by another query is equal, so that a union holds it once.

    Its text stands between delimiters: by them it is known for a lesson wherever it is shown, and a run that is
    distilled never learns from it what it was told.
    """

    def __eq__(self, other: object) -> bool:
        """Two are equal when they are the same lesson in the same words."""
        if not isinstance(other, LessonDocument):
            return NotImplemented
        return (self.id, _said(self)) == (other.id, _said(other))

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((self.id, _said(self)))

    @classmethod
    def lc_id(cls) -> list[str]:
        """Load as a plain document where this package is not installed."""
        return Document.lc_id()


def _said(document: Document) -> str:
    """Return what a document says of the lesson, as far as a compressor left it."""
    return undelimited(document.page_content).removeprefix(f"{DOUBT}\n")


def document_of(hit: Hit, ref: str | None = None, *, weak: bool = False) -> LessonDocument:
    """Return a hit as a document.

    Args:
        ref: the episode's, when it was recalled.
        weak: most likely it is not about what was asked; its text says so.
    """
    memory = hit.memory
    notes = [memory.description, f"Applies when: {memory.applies_when}" if memory.applies_when else ""]
    metadata: dict[str, Any] = {
        "memory_id": memory.id,
        "title": memory.title,
        "outcome": memory.outcome.value,
        "confidence": hit.confidence,
        "similarity": hit.similarity,
        "score": hit.score,
        "provisional": hit.provisional,
        "weak": weak,
        "tags": list(memory.tags),
        "project": memory.project,
    }
    if ref is not None:
        metadata["ref"] = ref
    said = "\n".join(part for part in (DOUBT if weak else "", memory.title, *notes, memory.content) if part)
    texts = (memory.id, memory.title, memory.content)
    return LessonDocument(id=memory.id, page_content=delimited(said, texts), metadata=metadata)


@dataclass(frozen=True)
class _Shown:
    """A document as a lesson of the prompt block."""

    id: str
    title: str
    content: str
    outcome: Verdict
    confidence: float
    description: str = ""
    applies_when: str = ""


def _shown(document: Document) -> _Shown:
    title = str(document.metadata.get("title", ""))
    return _Shown(
        id=str(document.metadata["memory_id"]),
        title=title,
        content=_said(document).removeprefix(f"{title}\n"),
        outcome=Verdict(document.metadata.get("outcome", "success")),
        confidence=float(document.metadata.get("confidence", 0.0)),
    )


def lessons_text(documents: Sequence[Document], *, max_tokens: int | None = None) -> str:
    """Return retrieved documents as the framed, delimited block that is meant for a prompt; empty when there are none.

    Each lesson is shown once. Those that are most likely not about what was asked follow in a block that says so.
    Documents of other retrievers are no lessons: their text comes last, as it is.

    Args:
        max_tokens: of the blocks; long lessons are cut visibly, and what does not fit is left out. No limit when None.
    """
    lessons: dict[str, Document] = {}
    for document in documents:
        memory_id = document.metadata.get("memory_id")
        # Of a lesson that several queries found, one that was sure of it is enough.
        if memory_id and (memory_id not in lessons or lessons[memory_id].metadata.get("weak")):
            lessons[memory_id] = document
    room, blocks = NO_BUDGET if max_tokens is None else max_tokens, []
    for weak in (False, True):
        shown = [_shown(one) for one in lessons.values() if bool(one.metadata.get("weak")) is weak]
        unproven = [memory_id for memory_id, one in lessons.items() if one.metadata.get("provisional")]
        block = prompt_block(shown, max_tokens=room, provisional=unproven, doubtful=weak)
        room -= block.tokens
        blocks.append(block.text)
    others = [document.page_content for document in documents if "memory_id" not in document.metadata]
    return "\n\n".join(text for text in (*blocks, *others) if text)


format_lessons: RunnableLambda[list[Document], str] = RunnableLambda(lessons_text, name="format_lessons")
"""The runnable that turns retrieved documents into the prompt block: `retriever | format_lessons`."""

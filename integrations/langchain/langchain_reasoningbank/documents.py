"""Lessons as documents, and documents as the block that is meant for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from reasoningbank import Hit, Verdict, prompt_block

# What is given no budget shows all that was found.
NO_BUDGET = 1_000_000


class LessonDocument(Document):
    """A lesson that was retrieved. The same lesson found by another query is equal, so that a union holds it once."""

    def __eq__(self, other: object) -> bool:
        """Two are equal when they are the same lesson in the same words."""
        if not isinstance(other, LessonDocument):
            return NotImplemented
        return (self.id, self.page_content) == (other.id, other.page_content)

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((self.id, self.page_content))

    @classmethod
    def lc_id(cls) -> list[str]:
        """Load as a plain document where this package is not installed."""
        return Document.lc_id()


def document_of(hit: Hit, ref: str | None = None) -> LessonDocument:
    """Return a hit as a document.

    Args:
        ref: the episode's, when it was recalled.
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
        "tags": list(memory.tags),
        "project": memory.project,
    }
    if ref is not None:
        metadata["ref"] = ref
    return LessonDocument(
        id=memory.id,
        page_content="\n".join(part for part in (memory.title, *notes, memory.content) if part),
        metadata=metadata,
    )


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
        content=document.page_content.removeprefix(f"{title}\n"),
        outcome=Verdict(document.metadata.get("outcome", "success")),
        confidence=float(document.metadata.get("confidence", 0.0)),
    )


def lessons_text(documents: Sequence[Document], *, max_tokens: int | None = None) -> str:
    """Return retrieved documents as the framed, delimited block that is meant for a prompt; empty when there are none.

    Each lesson is shown once. Documents of other retrievers are no lessons: their text follows the block as it is.

    Args:
        max_tokens: of the block; long lessons are cut visibly, and what does not fit is left out. No limit when None.
    """
    lessons = {d.metadata["memory_id"]: d for d in reversed(documents) if "memory_id" in d.metadata}
    others = [document.page_content for document in documents if "memory_id" not in document.metadata]
    budget = NO_BUDGET if max_tokens is None else max_tokens
    unproven = [memory_id for memory_id, document in lessons.items() if document.metadata.get("provisional")]
    block = prompt_block([*map(_shown, reversed(lessons.values()))], max_tokens=budget, provisional=unproven).text
    return "\n\n".join(text for text in (block, *others) if text)


format_lessons: RunnableLambda[list[Document], str] = RunnableLambda(lessons_text, name="format_lessons")
"""The runnable that turns retrieved documents into the prompt block: `retriever | format_lessons`."""

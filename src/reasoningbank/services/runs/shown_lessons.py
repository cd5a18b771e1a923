"""Which lessons of the bank a run repeats: they were shown to it, and it teaches none of them."""

from __future__ import annotations

from collections.abc import Iterator

from reasoningbank.distill.repeated import without_lessons
from reasoningbank.memory import Memory
from reasoningbank.runs.trajectory import Step, Trajectory
from reasoningbank.search.bm25 import best_first
from reasoningbank.search.terms import query_terms
from reasoningbank.services.engine import Engine
from reasoningbank.services.view import View

# A shorter text repeats no lesson. Of the texts of a run, the longest are looked at; a lesson that one repeats has more
# of its rare words than others, and is among the first by keyword.
SHORTEST, LOOKED_AT, LIKELIEST = 40, 200, 12
FIELDS = ("thought", "observation")  # an act that follows a lesson's words is what the agent did


def as_it_happened(engine: Engine, run: Trajectory) -> Trajectory:
    """Return a run without the lessons that were shown to it outside a block: in documents, answers of tools, quotes.

    What was learned from this run itself stays. One that has no project yet comes back as it is.
    """
    texts = sorted({text for text in _texts(run) if len(text) >= SHORTEST}, key=lambda text: (-len(text), text))
    if not texts or engine.project() is None:
        return run
    with engine.read() as view:
        engine.cache.follow(view)
        cut = {text: without_lessons(text, list(_lessons(view, text, run.session))) for text in texts[:LOOKED_AT]}
    if all(text == shorter for text, shorter in cut.items()):
        return run
    steps = (_cut(step, cut) for step in run.steps)
    return run.model_copy(
        update={"steps": tuple(s for s in steps if not s.is_empty), "result": cut.get(run.result, run.result)}
    )


def _texts(run: Trajectory) -> Iterator[str]:
    for step in run.steps:
        yield from (getattr(step, name) for name in FIELDS)
    yield run.result


def _cut(step: Step, cut: dict[str, str]) -> Step:
    return step.model_copy(update={name: cut.get(text, text) for name in FIELDS if (text := getattr(step, name))})


def _lessons(view: View, text: str, session: str | None) -> Iterator[tuple[str, ...]]:
    rows, scores, _ = view.engine.cache.matches(view, query_terms(text))
    likeliest, _ = best_first(rows, scores, LIKELIEST)
    for row in view.load(likeliest.tolist()).values():
        memory: Memory = row.memory
        if not (session and memory.source.session == session):
            yield memory.content, memory.title, memory.description, memory.applies_when

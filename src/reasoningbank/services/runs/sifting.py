"""Which lessons of a distillation are new: the same as what record, import and merging go by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reasoningbank.embed.base import Embedder
from reasoningbank.identity import same_text
from reasoningbank.memory import SAID, Draft, Memory, fingerprint_text
from reasoningbank.results import Recorded
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.search.terms import lesson_text
from reasoningbank.services.engine import Engine
from reasoningbank.services.record import preparing, record
from reasoningbank.services.record.preparing import Prepared
from reasoningbank.services.record.storing import store_all
from reasoningbank.services.view import Edit
from reasoningbank.upkeep.likeness import differences, in_one_order, literals, wording


@dataclass(frozen=True, slots=True)
class Sifted:
    """Lessons of a distillation: those to store, and the ids of memories that said the rest in other words.

    Attributes:
        near: id of the memory that a lesson to store is near to without saying the same, by its place.
    """

    fresh: list[Prepared]
    known: list[str]
    near: dict[int, str]


def sift(engine: Engine, embedder: Embedder, drafts: Sequence[Draft], runs: Sequence[Trajectory]) -> Sifted:
    """Tell the lessons that say something new from those that a memory says already, in nearly the same words.

    New is also meant among each other: of two that say the same, the first is kept. They were drawn from these runs:
    what a lesson names that none of them did puts it in doubt.
    """
    sifted = Sifted([], [], {})
    told = "\n".join(run.model_dump_json() for run in runs) if runs else None
    cleaned = [preparing.clean(draft, None, engine.rules, told=told) for draft in drafts]
    for prepared in preparing.embed(embedder, cleaned):
        said_now = (other for other in sifted.fresh if _are_near(engine, prepared, other))
        near: list[tuple[Draft | Memory, str]] = [(memory, memory.id) for memory in record.near(engine, prepared)]
        near += [(other.draft, other.memory_id) for other in said_now]
        same = next((memory_id for said, memory_id in near if says_the_same(prepared.draft, said)), None)
        if same is not None:
            sifted.known.append(same)
            continue
        if near:
            sifted.near[len(sifted.fresh)] = near[0][1]
        sifted.fresh.append(prepared)
    return sifted


def says_the_same(one: Draft, other: Draft | Memory) -> bool:
    """Tell whether two near lessons say the same in other words, as merging has it, and to the letter where it counts.

    What is the same in a looser form only may be a correction of the other: it says something else.
    """
    texts = lesson_text(one), lesson_text(other)
    if fingerprint_text("", texts[0]) == fingerprint_text("", texts[1]):
        return all(same_text(getattr(one, name)) == same_text(getattr(other, name)) for name in SAID)
    words = wording(texts[0]), wording(texts[1])
    return (
        literals(texts[0]) == literals(texts[1])
        and differences(*words).none
        and in_one_order(*words)
        and differences(wording(one.applies_when), wording(other.applies_when)).none
    )


def _are_near(engine: Engine, one: Prepared, other: Prepared) -> bool:
    if one.draft.outcome is not other.draft.outcome or not (one.vectors and other.vectors):
        return False
    return float(one.vectors[0][1] @ other.vectors[0][1]) > engine.settings.duplicate_similarity


def stored(edit: Edit, sifted: Sifted) -> tuple[list[Recorded], list[str]]:
    """Store the lessons; return them, and the ids of those that were there."""
    recorded, known = [], list(sifted.known)
    for place, one in enumerate(store_all(edit, sifted.fresh)):
        if not one.created and not one.held:
            known.append(one.memory.id)
        elif one.created and not one.possible_duplicate_of:
            recorded.append(replace(one, possible_duplicate_of=sifted.near.get(place)))
        else:
            recorded.append(one)
    return recorded, known

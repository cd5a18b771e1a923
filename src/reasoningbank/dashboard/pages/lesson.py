"""One lesson: what it says and said, why it is believed, whence it comes, where it was shown; what can be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reasoningbank import MemoryNotFoundError, ReasoningBank, ReasoningBankError
from reasoningbank.dashboard import charts, marks
from reasoningbank.dashboard.addresses import address, is_own
from reasoningbank.dashboard.site import Answer, Asked, Moved, Notice, Page, Undo
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Draft, Memory, State
from reasoningbank.upkeep import THRESHOLD, Revision

# Who acts here, by name.
BY: Final = "dashboard"
SHOWN_RUNS: Final = 20
TEXTS: Final = (("title", "Title"), ("description", "About"), ("applies_when", "Applies when"), ("content", "Content"))


def shown(asked: Asked) -> Page:
    """Show all that is known of a lesson."""
    bank, memory_id = asked.bank, asked.parts["memory"]
    memory, evidence = bank.get(memory_id), bank.evidence(memory_id)
    found = marks.read_findings(memory.findings)
    links = bank.links.of(memory_id)
    values = {
        "title": memory.title,
        "memory": memory,
        "texts": [
            (label, marks.marked(name, text, found)) for name, label in TEXTS[1:] if (text := getattr(memory, name))
        ],
        "findings": found,
        "evidence": evidence,
        "chart": charts.trail(evidence, bank.settings.floor, memory.created_at, bank.now()),
        "floor": bank.settings.floor,
        "revisions": _revisions(memory, bank.revisions(memory_id)),
        "runs": bank.runs.of(memory_id, SHOWN_RUNS),
        "links": links,
        "titles": titles(bank, {end for link in links for end in (link.source, link.target)} - {memory_id}),
        "near": _near(bank, memory),
        "pins": [pin.tag for pin in bank.upkeep.pins() if pin.memory.id == memory_id],
        "nodes": bank.graph.nodes_of(memory_id),
        "now": bank.now(),
        "here": address(asked.project, "lessons", memory_id),
    }
    return Page("lesson.html", values)


def titles(bank: ReasoningBank, ids: set[str]) -> dict[str, str]:
    """Return the titles of memories by id; of those that are gone, none."""
    found = {}
    for memory_id in sorted(ids):
        try:
            found[memory_id] = bank.get(memory_id).title
        except MemoryNotFoundError:
            continue
    return found


def _near(bank: ReasoningBank, memory: Memory) -> list[tuple[Memory, float]]:
    """Return the lessons in service that may say the same, the nearest first; none where nothing can be embedded."""
    try:
        hits = bank.search(
            f"{memory.title}\n{memory.description or memory.content}"[:1_000], 6, min_confidence=0.0
        ).hits
    except ReasoningBankError:
        return []
    near = [(hit.memory, hit.similarity) for hit in hits if hit.memory.id != memory.id and hit.similarity >= THRESHOLD]
    return sorted(near, key=lambda pair: -pair[1])


def _revisions(memory: Memory, revisions: list[Revision]) -> list[dict[str, Any]]:
    """Return what a lesson said before, the newest first, each with what it became."""
    said: list[Draft | Memory] = [*(revision.said for revision in revisions), memory]
    rows = [
        {
            "revision": revision,
            "changes": [
                (label, marks.changed(before, after))
                for name, label in TEXTS
                if (before := getattr(revision.said, name)) != (after := getattr(following, name))
            ],
        }
        for revision, following in zip(revisions, said[1:], strict=True)
    ]
    return rows[::-1]


# -- what can be done ----------------------------------------------------------------------------------------------

Did = tuple[str, Undo | None]


def act(asked: Asked) -> Answer:
    """Do one thing with a lesson, and say what was done."""
    doing = ACTS.get(asked.parts["act"])
    if doing is None:
        raise InvalidInputError(f"a lesson knows no {asked.parts['act']!r}: it takes {', '.join(ACTS)}")
    memory = asked.bank.get(asked.parts["memory"])
    text, undo = doing(asked, memory)
    gone = asked.parts["act"] in ("delete", "forget")
    back = asked.form.get("back", "")
    # Only to pages of this dashboard, and never to the page of what is gone.
    if not is_own(back) or (gone and back.startswith(_here(asked))):
        back = address(asked.project, "lessons") if gone else _here(asked)
    return Moved(back, Notice(text, undo))


def _here(asked: Asked, *act: str) -> str:
    return address(asked.project, "lessons", asked.parts["memory"], *act)


def _named(memory: Memory) -> str:
    return f"“{memory.title}”"


def _vote(asked: Asked, memory: Memory) -> Did:
    helpful = asked.form.get("helpful") == "yes"
    voted = asked.bank.vote(memory.id, helpful, by=BY, reason=asked.form.get("reason") or None)
    said = "for" if helpful else "against"
    if not voted.recorded:
        return f"A vote {said} {_named(memory)} was counted for this run before; nothing changed.", None
    believed = f"it is believed with {voted.memory.confidence:.2f} now, {memory.confidence:.2f} before"
    return f"Counted a vote {said} {_named(memory)}: {believed}.", None


def _approve(asked: Asked, memory: Memory) -> Did:
    asked.bank.upkeep.approve(memory.id)
    out = Undo(_here(asked, "archive"), {"reason": "approved by mistake"}, "Archive it again")
    return f"Approved {_named(memory)}: it is served from now on.", out


def _archive(asked: Asked, memory: Memory) -> Did:
    if memory.state is State.ARCHIVED:
        return f"{_named(memory)} is archived already; nothing changed.", None
    asked.bank.upkeep.archive(memory.id, reason=asked.form.get("reason") or None, by=BY)
    return f"Archived {_named(memory)}: it is served no more.", Undo(_here(asked, "restore"))


def _restore(asked: Asked, memory: Memory) -> Did:
    if revision := asked.form.get("revision"):
        number = int(revision) if revision.isdecimal() else 0
        asked.bank.upkeep.restore(memory.id, revision=number)
        newest = max(each.number for each in asked.bank.revisions(memory.id))
        again = Undo(_here(asked, "restore"), {"revision": str(newest)})
        return f"{_named(memory)} says again what it said in revision {revision}.", again
    restored = asked.bank.upkeep.restore(memory.id)
    if memory.state is not State.ARCHIVED:
        return f"{_named(memory)} is not archived; nothing changed.", None
    return f"Restored {_named(memory)}: it is {restored.state} again.", Undo(_here(asked, "archive"))


def _delete(asked: Asked, memory: Memory) -> Did:
    asked.bank.delete(memory.id, mark=asked.form.get("mark") == "yes")
    return f"Deleted {_named(memory)} for good, with its history and its evidence.", None


def _pin(asked: Asked, memory: Memory) -> Did:
    tag = asked.form.get("tag") or None
    asked.bank.upkeep.pin(memory.id, tag)
    at = f"where a recall asks for the tag {tag!r}" if tag else "at every recall"
    return f"Pinned {_named(memory)}: it is shown {at}.", Undo(_here(asked, "unpin"), {"tag": tag or ""})


def _unpin(asked: Asked, memory: Memory) -> Did:
    tag = asked.form.get("tag") or None
    if not asked.bank.upkeep.unpin(memory.id, tag):
        return f"{_named(memory)} was not pinned so; nothing changed.", None
    return f"{_named(memory)} is pinned no more.", Undo(_here(asked, "pin"), {"tag": tag or ""})


def _supersede(asked: Asked, memory: Memory) -> Did:
    other = asked.bank.get(asked.form.get("other", "").strip())
    reason = asked.form.get("reason") or "it says it better"
    asked.bank.supersede(memory.id, other.id, reason=reason, by=BY)
    return f"{_named(other)} took the place of {_named(memory)}.", Undo(_here(asked, "restore"))


def _merge(asked: Asked, memory: Memory) -> Did:
    other = asked.bank.get(asked.form.get("other", "").strip())
    merged = asked.bank.upkeep.merge([memory.id, other.id])
    undo = Undo(address(asked.project, "lessons", merged.id, "undo-merge"))
    return f"Merged {_named(memory)} and {_named(other)} into one, with the evidence of both.", undo


def _undo_merge(asked: Asked, memory: Memory) -> Did:
    done = asked.bank.upkeep.undo_merge(memory.id)
    left = f"; {len(done.left)} stay archived, since another says the same" if done.left else ""
    return f"Took {_named(memory)} apart: {len(done.restored)} lessons are served again{left}.", None


def _forget(asked: Asked, memory: Memory) -> Did:
    source = asked.form.get("source") or memory.source.by or memory.source.session or ""
    done = asked.bank.sources.forget(source)
    undo = Undo(address(asked.project, "sources", "unblock"), {"source": source}, "Unblock the source")
    return (
        f"Forgot the source {source!r}: {len(done.memories)} lessons were deleted for good, its signals about "
        f"{done.judged} count for nothing, and what it brings later is quarantined.",
        undo,
    )


def _block(asked: Asked, memory: Memory) -> Did:
    source = asked.form.get("source") or memory.source.by or memory.source.session or ""
    done = asked.bank.sources.block(source)
    undo = Undo(address(asked.project, "sources", "unblock"), {"source": source})
    return f"Blocked the source {source!r}: {len(done.memories)} lessons were archived.", undo


ACTS: Final[Mapping[str, Callable[[Asked, Memory], Did]]] = {
    "vote": _vote,
    "approve": _approve,
    "archive": _archive,
    "restore": _restore,
    "delete": _delete,
    "pin": _pin,
    "unpin": _unpin,
    "merge": _merge,
    "supersede": _supersede,
    "undo-merge": _undo_merge,
    "forget": _forget,
    "block": _block,
}


def unblock(asked: Asked) -> Answer:
    """Serve again what a blocked source brought."""
    source = asked.form.get("source", "")
    done = asked.bank.sources.unblock(source)
    left = f"; {len(done.left)} stay archived, since another says the same" if done.left else ""
    text = f"The source {source!r} is blocked no more: {len(done.memories)} lessons are served again{left}."
    return Moved(address(asked.project, "upkeep"), Notice(text))

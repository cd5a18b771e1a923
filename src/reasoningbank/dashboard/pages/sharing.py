"""Shared banks: who may do what in them, and what is worth sharing; what is in one has the pages of a project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reasoningbank.dashboard.addresses import address, in_shared, shared
from reasoningbank.dashboard.site import Answer, Asked, Moved, Notice, Page, Undo
from reasoningbank.errors import InvalidInputError
from reasoningbank.sharing import Right

BY: Final = "dashboard"
MOST: Final = 50
RIGHTS: Final = {
    Right.READ.value: "Read",
    Right.WRITE.value: "Read and propose",
    Right.APPROVE.value: "Read, propose and approve",
}


def listed(asked: Asked) -> Page:
    """Show the tenant's shared banks."""
    return Page("shared.html", {"title": "Shared banks", "banks": asked.site.banks.shared.list()})


def declare(asked: Asked) -> Answer:
    """Declare a shared bank; nobody is in it yet."""
    made = asked.site.banks.shared.create(asked.form.get("name", "").strip())
    return Moved(shared(made.name), Notice(f"Declared {made.name}: nobody reads it until you let them in."))


def shown(asked: Asked) -> Page:
    """Show a shared bank: its members, what is in it, and what is worth sharing."""
    banks, name = asked.site.banks, asked.parts["bank"]
    facts = banks.shared.get(name)
    values = {
        "title": f"Shared bank {facts.name}",
        "bank": facts,
        "suggestions": banks.shared.suggest_promotions(name)[:MOST],
        "rights": RIGHTS,
        "most": MOST,
    }
    return Page("shared_bank.html", values)


# -- what can be done ------------------------------------------------------------------------------------------------

Did = tuple[str, Undo | None]


def act(asked: Asked) -> Answer:
    """Do one thing with a shared bank, and say what was done."""
    doing = ACTS.get(asked.parts["act"])
    if doing is None:
        raise InvalidInputError(f"a shared bank knows no {asked.parts['act']!r}: it takes {', '.join(ACTS)}")
    text, undo = doing(asked, asked.parts["bank"])
    return Moved(shared(asked.parts["bank"]), Notice(text, undo))


def _member(asked: Asked) -> dict[str, str]:
    """Return whom it is about, as the calls take it."""
    kind = "person" if asked.form.get("kind") == "person" else "project"
    return {kind: asked.form.get("name", "").strip()}


def _let_in(asked: Asked, bank: str) -> Did:
    who, may = _member(asked), asked.form.get("may", "")
    asked.site.banks.shared.add(bank, **who, may=may)
    ((kind, name),) = who.items()
    undo = Undo(shared(bank, "remove"), {"kind": kind, "name": name}, "Shut out again")
    return f"The {kind} {name!r} may {may} in {bank} from now on.", undo


def _shut_out(asked: Asked, bank: str) -> Did:
    who = _member(asked)
    ((kind, name),) = who.items()
    before = {
        member.name: member.may.value for member in asked.site.banks.shared.get(bank).members if member.kind == kind
    }
    if not asked.site.banks.shared.remove(bank, **who):
        return f"The {kind} {name!r} was no member of {bank}; nothing changed.", None
    undo = Undo(shared(bank, "add"), {"kind": kind, "name": name, "may": before.get(name, Right.READ.value)})
    return f"The {kind} {name!r} is out of {bank} from the next call on.", undo


def _promote(asked: Asked, bank: str) -> Did:
    project, memory_id = asked.form.get("project", ""), asked.form.get("memory", "")
    confidence = asked.form.get("confidence", "")
    # The project that found it out proposes it: it is a member that may.
    proposed = asked.site.banks.open(project, shared=(bank,)).sharing.promote(
        memory_id,
        to=bank,
        anyway=asked.form.get("anyway") == "yes",
        confidence=float(confidence) if confidence else None,
        by=BY,
    )
    if proposed.memory is None:
        named = ", ".join(str(each) for each in proposed.specific)
        return f"Not promoted, since it names what only {project} has: {named}. Edit it there first.", None
    where = "waits for a review" if proposed.waits else "is served to its members from now on"
    undo = Undo(address(in_shared(bank), "lessons", proposed.memory.id, "archive"), {"reason": "promoted by mistake"})
    return f"Promoted “{proposed.memory.title}”: it {where}.", undo


ACTS: Final[Mapping[str, Callable[[Asked, str], Did]]] = {"add": _let_in, "remove": _shut_out, "promote": _promote}

"""Lessons without a model: what worked, what went wrong and what to do instead, read off the run itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reasoningbank.distill.acts import label
from reasoningbank.distill.answering import outputs_with
from reasoningbank.distill.cleaning import shorten
from reasoningbank.distill.distillation import Distillation
from reasoningbank.distill.reading import Reading, Trouble, read
from reasoningbank.distill.tags import derive_tags
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Draft, Source
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.verdict import Verdict

VERSION = 2
# Sizes in characters: a lesson is to take at most about 150 tokens of the prompt it is recalled into.
TITLE = 70
TASK = 60
APPLIES = 140
SENTENCE = 140
QUOTE = 90
REASON = 400

TEACHES = {
    Verdict.SUCCESS: (Verdict.SUCCESS,),
    Verdict.FAILURE: (Verdict.FAILURE,),
    Verdict.PARTIAL: (Verdict.SUCCESS, Verdict.FAILURE),
    Verdict.UNKNOWN: (),
}


class Finding(NamedTuple):
    """One thing that a run teaches: a title, and the lines of the lesson below its task."""

    title: str
    lines: tuple[str, ...]
    when: str = ""


class TemplateDistiller:
    """A distiller that needs no model and no network, and always says the same of the same run.

    It prefers silence: a lesson that would name no act, no error and no check is not made.
    """

    @property
    def name(self) -> str:
        """The name and version that lessons carry as their source."""
        return f"template-{VERSION}"

    def distill(self, run: Trajectory, earlier: Sequence[Trajectory] = ()) -> Distillation:
        """Draw at most one lesson of each outcome from a run.

        Args:
            run: cleaned (see `clean`) and judged: a success gives its approach, a failure a guard-rail, a partial
                success both, an unknown verdict nothing. A reason that was given for a failure is a guard-rail by
                itself, also without steps.
            earlier: other runs of the same task; what differs from one that ended otherwise becomes part of the
                lesson.
        """
        if not TEACHES[run.verdict]:
            return self._nothing("the verdict is unknown: that a run ended does not say that it succeeded")
        facts = read(run)
        drafts = (self._draft(run, facts, outcome, earlier) for outcome in TEACHES[run.verdict])
        made = tuple(draft for draft in drafts if draft is not None)
        if made:
            return Distillation(DistillStatus.DONE, made, by=self.name)
        return self._nothing("the run shows no act, error or check that a lesson could name")

    def distill_many(self, runs: Sequence[Trajectory]) -> Distillation:
        """Draw lessons from several runs of one task: one from the best success, one from the failure most unlike it.

        Each is told what the other did differently. Runs with an unknown verdict teach nothing.
        """
        succeeded = sorted((run for run in runs if run.verdict is Verdict.SUCCESS), key=lambda run: len(run.steps))
        failed = sorted((run for run in runs if run.verdict is Verdict.FAILURE), key=lambda run: -len(run.steps))
        pairs = [(runs[0], others) for runs, others in ((succeeded, failed), (failed, succeeded)) if runs]
        drafts = tuple(draft for run, others in pairs for draft in self.distill(run, others).drafts)
        if drafts or pairs:
            return Distillation(DistillStatus.DONE, drafts, by=self.name) if drafts else self.distill(pairs[0][0])
        return self._nothing("no run was judged")

    def _nothing(self, reason: str) -> Distillation:
        return Distillation(DistillStatus.EMPTY, reason=reason, by=self.name)

    def _draft(self, run: Trajectory, facts: Reading, outcome: Verdict, earlier: Sequence[Trajectory]) -> Draft | None:
        other = next((before for before in earlier if before.verdict is OPPOSITE[outcome]), None)
        found = next(
            approach(run, facts, other) if outcome is Verdict.SUCCESS else guard_rails(run, facts, other), None
        )
        if found is None:
            return None
        task = (f"Task: {shorten(facts.goal, TASK)}",) if facts.goal else ()
        happened = run.ended_at or run.started_at or next((step.at for step in reversed(run.steps) if step.at), None)
        return Draft(
            title=shorten(found.title, TITLE),
            content="\n".join((*task, *found.lines)),
            description=shorten(found.when or when_to_use(facts), SENTENCE),
            applies_when=shorten(facts.goal, APPLIES),
            outcome=outcome,
            tags=run.tags or derive_tags(run),
            source=Source(how="distilled", by=self.name, session=run.session, trusted=run.trusted),
            occurred_at=happened,
            signatures=_answered(run, facts, found),
        )


def _answered(run: Trajectory, facts: Reading, found: Finding) -> tuple[str, ...] | None:
    """Return the outputs of the failures that a finding tells of: the errors that the lesson answers."""
    told = "\n".join((found.title, found.when, *found.lines))
    return outputs_with(run, [t.said for t in facts.troubles if plain(t.said)[:40] in told]) or None


OPPOSITE = {Verdict.SUCCESS: Verdict.FAILURE, Verdict.FAILURE: Verdict.SUCCESS}


def when_to_use(facts: Reading) -> str:
    """Return one sentence on when the lesson applies: the deeds that are asked for, or the tools at hand."""
    if facts.coding:
        return ""  # of code, a word such as "drops" is mostly no deed
    if facts.asked:
        return f"When the task asks to {', '.join(facts.asked[:3])}."
    return f"When {facts.tools[0]} is at hand." if facts.tools else ""


# -- from a success ---------------------------------------------------------------------------------------------------


def approach(run: Trajectory, facts: Reading, failed: Trajectory | None) -> Iterator[Finding]:
    """Yield the lesson of a success: what failed first and what worked then, or the acts that led to its end."""
    overcome = next((trouble for trouble in facts.troubles if trouble.resolved), None)
    if not facts.way or not (overcome or facts.goal):
        return
    if len(facts.way) == 1 and facts.only_looked and not (overcome or facts.decision):
        return
    lines = [f"Successful approach: {' → '.join(facts.way)}"]
    if overcome is not None:
        lines.append(f"Overcame: {overcame(overcome)}")
    elif facts.decision:
        lines.append(f"Decided: {shorten(facts.decision, SENTENCE)}")
    if failed is not None and (only := unlike(run, failed)):
        lines.append(f"Unlike an earlier run that failed: {only}")
    if facts.check and not facts.failing:
        lines.append(f"Checked by: {facts.check}")
    if overcome is not None:
        yield Finding(f"{overcome.what}: {plain(overcome.said)}", tuple(lines), when_it_says(overcome))
    else:
        yield Finding(f"{facts.way[-1]}: {facts.goal}", tuple(lines))


def overcame(trouble: Trouble) -> str:
    """Say what failed, with which error, and how it was resolved."""
    return f"{trouble.what} failed ({plain(trouble.said)}); {remedy(trouble)}."


def remedy(trouble: Trouble) -> str:
    """Say what came after a failure and worked."""
    if trouble.changed and not names(trouble):
        return f"with another {trouble.changed} it worked"
    if trouble.changed:
        return f"changing {trouble.changed} resolved it; do so from the start"
    if trouble.instead:
        return f"what worked instead: {trouble.instead}"
    if trouble.after:
        return f"it worked after: {trouble.after}"
    return "the same worked when it was tried again"


def names(trouble: Trouble) -> bool:
    """Tell whether an error speaks of the arguments that were changed; of others they may be a way around it."""
    words = re.findall(r"[a-z]{3,}", trouble.changed.lower().replace("_", " "))
    said = trouble.said.lower()
    return not words or any(word.removesuffix("s") in said for word in words) or bool(VAGUE.search(said))


# Errors that speak of whatever was given.
VAGUE = re.compile(r"argument|parameter|invalid|no such|not found|not exist|expected|must be|unexpected|missing|syntax")


def when_it_says(trouble: Trouble) -> str:
    """Return when a lesson about an error applies."""
    return f"When {trouble.what} says: {plain(trouble.said)}"


def unlike(run: Trajectory, other: Trajectory) -> str:
    """Return what a run did that another did not, at most three acts, "" if nothing."""
    mine = dict.fromkeys(label(step) for step in run.steps if step.action.strip())
    theirs = {label(step) for step in other.steps if step.action.strip()}
    return ", ".join([text for text in mine if text not in theirs][:3])


# -- from a failure ---------------------------------------------------------------------------------------------------


def guard_rails(run: Trajectory, facts: Reading, succeeded: Trajectory | None) -> Iterator[Finding]:
    """Yield what a failure teaches, the most telling first."""
    only = unlike(succeeded, run) if succeeded is not None else ""
    more = (f"Unlike this one, a run that succeeded did: {only}",) if only else ()
    for title, wrong, instead, when in _what_went_wrong(run, facts):
        failed = (f"Failed approach: {' → '.join(facts.did[-2:])}",) if facts.did and not when else ()
        yield Finding(title, (*failed, f"What went wrong: {wrong}", *more, f"Warning: {instead}"), when)
    if only and facts.did:
        failed = (f"Failed approach: {' → '.join(facts.did[-2:])}",)
        yield Finding(f"Not without: {only}", (*failed, *more, f"Warning: Do not finish without: {only}."))


def _what_went_wrong(run: Trajectory, facts: Reading) -> Iterator[tuple[str, str, str, str]]:
    """Yield title, what went wrong, what to do instead, and when that applies ("" for whenever the task is such)."""
    reason = " ".join(run.reason.split())
    if len(WORD.findall(reason)) >= TELLING:
        yield f"Avoid: {reason}", f"{shorten(reason, REASON).rstrip('.')}.", "Check this before finishing.", ""
    if facts.failing:
        said = plain(facts.failing)
        wrong = f"It ended while {facts.check} still failed: {said}."
        yield (
            f"{facts.check}: {said}",
            wrong,
            f"Do not finish before {facts.check} passes; run it after each change.",
            "",
        )
    yield from _what_failed(facts)
    what, times = facts.repeated
    if times:
        wrong = f"{what} was done {times} times with the same outcome."
        yield f"Do not repeat {what}", wrong, f"When {what} shows nothing new, take another way.", ""
    yield from _what_was_left(facts)


def _what_failed(facts: Reading) -> Iterator[tuple[str, str, str, str]]:
    unresolved = [trouble for trouble in facts.troubles if not trouble.resolved]
    resolved = [trouble for trouble in facts.troubles if trouble.resolved]
    if facts.stuck and unresolved:
        yield _failed_for_good(unresolved[-1])
    # What changed between a failure and the try that worked says more than a failure alone.
    for trouble in sorted(resolved, key=lambda one: not (one.changed or one.instead or one.after)):
        said = plain(trouble.said)
        wrong = f"{trouble.what} first failed: {said}; {remedy(trouble)}."
        yield f"{trouble.what}: {said}", wrong, _from_the_start(trouble), when_it_says(trouble)
    if unresolved:
        yield _failed_for_good(unresolved[-1])


def _failed_for_good(trouble: Trouble) -> tuple[str, str, str, str]:
    said = plain(trouble.said)
    often = f" {trouble.times} times" if trouble.times > 1 else ""
    wrong = f"{trouble.what} failed{often} for good: {said}."
    instead = f"Settle that before calling {trouble.what}, and change the way after one such answer."
    return f"{trouble.what}: {said}", wrong, instead, when_it_says(trouble)


def _from_the_start(trouble: Trouble) -> str:
    if trouble.changed and not names(trouble):
        return f"When {trouble.what} says so, look at {trouble.changed} first."
    if trouble.changed:
        return f"Get {trouble.changed} right at the first {trouble.what.split()[0]}."
    if trouble.check and trouble.after:
        return f"When {trouble.what} says so, change what it names ({trouble.after}) and run it again."
    if trouble.instead or trouble.after:
        return f"When {trouble.what} says so, go on with: {trouble.instead or trouble.after}."
    return f"When {trouble.what} says so, try it once more before taking another way."


def _what_was_left(facts: Reading) -> Iterator[tuple[str, str, str, str]]:
    if facts.handed_over and facts.undone:
        said = f" after saying: {shorten(facts.decision, SENTENCE).rstrip('.')}" if facts.decision else ""
        tried = ", ".join(facts.undone[:3])
        instead = f"Hand over only after trying {tried} by itself."
        yield f"Try {tried} before handing over: {facts.goal}", f"It handed the task over{said}.", instead, ""
    if facts.undone:
        named = ", ".join(facts.undone[:3])
        yield (
            f"Do not leave undone: {named}",
            f"It only looked; no step did {named}.",
            f"Do or explicitly rule out: {named}.",
            "",
        )
    if facts.unchecked:
        what = facts.unchecked
        how = "run the tests or the program" if facts.coding else "compare what it did with each request"
        instead = f"After {what}, {how}."
        yield f"Check after {what}: {facts.goal}", f"Nothing was looked at or run after {what}.", instead, ""


WORD = re.compile(r"[^\W\d_]{2,}")
TELLING = 3  # words of a reason below which it says nothing


def plain(error: str) -> str:
    """Return an error's message without the word that only says it is one."""
    return shorten(re.sub(r"^E {2,}|(?i:^\W*error\W+)", "", error), QUOTE).rstrip(".:")


def anti_pattern(title: str, content: str, reason: str, session: str | None = None) -> Draft:
    """Return the lesson that a memory was found unhelpful, from the reason that was given with the vote.

    Without one it raises InvalidInputError: a bare vote says nothing a next run could act on.
    """
    reason = " ".join(reason.split())
    if not reason:
        raise InvalidInputError("an unhelpful vote without a reason gives no anti-pattern: say what went wrong")
    said = shorten(" ".join(content.split()), SENTENCE)
    return Draft(
        title=shorten(f"Not always: {title}", TITLE),
        content=f"Failed approach: {said}\nWhat went wrong: {shorten(reason, 600)}\n"
        f"Warning: before following “{shorten(title, 80)}”, check that this does not apply.",
        description=shorten(f"When about to follow: {title}", SENTENCE),
        outcome=Verdict.FAILURE,
        tags=("anti-pattern",),
        source=Source(how="distilled", by=f"template-{VERSION}", session=session),
    )

"""Lessons without a model: what worked, what went wrong and what to do instead, read off the run itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reasoningbank.distill.cleaning import shorten
from reasoningbank.distill.distillation import Distillation
from reasoningbank.distill.reading import Reading, Trouble, kind, label, read
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import TAG_LIMIT, Draft, Source
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.verdict import Verdict

VERSION = 1
# Sizes in characters: a lesson is to take at most about 150 tokens of the prompt it is recalled into.
TITLE = 50
TASK = 45
APPLIES = 100
SENTENCE = 100
QUOTE = 60
ENDING = 50
WRONG = 90
DID, FAILED = 3, 2  # of the acts, the last ones: a success is to be followed, a failure only to be recognised

TOOLS_KEPT = 3

# By what the acts show: a command, a file's ending, a line of code.
LANGUAGES = {
    "python": r"\b(?:python3?|pip3?|pytest|uv|poetry)\b|\.py\b|Traceback \(most recent",
    "javascript": r"\b(?:node|npm|npx|yarn|pnpm|jest)\b|\.m?jsx?\b",
    "typescript": r"\btsc\b|\.tsx?\b",
    "java": r"\b(?:javac|mvn|gradlew?)\b|\.java\b",
    "go": r"\bgo (?:build|test|run|mod|get)\b|\.go\b",
    "rust": r"\b(?:cargo|rustc)\b|\.rs\b",
    "c++": r"\b(?:g\+\+|clang\+\+|cmake)\b|\.(?:cpp|cc|hpp)\b",
    "sql": r"(?i)\b(?:select\b.{1,200}\bfrom|insert into|update \w+ set|create table)\b|\.sql\b|\bpsql\b",
    "bash": r"\b(?:bash|grep|sed|awk|chmod|xargs)\b|\.sh\b",
}
# By what went wrong, and by what the errors say.
PROBLEMS = {
    "timeout": r"(?i)time(?:d[ -])?out|deadline",
    "permission": r"(?i)permission|denied|forbidden|unauthori[sz]ed|\b40[13]\b",
    "not-found": r"(?i)not found|no such|does not exist|unknown|missing|\b404\b",
    "dependency": r"(?i)ModuleNotFoundError|ImportError|No module named|unresolved import|version conflict",
    "syntax": r"(?i)SyntaxError|syntax error|unexpected token|parse error|IndentationError",
    "type": r"TypeError|type mismatch|incompatible type",
    "assertion": r"(?i)AssertionError|assert|expected .{1,60} (?:but )?(?:got|was)|FAILED",
    "network": r"(?i)connection|network|unreachable|\bDNS\b|ECONN|\b50[0234]\b",
    "rate-limit": r"(?i)rate.?limit|too many requests|\b429\b",
    "encoding": r"(?i)Unicode(?:De|En)codeError|codec|encoding",
    "memory": r"(?i)out of memory|MemoryError|OOM",
    "validation": r"(?i)invalid|must be|not allowed|does not add up|not enough|ValueError|schema|\b4(?:00|22)\b",
}

TEACHES = {
    Verdict.SUCCESS: (Verdict.SUCCESS,),
    Verdict.FAILURE: (Verdict.FAILURE,),
    Verdict.PARTIAL: (Verdict.SUCCESS, Verdict.FAILURE),
    Verdict.UNKNOWN: (),
}


class Finding(NamedTuple):
    """A thing that went wrong, and what to do instead."""

    title: str
    wrong: str
    instead: str
    weak: bool = False


class TemplateDistiller:
    """A distiller that needs no model and no network, and always says the same of the same run."""

    @property
    def name(self) -> str:
        """The name and version that lessons carry as their source."""
        return f"template-{VERSION}"

    def distill(self, run: Trajectory, earlier: Sequence[Trajectory] = ()) -> Distillation:
        """Draw at most one lesson of each outcome from a run.

        Args:
            run: cleaned (see `clean`) and judged: a success gives its approach, a failure a guard-rail, a partial
                success both, an unknown verdict nothing.
            earlier: other runs of the same task; what differs from one that ended otherwise becomes part of the
                lesson.
        """
        if not TEACHES[run.verdict]:
            return self._nothing("the verdict is unknown: that a run ended does not say that it succeeded")
        facts = read(run)
        silent = not run.result and not any(step.thought or step.action for step in run.steps)
        if not facts.goal or silent:
            return self._nothing("the run has no task, or no act or word of the agent")
        drafts = tuple(self._draft(run, facts, outcome, earlier) for outcome in TEACHES[run.verdict])
        return Distillation(DistillStatus.DONE, drafts, by=self.name)

    def distill_many(self, runs: Sequence[Trajectory]) -> Distillation:
        """Draw lessons from several runs of one task: one from the best success, one from the failure most unlike it.

        Each is told what the other did differently. Runs with an unknown verdict teach nothing.
        """
        succeeded = sorted((run for run in runs if run.verdict is Verdict.SUCCESS), key=lambda run: len(run.steps))
        failed = sorted((run for run in runs if run.verdict is Verdict.FAILURE), key=lambda run: -len(run.steps))
        pairs = [(runs[0], others) for runs, others in ((succeeded, failed), (failed, succeeded)) if runs]
        drafts = tuple(draft for run, others in pairs for draft in self.distill(run, others).drafts)
        return Distillation(DistillStatus.DONE, drafts, by=self.name) if drafts else self._nothing("no run was judged")

    def _nothing(self, reason: str) -> Distillation:
        return Distillation(DistillStatus.EMPTY, reason=reason, by=self.name)

    def _draft(self, run: Trajectory, facts: Reading, outcome: Verdict, earlier: Sequence[Trajectory]) -> Draft:
        other = next((before for before in earlier if before.verdict is OPPOSITE[outcome]), None)
        write = approach if outcome is Verdict.SUCCESS else guard_rail
        title, content = write(run, facts, other)
        return Draft(
            title=shorten(title, TITLE),
            content=content,
            description=when_to_use(facts),
            applies_when=shorten(facts.goal, APPLIES),
            outcome=outcome,
            tags=run.tags or derive_tags(run),
            source=Source(how="distilled", by=self.name, session=run.session, trusted=run.trusted),
        )


def derive_tags(run: Trajectory) -> tuple[str, ...]:
    """Return the languages, the tools used most, and the kinds of problem of a run, in this order."""
    acts = " \n".join(f"{step.action[:500]} {step.error}" for step in run.steps)
    errors = "\n".join(step.error for step in run.steps)
    tools = Counter(kind(step).lower() for step in run.steps if step.tool)
    return (
        *(tag for tag, signs in LANGUAGES.items() if re.search(signs, acts)),
        *(tool[:TAG_LIMIT] for tool, _ in tools.most_common(TOOLS_KEPT)),
        *(tag for tag, signs in PROBLEMS.items() if errors and re.search(signs, errors)),
    )


OPPOSITE = {Verdict.SUCCESS: Verdict.FAILURE, Verdict.FAILURE: Verdict.SUCCESS}


def when_to_use(facts: Reading) -> str:
    """Return one sentence on when the lesson applies: the deeds that are asked for, or the tools at hand."""
    if facts.asked:
        return f"When the task asks to {', '.join(facts.asked[:3])}."
    return f"When {facts.tools[0]} is at hand." if facts.tools else "When there is no tool at hand."


def approach(run: Trajectory, facts: Reading, failed: Trajectory | None) -> tuple[str, str]:
    """Return title and content of a lesson from a success."""
    lines = [f"Task: {shorten(facts.goal, TASK)}", f"Successful approach: {path(facts, DID)}"]
    lines.extend(f"Overcame: {overcame(trouble)}" for trouble in facts.troubles[:2] if trouble.resolved)
    if facts.decision:
        lines.append(f"Decided: {shorten(facts.decision, SENTENCE)}")
    if failed is not None:
        lines.extend(unlike(run, failed, "an earlier run that failed"))
    if facts.ending and facts.ending != facts.decision:
        lines.append(f"Result: {shorten(facts.ending, SENTENCE)}")
    return facts.goal, "\n".join(lines)


def path(facts: Reading, most: int) -> str:
    """Return the steps of the run in order; of many, the last ones, which lead to its end."""
    did = facts.did if len(facts.did) <= most else ("…", *facts.did[-most:])
    return " → ".join(did) or "answered without a tool"


def overcame(trouble: Trouble) -> str:
    """Say how a trouble was resolved."""
    how = f"changing {trouble.changed} resolved it; do so from the start" if trouble.changed else "a later try worked"
    return f"{trouble.what} failed ({shorten(trouble.said, QUOTE)}); {how}."


def unlike(run: Trajectory, other: Trajectory, what: str) -> Iterator[str]:
    """Say what a run did that another did not."""
    mine = dict.fromkeys(label(step) for step in run.steps if step.action)
    theirs = {label(step) for step in other.steps if step.action}
    only = [text for text in mine if text not in theirs][:3]
    if only:
        yield f"Unlike {what}: {', '.join(only)}"


def guard_rail(run: Trajectory, facts: Reading, succeeded: Trajectory | None) -> tuple[str, str]:
    """Return title and content of a lesson from a failure: what went wrong, each with its remedy, telling ones only."""
    found = findings(run, facts)
    found = [found[0], *(finding for finding in found[1:2] if len(finding.wrong) + len(found[0].wrong) < WRONG)]
    ended = f" It ended with: {shorten(facts.ending, ENDING)}" if facts.ending and found[0].weak else ""
    lines = [f"Task: {shorten(facts.goal, TASK)}", f"Failed approach: {path(facts, FAILED)}"]
    lines.append("What went wrong: " + " ".join(finding.wrong for finding in found) + ended)
    if succeeded is not None:
        lines.extend(unlike(succeeded, run, "this one, a run that succeeded did"))
    lines.append("Warning: " + " ".join(finding.instead for finding in found))
    return found[0].title, "\n".join(lines)


def findings(run: Trajectory, facts: Reading) -> list[Finding]:
    """Return what went wrong, the most telling first; the last one fits every failure."""
    return [*_what_failed(run, facts), *_what_was_left(facts), *_how_it_ended(facts)]


def _what_failed(run: Trajectory, facts: Reading) -> Iterator[Finding]:
    if run.reason:
        said = shorten(" ".join(run.reason.split()), SENTENCE)
        yield Finding(f"Avoid: {said}", f"{said.rstrip('.')}.", "Check this before finishing.")
    unresolved = [trouble for trouble in facts.troubles if not trouble.resolved]
    if unresolved:
        what, said, times = unresolved[-1].what, plain(unresolved[-1].said), unresolved[-1].times
        often = f" {times} times" if times > 1 else ""
        remedy = f"Settle that before calling {what}, and change the way after one such answer."
        yield Finding(f"{what}: {said}", f"{what} failed{often} for good: {said}.", remedy)
    what, times = facts.repeated
    if times:
        wrong = f"{what} was done {times} times with the same outcome."
        yield Finding(f"Do not repeat {what}", wrong, f"When {what} shows nothing new, take another way.")


def _what_was_left(facts: Reading) -> Iterator[Finding]:
    decision = shorten(facts.decision, SENTENCE)
    if not facts.tools:
        yield Finding(
            "Look it up before refusing or asking again",
            f"It used no tool, and said: {decision}" if decision else "It used no tool.",
            "Look up by tool what is missing before declining or asking for it.",
        )
    elif facts.handed_over:
        said = f" after saying: {decision.rstrip('.')}" if decision else ""
        tried = ", ".join(facts.undone) or "what it can do"
        remedy = f"Hand over only after trying {tried} by itself."
        yield Finding(f"Try {tried} before handing over", f"It handed the task over{said}.", remedy)
    if facts.undone:
        named = ", ".join(facts.undone[:3])
        yield Finding(f"Do not leave undone: {named}", f"No step did {named}.", f"Do or explicitly rule out: {named}.")
    resolved = next((trouble for trouble in facts.troubles if trouble.resolved), None)
    if resolved:
        what, said = resolved.what, plain(resolved.said)
        remedy = f"Get {resolved.changed or 'its arguments'} right at the first {what}."
        yield Finding(f"{what}: {said}", f"{what} first failed: {said}.", remedy)


def _how_it_ended(facts: Reading) -> Iterator[Finding]:
    if facts.unfinished and not facts.handed_over:
        wrong = f"It stopped in the middle, at {facts.did[-1] if facts.did else 'thinking'}."
        remedy = "Go the shortest way to what the task asks for, and end with an answer."
        yield Finding("Keep steps for the end of the task", wrong, remedy, weak=True)
    if facts.neglected:
        request = shorten(facts.neglected, QUOTE)
        wrong = f"It hardly touched on “{request}”"
        yield Finding(f"Mind: {request}", wrong, "Check that condition before finishing.")
    if facts.unchecked:
        what = facts.unchecked
        remedy = f"After {what}, compare it with each request."
        yield Finding(f"Check after {what}", f"It looked at nothing after {what}.", remedy)
    wrong = "It took the task for done, and was judged a failure."
    remedy = "Compare the outcome with each request before finishing."
    yield Finding(f"Not done yet: {facts.goal}", wrong, remedy, weak=True)


def plain(error: str) -> str:
    """Return an error's message without the word that only says it is one."""
    return shorten(re.sub(r"(?i)^\W*error\W+", "", error), QUOTE).rstrip(".")


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

"""What a run shows to a careful reader without a model: what it did, what failed, what resolved it, what it left."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reasoningbank.distill.acts import (
    command_of,
    difference,
    fold,
    is_check,
    is_coding,
    is_edit,
    is_idle,
    is_look,
    key,
    kind,
    label,
    likeness,
    told_apart,
)
from reasoningbank.distill.asking import FORMS, ROWS, deeds, goal, sentences
from reasoningbank.runs.trajectory import Step, Trajectory

# Names of deeds that leave something changed behind, and are worth a check afterwards.
CHANGING = frozenset(ROWS) | {"set", "put", "apply", "commit", "push", "submit"}
HANDING_OVER = re.compile(r"(?i)transfer.{0,8}(?:human|agent)|escalat|hand.?(?:over|off)|human_agent|give_up")
DECLINING = re.compile(
    r"""(?ix) \b(?: cannot | can't | can\ not | unable | not\ able | non-refundable | unfortunately | must\ be |
        only\ if | policy | not\ (?:allowed|permitted|possible|eligible|available|refundable|supported) )\b"""
)
NOT_THERE = re.compile(r"(?i)not found|not recogni[sz]ed|unknown command|introuvable|nicht gefunden")
MISSING = re.compile(r"(?i)not found|no such|not exist|cannot find|can't find|unknown (?:file|path)")
NEAR = 4  # acts after a failure within which a similar command is its correction
ALIKE = 0.34  # the share of words from which two commands of one program are tries of one thing
ALIKE_OTHER = 0.5  # and of different programs


@dataclass(frozen=True, slots=True)
class Trouble:
    """An act that failed, and what became of it.

    Attributes:
        what: the tool or command.
        said: the line that says what went wrong.
        times: how often it came, the same act with the same words.
        resolved: the same thing worked later.
        changed: names of the arguments that were different then.
        after: the change that was made in between and worked, or "".
        instead: the command that worked in its place, or "".
        check: the act was a test, a build or the like.
    """

    what: str
    said: str
    times: int
    resolved: bool
    changed: str = ""
    after: str = ""
    instead: str = ""
    check: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts of one run.

    Attributes:
        goal: what the task asks for, in short.
        asked: the deeds the task asks for.
        did: the acts, runs of one kind folded, in order.
        way: those of them that made the result: what was changed and how it was checked; else the last ones.
        tools: the tools used, by number of uses.
        troubles: what failed, in the order it first did.
        repeated: the act that was done again and again with the same outcome, and how often; ("", 0) if none.
        decision: the last sentence in which the agent declined something or gave a rule.
        handed_over: whether the last act was to hand the task to somebody else.
        undone: deeds the task asks for that no act did.
        unchecked: the last deed that changed something and was not looked at afterwards, or "".
        check: the last test, build or the like; "" if there was none.
        failing: the line that it failed with, "" if it passed.
        only_looked: whether no act did anything but look.
        stuck: whether the last act failed, and nothing resolved it.
        coding: whether it used a shell or the tools that coding agents have.
    """

    goal: str
    asked: tuple[str, ...]
    did: tuple[str, ...]
    way: tuple[str, ...]
    tools: tuple[str, ...]
    troubles: tuple[Trouble, ...]
    repeated: tuple[str, int]
    decision: str
    handed_over: bool
    undone: tuple[str, ...]
    unchecked: str
    check: str
    failing: str
    only_looked: bool
    stuck: bool
    coding: bool


def read(run: Trajectory) -> Reading:
    """Read a run. The facts are what its text shows; nothing is asked of a model."""
    acts = [step for step in run.steps if step.action.strip() and not is_idle(step)]
    tools = Counter(kind(step) for step in acts)
    checks = [step for step in acts if is_check(step)]
    return Reading(
        goal=goal(run.task),
        asked=tuple(deeds(run.task)),
        did=tuple(fold(map(label, acts))),
        way=tuple(dict.fromkeys(way(acts))),
        tools=tuple(name for name, _ in tools.most_common()),
        troubles=tuple(troubles(acts)),
        repeated=repeated(acts),
        decision=decision(run),
        handed_over=bool(acts) and bool(HANDING_OVER.search(acts[-1].action)),
        # What an act that was not understood may have done cannot be said to be undone.
        undone=undone(run.task, acts) if run.tools_understood else (),
        unchecked=unchecked(acts) if run.tools_understood else "",
        check=label(checks[-1]) if checks else "",
        failing=checks[-1].error if checks else "",
        only_looked=all(map(is_look, acts)),
        stuck=bool(acts) and bool(acts[-1].error),
        coding=any(map(is_coding, acts)),
    )


def way(acts: Sequence[Step], most: int = 3) -> list[str]:
    """Return the acts that made a result: the last changes that worked and what was run after them; else the last."""
    worked = [step for step in acts if not step.error]
    edits = [number for number, step in enumerate(worked) if is_edit(step)]
    after = range(edits[-1] + 1, len(worked)) if edits else range(0)
    run = [number for number in after if command_of(worked[number]) and not is_look(worked[number])]
    checks = [number for number in after if is_check(worked[number])] or run
    if not edits:
        return fold(map(label, worked))[-most:]
    return [label(worked[number]) for number in [*edits[-most + len(checks[-1:]) :], *checks[-1:]]]


def troubles(acts: Sequence[Step]) -> list[Trouble]:
    """Return what failed, each act and message once, with what resolved it."""
    failed: dict[tuple[tuple[str, str], str], list[int]] = {}
    for number, step in enumerate(acts):
        if step.error:
            failed.setdefault((key(step), re.sub(r"\d+", "0", step.error)[:80]), []).append(number)
    return [_trouble(acts, numbers) for numbers in failed.values()]


def _trouble(acts: Sequence[Step], numbers: list[int]) -> Trouble:
    first, last = acts[numbers[0]], acts[numbers[-1]]
    what = label(first)
    found = next((n for n in range(numbers[-1] + 1, len(acts)) if _redoes(acts, numbers[-1], n)), None)
    about = (what, first.error, len(numbers))
    if found is None:
        return Trouble(*about, resolved=False, check=is_check(first))
    between = [step for step in acts[numbers[-1] + 1 : found] if not step.error]
    did = [step for step in between if is_edit(step)] or [step for step in between[-NEAR:] if not is_look(step)]
    after = label(did[-1]) if did else ""
    if command_of(last) or command_of(acts[found]):
        instead = "" if after else told_apart(command_of(last), command_of(acts[found]))
        return Trouble(*about, resolved=True, after=after, instead=instead, check=is_check(first))
    changed = difference(last, acts[found])
    return Trouble(*about, resolved=True, changed=changed, after="" if changed else after)


def _redoes(acts: Sequence[Step], failed: int, later: int) -> bool:
    """Tell whether an act that worked is another try of one that failed."""
    before, after = acts[failed], acts[later]
    if after.error:
        return False
    old, new = command_of(before), command_of(after)
    if not old or not new:
        # What was not there, and right after it the same tool found it elsewhere.
        elsewhere = later == failed + 1 and before.tool == after.tool and bool(MISSING.search(before.error))
        return not (old or new) and (key(before) == key(after) or elsewhere)
    if later == failed + 1 and NOT_THERE.search(before.error) and old.split()[1:] == new.split()[1:]:
        return True
    if key(before) == key(after):
        return is_check(before) or likeness(old, new) >= ALIKE
    return later - failed <= NEAR and likeness(old, new) >= ALIKE_OTHER


def repeated(acts: Sequence[Step]) -> tuple[str, int]:
    """Return the act that was most often done again with the same outcome, if at least three times in all."""
    same = Counter((step.action, step.observation[:200]) for step in acts)
    (action, _), count = same.most_common(1)[0] if same else (("", ""), 0)
    if count < 3:
        return "", 0
    return label(next(step for step in acts if step.action == action)), count


def decision(run: Trajectory) -> str:
    """Return the last sentence of the agent that declines something or states a rule."""
    for said in reversed([*(step.thought for step in run.steps), run.result]):
        for sentence in sentences(said):
            if DECLINING.search(sentence) and not (sentence.endswith("?") or OF_THIS_RUN.search(sentence)):
                rule = REGRET.sub("", sentence)
                return rule[:1].upper() + rule[1:]
    return ""


# Names of this run alone, or advice to whom it speaks: no rule that a next run could follow.
OF_THIS_RUN = re.compile(r"^If you|\b[A-Z]{2,}\d+|\b(?=\w*\d)[A-Z0-9]{6}\b|\b(?:19|20)\d\d\b|(?i:\balready\b)")
REGRET = re.compile(
    r"(?i)^(?:(?:i(?:'m| am)? (?:understand|see|apologi[sz]e|appreciate|sorry)\b[^,;]{0,80}[,;] )?(?:but|however)?,? ?"
    r"(?:unfortunately,? )?(?:i'm sorry,? but )?(?:based on the policy, )?)"
)


def undone(task: str, acts: Sequence[Step]) -> tuple[str, ...]:
    """Return the deeds that the task asks for, where no act without an error did anything but look.

    Only where acts are calls of tools whose names say what they do; of a command, or of a tool that edits whatever
    file, that cannot be told. Nor can it where one deed was done: a booking may have added the bags that were asked
    for.
    """
    if not acts or any(map(is_coding, acts)):
        return ()
    names = " ".join(spaced(step.tool).lower() for step in acts if not step.error)
    if any(FORMS.get(word, word) in CHANGING for word in names.split()):
        return ()
    return tuple(deeds(task))


def spaced(name: str) -> str:
    """Return a tool's name as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_.-]+", " ", name)


def unchecked(acts: Sequence[Step]) -> str:
    """Return the last act that changed something, if no act after it looked at anything."""
    for step in reversed(acts):
        name = spaced(step.tool).lower().split()[:2]
        if not step.error and (is_edit(step) or CHANGING.intersection(name)):
            return label(step)
        if not HANDING_OVER.search(step.action):
            return ""
    return ""

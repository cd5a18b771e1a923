"""Before a run is distilled: recalled lessons, boilerplate and secrets come out; what is left is packed as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from reasoningbank.prompt.block import estimate_tokens
from reasoningbank.prompt.stripping import strip_lessons
from reasoningbank.runs.trajectory import Step, Trajectory
from reasoningbank.runs.transcript import is_boot_text, names_boot_file, without_blocks
from reasoningbank.screening import door
from reasoningbank.screening.guard.hidden_text import normalise_hidden
from reasoningbank.screening.scrub import DEFAULT_RULES, RuleSet, scrub, scrub_value

FIELD_LIMIT = 20_000  # characters of any one field; head and tail stay
STEPS_LIMIT = 2_000  # steps of a run; the first and the last stay
BOILERPLATE = "[boilerplate left out]"
RECALLED = "[recalled lessons left out]"
# What shows lessons without their frame: a tool or a command that looks them up, and texts in our own form.
LOOKED_UP = re.compile(
    r"\breasoningbank\s[^|;&\n]{0,200}?\b(?:recall|search|list|show|get|recommend|export|session)\b|^memory_(?:search|recall|get|list)\("
)
OWN_FORM = re.compile(
    r"\b(?:Successful approach|Failed approach|What went wrong): (?s:.{1,700}?)(?:\n|\\n)\W{0,8}"
    r"(?:Overcame|Checked by|Decided|What went wrong|Warning): "
)
ENDS = 3  # steps at either end that are kept before those in between
# What a field may take of a step, in characters; halved until the steps that must stay fit.
FIELD_LIMITS = {"thought": 800, "action": 800, "observation": 1_600, "error": 600}
SMALLEST = 8  # the limits are not made smaller than an eighth
TEXT_LIMIT = 4_000  # of the task and of the result


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A run that may be distilled, and how often each kind of thing was taken out of it."""

    run: Trajectory
    removed: dict[str, int]


def clean(run: Trajectory, rules: RuleSet = DEFAULT_RULES) -> Cleaned:
    """Take out of a run what no lesson may come from.

    Recalled lessons (or lessons would breed copies of themselves), system prompts, harness blocks and boot files,
    secrets; the middle of fields longer than FIELD_LIMIT, and of runs longer than STEPS_LIMIT. What was taken out is
    counted, not kept.
    """
    removed: Counter[str] = Counter()
    kept = run.steps
    if len(kept) > STEPS_LIMIT:
        removed["steps over the limit"] = len(kept) - STEPS_LIMIT
        kept = kept[: STEPS_LIMIT // 2] + kept[-STEPS_LIMIT // 2 :]
    steps = tuple(step for step in (_step(step, removed, rules) for step in kept) if not step.is_empty)
    texts = {field: _text(getattr(run, field), removed, rules) for field in ("task", "result", "reason")}
    named, _ = scrub_value({"session": run.session, "tags": run.tags, "metadata": run.metadata}, rules)
    cleaned = run.model_copy(update={"steps": steps, **texts, **named, "tags": tuple(named["tags"])})
    return Cleaned(cleaned, dict(removed))


def _step(step: Step, removed: Counter[str], rules: RuleSet) -> Step:
    fields = {
        name: _text(getattr(step, name), removed, rules) for name in ("thought", "action", "observation", "error")
    }
    fields["tool"] = door.clean(step.tool, rules)
    if fields["observation"] and (names_boot_file(fields["action"]) or is_boot_text(fields["observation"])):
        removed["boilerplate"] += 1
        fields["observation"] = BOILERPLATE
    elif LOOKED_UP.search(fields["action"]) or OWN_FORM.search(fields["observation"]):
        removed["recalled lessons"] += 1
        fields["observation"], fields["error"] = RECALLED, ""
    return step.model_copy(update=fields)


def _text(text: str, removed: Counter[str], rules: RuleSet) -> str:
    if not text:
        return text
    text = normalise_hidden(text)
    cuts: dict[str, Callable[[str], str]] = {"recalled lessons": strip_lessons, "boilerplate": without_blocks}
    cuts["over the limit"] = partial(clip, limit=FIELD_LIMIT)
    for what, cut in cuts.items():
        shorter = cut(text)
        if shorter != text:
            removed[what] += 1
            text = shorter.strip()
    scrubbed = scrub(text, rules)
    removed.update({f"secret: {rule}": count for rule, count in scrubbed.counts.items()})
    return scrubbed.text


@dataclass(frozen=True, slots=True)
class Packed:
    """A run as text.

    Attributes:
        kept: numbers of the steps that are in it, from 0.
        left_out: how many are not.
        tokens: the estimated size.
    """

    text: str
    kept: tuple[int, ...]
    left_out: int
    tokens: int


def pack(run: Trajectory, *, max_tokens: int) -> Packed:
    """Write a run as text of at most `max_tokens` (estimated), as far as task, result and the two ends allow it.

    Steps are whole or left out, and a gap says how many are missing. First come the ends, the errors and the steps
    right after an error (what resolved it); then the rest, from both ends inwards. Long fields keep head and tail.
    """
    shrink = 1
    while True:
        blocks = [_block(number, step, shrink) for number, step in enumerate(run.steps)]
        head, tail = _frame(run, shrink)
        room = max_tokens - estimate_tokens(head) - estimate_tokens(tail)
        wanted = list(_by_importance(run.steps))
        must = sum(estimate_tokens(blocks[number]) for number in wanted[: _must(run.steps)])
        if must <= room or shrink >= SMALLEST:
            break
        shrink *= 2
    kept = _fill(wanted, blocks, room)
    text = _joined(head, kept, blocks, tail)
    # The notes about gaps, which depend on what is kept, have their price too.
    while estimate_tokens(text) > max_tokens and len(kept) > _must(run.steps):
        kept.remove(next(number for number in reversed(wanted) if number in kept))
        text = _joined(head, kept, blocks, tail)
    return Packed(text, tuple(kept), len(blocks) - len(kept), estimate_tokens(text))


def _joined(head: str, kept: Sequence[int], blocks: Sequence[str], tail: str) -> str:
    return "\n\n".join(part for part in (head, *_with_gaps(kept, blocks), tail) if part)


def _frame(run: Trajectory, shrink: int) -> tuple[str, str]:
    head = f"Task: {clip(run.task, TEXT_LIMIT // shrink)}"
    tail = [f"Result: {clip(run.result, TEXT_LIMIT // shrink)}"] if run.result else []
    tail += [f"Verdict: {run.verdict}" + (f" ({clip(run.reason, 500)})" if run.reason else "")]
    return head, "\n".join(tail)


def _block(number: int, step: Step, shrink: int) -> str:
    lines = [f"Step {number + 1}"]
    for field, limit in FIELD_LIMITS.items():
        text = getattr(step, field)
        if text and not (field == "error" and text in step.observation):
            lines.append(f"{field.capitalize()}: {clip(text, limit // shrink)}")
    return "\n".join(lines)


def _must(steps: Sequence[Step]) -> int:
    """Return how many of the steps by importance must stay: the ends and the errors."""
    ends = {*range(min(ENDS, len(steps))), *range(max(0, len(steps) - ENDS), len(steps))}
    return len(ends | {number for number, step in enumerate(steps) if step.error})


def _by_importance(steps: Sequence[Step]) -> Iterator[int]:
    """Yield step numbers: the two ends, the errors, what followed an error, then the rest from both ends inwards."""
    count = len(steps)
    errors = [number for number, step in enumerate(steps) if step.error]
    inwards = [number for pair in zip(range(count), reversed(range(count)), strict=True) for number in pair]
    order = [*inwards[: 2 * ENDS], *errors, *(number + 1 for number in errors if number + 1 < count), *inwards]
    yield from dict.fromkeys(order)


def _fill(wanted: Sequence[int], blocks: Sequence[str], room: int) -> list[int]:
    kept: list[int] = []
    for number in wanted:
        size = estimate_tokens(blocks[number])
        if size <= room:
            kept.append(number)
            room -= size
    return sorted(kept)


def _with_gaps(kept: Sequence[int], blocks: Sequence[str]) -> Iterator[str]:
    expected = 0
    for number in [*kept, len(blocks)]:
        if number > expected:
            yield f"[… {number - expected} steps left out …]" if number - expected > 1 else "[… 1 step left out …]"
        if number < len(blocks):
            yield blocks[number]
        expected = number + 1


def clip(text: str, limit: int) -> str:
    """Return a text of about `limit` characters at most: the head and the tail stay, and what is missing is said."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}[… {len(text) - head - tail:,} characters left out …]{text[-tail:]}"


def shorten(text: str, limit: int, near: int = 20) -> str:
    """Cut a text so that it has at most `limit` characters, at a word where one ends less than `near` before."""
    if len(text) <= limit:
        return text
    head, _, tail = text[: limit - 1].rpartition(" ")
    return (head if head and len(tail) < near else text[: limit - 1]).rstrip(" ,;:.-(") + "…"

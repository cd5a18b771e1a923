"""Before a run is distilled: recalled lessons, boilerplate and secrets come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from reasoningbank.distill.packing import clip
from reasoningbank.prompt.block import strip_lessons
from reasoningbank.runs.boilerplate import is_boot_text, names_boot_file, without_blocks
from reasoningbank.runs.trajectory import Step, Trajectory

FIELD_LIMIT = 20_000  # characters of any one field; head and tail stay
STEPS_LIMIT = 2_000  # steps of a run; the first and the last stay
BOILERPLATE = "[boilerplate left out]"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A run that may be distilled, and how often each kind of thing was taken out of it."""

    run: Trajectory
    removed: dict[str, int]


def clean(run: Trajectory) -> Cleaned:
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
    steps = tuple(step for step in (_step(step, removed) for step in kept) if not step.is_empty)
    texts = {field: _text(getattr(run, field), removed) for field in ("task", "result", "reason")}
    return Cleaned(run.model_copy(update={"steps": steps, **texts}), dict(removed))


def _step(step: Step, removed: Counter[str]) -> Step:
    fields = {name: _text(getattr(step, name), removed) for name in ("thought", "action", "observation", "error")}
    if fields["observation"] and (names_boot_file(fields["action"]) or is_boot_text(fields["observation"])):
        removed["boilerplate"] += 1
        fields["observation"] = BOILERPLATE
    return step.model_copy(update=fields)


def _text(text: str, removed: Counter[str]) -> str:
    from reasoningbank.screening.scrub import (
        scrub,  # a tenth of a second of rules, which only a run that is distilled needs
    )

    if not text:
        return text
    text = _without(text, strip_lessons, "recalled lessons", removed)
    text = _without(text, without_blocks, "boilerplate", removed)
    text = _without(text, lambda given: clip(given, FIELD_LIMIT), "over the limit", removed)
    scrubbed = scrub(text)
    removed.update({f"secret: {rule}": count for rule, count in scrubbed.counts.items()})
    return scrubbed.text


def _without(text: str, cut: Callable[[str], str], what: str, removed: Counter[str]) -> str:
    shorter = cut(text)
    if shorter != text:
        removed[what] += 1
    return shorter.strip() if shorter != text else text

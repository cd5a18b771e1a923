"""What was stored as it may be shown: through the present scrubbing rules, whatever it went through on its way in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reasoningbank.episode import Episode
from reasoningbank.links import Link
from reasoningbank.memory import Memory, Source
from reasoningbank.runs.jobs import Job
from reasoningbank.runs.results import EpisodeSummary
from reasoningbank.screening.door import clean
from reasoningbank.screening.scrub import DEFAULT_RULES, RULES_VERSION, RuleSet, scrub_value
from reasoningbank.signals import Tally


def is_clean(version: int, rules: RuleSet) -> bool:
    """Tell whether what went through the built-in rules of `version` went through all of these.

    No version counts the rules of a user's own, which may be others at each opening.
    """
    return version >= RULES_VERSION and rules is DEFAULT_RULES


def rescrubbed(memory: Memory, version: int, rules: RuleSet) -> Memory:
    """Return a memory that went through the rules of `version` as one that went through the present ones."""
    if is_clean(version, rules):
        return memory
    source = memory.source
    return replace(
        memory,
        title=clean(memory.title, rules),
        content=clean(memory.content, rules),
        description=clean(memory.description, rules),
        applies_when=clean(memory.applies_when, rules),
        tags=tuple(clean(tag, rules) for tag in memory.tags),
        metadata=scrub_value(memory.metadata, rules)[0],
        signatures=tuple(clean(signature, rules) for signature in memory.signatures),
        source=Source(
            how=source.how,
            by=source.by and clean(source.by, rules),
            session=source.session and clean(source.session, rules),
            trusted=source.trusted,
        ),
    )


def shown_link(link: Link, rules: RuleSet) -> Link:
    """Return the link with its evidence, and who set it, through the present rules."""
    return replace(link, evidence=clean(link.evidence, rules), by=clean(link.by, rules))


def shown_tallies(tallies: Iterable[Tally], rules: RuleSet) -> tuple[Tally, ...]:
    """Return tallies with the names of those who said so through the present rules."""
    return tuple(replace(tally, source=clean(tally.source, rules), by=clean(tally.by, rules)) for tally in tallies)


def shown_episode(episode: Episode, rules: RuleSet) -> Episode:
    """Return an episode through the present rules. It keeps its reference, by which it is found."""
    said = {name: clean(getattr(episode, name) or "", rules) for name in ("task", "reason", "by", "thread")}
    return episode.model_copy(update=said | {"thread": said["thread"] or None})


def shown_summary(run: EpisodeSummary, rules: RuleSet) -> EpisodeSummary:
    """Return a run through the present rules: what stands for a session is only a name, and no run's reference."""
    ref = clean(run.ref, rules) if run.opened_at is None else run.ref
    return replace(run, ref=ref, task=clean(run.task, rules))


def shown_job(job: Job, rules: RuleSet) -> Job:
    """Return a job through the present rules."""
    return replace(job, task=clean(job.task, rules), reason=clean(job.reason, rules))

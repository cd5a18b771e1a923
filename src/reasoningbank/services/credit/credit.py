"""Credit: verdicts about runs and about single memories become signals, each counted once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from reasoningbank.episode import Episode, Served
from reasoningbank.errors import EpisodeNotFoundError, MemoryNotFoundError
from reasoningbank.moments import shifted
from reasoningbank.results import Reported, Voted
from reasoningbank.runs.results import EpisodePage
from reasoningbank.screening.door import clean
from reasoningbank.search.selection import chances
from reasoningbank.services.cache.shown import shown_episode
from reasoningbank.services.credit.fitting import fit_again, fit_is_due
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.recall import new_id
from reasoningbank.services.view import Edit, View
from reasoningbank.signals import Signal, SignalKind, time_text
from reasoningbank.storage import episodes, evidence, sharing
from reasoningbank.storage.contract import Rows
from reasoningbank.storage.fold import OUTCOME, Facts, Folded
from reasoningbank.verdict import Verdict

# A vote validates the kinds of signal that spoke for the same memory within this time (contextd's rule).
VALIDATION_WINDOW = timedelta(hours=24)
_POLARITY = {Verdict.SUCCESS: 1, Verdict.FAILURE: -1, Verdict.UNKNOWN: 0}


@contextmanager
def _judging(engine: Engine, *, create: bool = False) -> Iterator[Edit]:
    """Give a project in which every signal is counted; what it is told may make a new fit due, which comes after."""
    with engine.write(create=create) as edit:
        edit.catch_up()
        yield edit
        due = fit_is_due(edit, edit.newest_change)
    if due:
        fit_again(engine)


# -- a run ---------------------------------------------------------------------------------------------------------


def report(
    engine: Engine,
    verdict: Verdict,
    *,
    ref: str | None,
    thread: str | None,
    reason: str | None,
    by: str | None,
    revise: bool,
    strength: float = 1.0,
    beside: Sequence[Served] = (),
) -> Reported:
    """Close an episode, and credit its outcome to exactly the memories that were served in it.

    Args:
        strength: how strongly it is said, in (0, 1].
        beside: what the run was handed from banks that this one knows nothing of, which shares the outcome.
    """
    with _judging(engine) as edit:
        now = engine.now()
        found = _ref_of(edit, ref, thread, now)
        said, handed = evidence.ask_facts(edit, found), sharing.ask_run(edit, found)
        episode = _loaded(edit, found)
        if not (revise or episode.is_open):
            return Reported(shown_episode(episode, engine.rules), recorded=False, previous=episode.verdict)
        return _close(
            edit,
            shown_episode(episode, engine.rules),
            said,
            verdict,
            reason=clean(reason or "", engine.rules),
            by=clean(by or "", engine.rules),
            now=now,
            strength=strength,
            beside=[*beside, *sharing.handed(handed)],
        )


def get_episode(engine: Engine, *, ref: str | None, thread: str | None) -> Episode:
    """Return an episode, by its reference or as the newest of a thread."""
    with engine.read() as view:
        return shown_episode(_loaded(view, _ref_of(view, ref, thread, engine.now())), engine.rules)


def list_episodes(
    engine: Engine, *, after: str | None, thread: str | None, verdict: Verdict | None, is_open: bool | None, limit: int
) -> EpisodePage:
    """Return up to `limit` episodes that pass the filters, the newest first, behind the one named `after`."""
    with engine.read() as view:
        if after is not None and not episodes.exists(view, after):
            raise EpisodeNotFoundError(f"ref {after!r}")
        refs = episodes.page(view, after=after, thread=thread, verdict=verdict, is_open=is_open, limit=limit + 1)
        found = (episodes.load_episode(view, ref) for ref in refs[:limit])
        return EpisodePage(
            tuple(shown_episode(e, engine.rules) for e in found if e is not None),
            refs[limit - 1] if len(refs) > limit else None,
        )


def close_if_open(
    engine: Engine, ref: str, verdict: Verdict, reason: str, *, by: str = "", or_unknown: bool = False
) -> None:
    """Close an episode that nobody has closed; one that has a verdict keeps it.

    Args:
        or_unknown: an episode that merely ended is judged now.
    """
    with _judging(engine, create=True) as edit:
        said, handed = evidence.ask_facts(edit, ref), sharing.ask_run(edit, ref)
        episode = episodes.load_episode(edit, ref)
        if episode is not None and (episode.is_open or (or_unknown and episode.verdict is Verdict.UNKNOWN)):
            _close(
                edit,
                episode,
                said,
                verdict,
                reason=clean(reason or "", engine.rules),
                by=clean(by or "", engine.rules),
                now=engine.now(),
                beside=sharing.handed(handed),
            )


def _ref_of(view: View, ref: str | None, thread: str | None, now: datetime) -> str:
    found = ref or episodes.newest_of_thread(view, thread or "", now, view.engine.episode_ttl)
    if found is None:
        raise EpisodeNotFoundError(f"thread {thread!r}")
    return found


def _loaded(view: View, ref: str) -> Episode:
    episode = episodes.load_episode(view, ref)
    if episode is None:
        raise EpisodeNotFoundError(f"ref {ref!r}")
    return episode


def _close(
    edit: Edit,
    episode: Episode,
    said: Rows,
    verdict: Verdict,
    *,
    reason: str,
    by: str,
    now: datetime,
    strength: float = 1.0,
    beside: Sequence[Served] = (),
) -> Reported:
    """Close an episode, of which was asked before what is known of its memories: on a server that is one trip."""
    if episode.verdict is not None and episodes.is_sealed(edit, episode.ref):
        return Reported(episode, recorded=False, previous=episode.verdict, too_late=True)
    facts = evidence.facts_of(edit, (), said)
    signals = _outcomes(edit, episode, facts, verdict, reason=reason, by=by, now=now, strength=strength, beside=beside)
    if not signals and episode.verdict is verdict:
        return Reported(episode, recorded=False, previous=episode.verdict)
    folded = edit.write_signals(signals, now, facts=facts)
    if Folded.COUNTED not in folded:
        # Otherwise the fold has said so: by it a verdict heals with the evidence when a crash comes between.
        episodes.set_verdict(edit, episode.ref, verdict, reason=reason, by=by, now=now)
    closed = episode.model_copy(update={"verdict": verdict, "closed_at": now, "reason": reason, "by": by})
    credited = tuple(s.memory for s, f in zip(signals, folded, strict=True) if f is Folded.COUNTED and s.polarity)
    return Reported(closed, credited=credited, previous=episode.verdict)


def _outcomes(
    edit: Edit,
    episode: Episode,
    facts: Facts,
    verdict: Verdict,
    *,
    reason: str,
    by: str,
    now: datetime,
    strength: float,
    beside: Sequence[Served],
) -> list[Signal]:
    """Return the signals that are needed to make the evidence say `verdict`; none for what it says already.

    What was judged for one memory alone stands whatever the whole run's verdict: what is said of it here changes only
    the verdict, which the log must tell when all memories of a run are such.
    """
    if not episode.memories:
        return []
    # Unknown teaches nothing; what an earlier verdict taught is withdrawn.
    polarity = _POLARITY[verdict]
    shared_by = (*episode.memories, *beside)
    model, confidences = edit.model, [m.confidence for m in shared_by]
    about = chances(model.parameters, np.array([m.about for m in shared_by])).tolist()
    shares = model.shares(confidences, verdict is Verdict.SUCCESS, about)
    signals = []
    for m, share in zip(episode.memories, shares, strict=False):
        known = facts.memories.get(m.memory)
        counted = None if known is None else facts.evidence.get((known.n, episode.ref, OUTCOME))
        before, alone = (0, False) if counted is None else (counted.polarity, bool(counted.alone))
        if (alone and episode.verdict is verdict) or (not alone and before == polarity):
            continue
        signal = Signal(
            id=new_id(),
            at=now,
            memory=m.memory,
            revision=m.revision,
            kind=SignalKind.OUTCOME,
            polarity=polarity,
            strength=share * strength if polarity else 1.0,
            ref=episode.ref,
            source=episode.thread or "",
            by=by,
            reason=reason,
        )
        signals.append(signal)
    return signals


# -- one memory ----------------------------------------------------------------------------------------------------


def vote(
    engine: Engine,
    memory_id: str,
    helpful: bool,
    *,
    kind: SignalKind,
    ref: str | None,
    by: str | None,
    reason: str | None,
    source: str = "",
) -> Voted:
    """Count one piece of evidence about one memory; from the project `source` where it is shared."""
    with _judging(engine) as edit:
        now = engine.now()
        found = episodes.judged(edit, memory_id, now=now, ttl=engine.episode_ttl)
        if found is None:
            raise MemoryNotFoundError(memory_id)
        signal = Signal(
            id=new_id(),
            at=now,
            memory=memory_id,
            revision=found.revision,
            kind=kind,
            polarity=1 if helpful else -1,
            ref=ref or found.open_ref or new_id(),
            # Whoever reports on a memory alone is the session that it names.
            source=source or ((ref or "") if kind is SignalKind.OUTCOME else ""),
            by=clean(by or "", engine.rules),
            reason=clean(reason or "", engine.rules),
            alone=kind is SignalKind.OUTCOME,
        )
        if kind is SignalKind.EXPLICIT and engine.settings.confidence_model == "spec":
            since = time_text(shifted(now, -VALIDATION_WINDOW))
            signal = replace(signal, validates=evidence.spoke_for(edit, found.n, since))
        recorded = edit.write_signals([signal], now, only_news=True) == [Folded.COUNTED]
        return Voted(edit.shown([found.n])[found.n], signal.ref, recorded)

"""Commands of the learning loop: search, recall, report, vote and what belongs to them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import Hit, Recall, Recommendation, Verdict
from reasoningbank.arguments import check_result
from reasoningbank.cli import views
from reasoningbank.cli.arguments import (
    By,
    MemoryId,
    NewestFirst,
    UsageError,
    Words,
    WordsOrNone,
    output_of,
    text_of,
)
from reasoningbank.cli.failing import recall_failure
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import line, notes, sentence, shown
from reasoningbank.runs import FailureRecall
from reasoningbank.upkeep import LiftReport

app = typer.Typer()

Floor = Annotated[
    float | None,
    typer.Option("--min-confidence", min=0, max=1, help="From where on a memory is proven; else the setting `floor`."),
]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, in words.")]
Strict = Annotated[bool, typer.Option("--strict", help="Proven memories only.")]
Policy = Literal["relevance", "cautious", "similarity", "four_factor", "weighted", "mmr"]
PolicyOption = Annotated[Policy, typer.Option("--policy", help="How to rank.")]
HoldoutOption = Annotated[
    str | None,
    typer.Option("--holdout", help="Withhold lessons from this share of runs, or memory[:SHARE] for one lesson."),
]
WeakOption = Annotated[
    Literal["omit", "mark", "give"], typer.Option("--weak", help="What becomes of lessons that are doubtful.")
]
Kind = Literal["explicit", "outcome", "stability"]


@command(app, "search", filtered=True)
def search(
    session: Session,
    filters: dict[str, Any],
    query: Words,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at the most.")] = 10,
    min_confidence: Floor = None,
    strict: Strict = False,
    policy: PolicyOption = "relevance",
    newest_first: NewestFirst = False,
) -> Answer:
    """Find the memories that fit. Changes and counts nothing."""
    result = session.bank.search(
        text_of(query),
        limit,
        min_confidence=min_confidence,
        strict=strict,
        policy=policy,
        newest_first=newest_first,
        **filters,
    )
    return Answer(result, views.search_result)


@command(app, "recommend")
def recommend(session: Session, task: Words) -> Answer:
    """Say which strategy fits a task best, what speaks for it, and the runner-up. Changes and counts nothing."""
    return Answer(session.bank.recommend(text_of(task)), _recommended)


def _recommended(console: Console, found: Recommendation) -> None:
    if found.strategy is None or found.evidence is None:
        sentence(console, "No strategy fits.", "yellow")
        return
    memory, known = found.strategy.memory, found.evidence
    sentence(console, f"{memory.title}  ({_belief(found.strategy)})", "bold")
    sentence(console, memory.content)
    sentence(
        console,
        f"Evidence: used {known.uses} times; votes {known.votes_for:g} for, {known.votes_against:g} against; "
        f"outcomes {known.successes:.1f} for, {known.failures:.1f} against; "
        f"{known.survived:g} changes survived, {known.reverted:g} reverted.",
        "dim",
    )
    if found.runner_up is not None:
        sentence(console, f"Runner-up: {found.runner_up.memory.title} ({_belief(found.runner_up)})")
    if found.weak:
        sentence(console, "Nothing is clearly relevant.", "yellow")


def _belief(hit: Hit) -> str:
    return f"confidence {hit.confidence:.2f} ± {hit.deviation:.2f}{', provisional' if hit.provisional else ''}"


@command(app, "recall", filtered=True)
def recall(  # long: an option a line
    session: Session,
    filters: dict[str, Any],
    task: WordsOrNone = None,
    *,
    error: Annotated[
        str | None, typer.Option("--error", metavar="FILE", help="What failed: its output; - for standard input.")
    ] = None,
    failing: Annotated[str | None, typer.Option("--command", help="With --error: the command that failed.")] = None,
    exit_code: Annotated[int | None, typer.Option("--exit-code", help="With --error: its exit code.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many memories at the most.")] = 3,
    ref: Annotated[str | None, typer.Option("--ref", help="Open the episode under this reference.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", help="The conversation it belongs to.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=0, help="Budget of the prompt block.", show_default="500, or 300")
    ] = None,
    expand_links: Annotated[
        bool, typer.Option("--expand-links", help="Bring along what they require, and warn of conflicts.")
    ] = False,
    min_confidence: Floor = None,
    strict: Strict = False,
    policy: PolicyOption = "relevance",
    holdout: HoldoutOption = None,
    weak: WeakOption = "mark",
    text_only: Annotated[
        bool, typer.Option("--text", help="Print the block for a prompt and nothing else; the ref goes to stderr.")
    ] = False,
) -> Answer:
    """Hand out the memories that fit a task, and open its episode. Report how it ended with its ref.

    With --error, hand out those that answer the errors in an output instead, and join them to the run under --ref.
    """
    doing = text_of(task) if task else None
    if error is not None:
        found = session.bank.recall_failure(
            output_of(error),
            command=failing,
            exit_code=exit_code,
            task=doing,
            ref=ref,
            limit=limit,
            max_tokens=max_tokens,
            holdout=holdout,
            **filters,
        )
        return Answer(found, _block if text_only else recall_failure)
    if doing is None:
        raise UsageError("recall needs a task, or --error FILE: say what is to be done, in words")
    recalled = session.bank.recall(
        doing,
        limit,
        ref=ref,
        thread=thread,
        max_tokens=500 if max_tokens is None else max_tokens,
        expand_links=expand_links,
        min_confidence=min_confidence,
        strict=strict,
        policy=policy,
        holdout=holdout,
        weak=weak,
        **filters,
    )
    return Answer(recalled, _block if text_only else views.recall)


def _block(console: Console, found: Recall | FailureRecall) -> None:
    """Print the block for a prompt as it is, and on standard error how to report."""
    if found.text:
        line(console, Text(shown(found.text)))
    notes(stderr := Console(stderr=True, highlight=False, markup=False), found.degraded)
    if found.ref:
        views.then_report(stderr, found.ref)


@command(app, "lift")
def lift(
    session: Session,
    *,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Only runs of the last days; all by default.")
    ] = None,
    by: Annotated[Literal["tag", "memory"] | None, typer.Option("--by", help="Also for each tag, or lesson.")] = None,
) -> Answer:
    """Say what lessons do: runs that were given them beside runs from which a hold-out withheld them."""
    return Answer(session.bank.lift(days, by), _lift)


@command(app, "report")
def report(
    session: Session,
    verdict: Annotated[Verdict | None, typer.Argument(help="How the run ended.", show_default=False)] = None,
    *,
    ref: Annotated[str | None, typer.Option("--ref", help="The reference that recall gave.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", help="Or: the newest open episode of this thread.")] = None,
    last: Annotated[bool, typer.Option("--last", help="Or: the run that was recalled for last.")] = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="In place of VERDICT: a test report (JUnit XML).")
    ] = None,
    exit_code: Annotated[int | None, typer.Option("--exit-code", help="Or: how a check ended; 0 is success.")] = None,
    score: Annotated[float | None, typer.Option("--score", min=0, max=1, help="Or: from 0.5 on a success.")] = None,
    check: Annotated[str, typer.Option("--check", help="What checked, such as pytest.")] = "tests",
    reason: Reason = None,
    by: By = None,
) -> Answer:
    """Say how a run ended. Exactly the memories that were recalled for it are credited."""
    if sum((ref is not None, thread is not None, last)) != 1:
        raise UsageError("report needs one of --ref and --thread: give the ref that recall returned; or --last")
    said = [given for given in (verdict, score, junit, exit_code) if given is not None]
    if len(said) != 1:
        raise UsageError("report needs exactly one of VERDICT, --junit, --exit-code and --score")
    given = said[0] if verdict or score is not None else check_result(check, exit_code=exit_code, junit=junit)
    ref = _last(session) if last else None if ref is None else session.id_of(ref, "run")
    return Answer(session.bank.report(given, ref=ref, thread=thread, reason=reason, by=by), views.reported)


def _last(session: Session) -> str:
    """Return the reference of the run that was opened last."""
    newest = session.bank.runs.list(limit=1).episodes
    if not newest:
        raise UsageError("there is no run yet to report on: recall opens one")
    return newest[0].ref


def _lift(console: Console, found: LiftReport) -> None:
    sentence(console, found.words)
    compared = found.overall
    for name, pair in () if compared is None else (("tokens", compared.tokens), ("steps", compared.steps)):
        if pair is not None:
            sentence(console, f"{name}: {pair.given:,.1f} with, {pair.withheld:,.1f} without", "dim")
    for part in found.parts:
        sentence(console, f"{part.words} {part.about if part.title else ''}".rstrip())


@command(app, "vote")
def vote(
    session: Session,
    memory_id: MemoryId,
    *,
    helpful: Annotated[
        bool | None,
        typer.Option("--helpful/--harmful", "--helpful/--not-helpful", help="Whether it helped.", show_default=False),
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            help="explicit: somebody's judgement; outcome: how a run that used it ended; stability: whether a change "
            "that followed it survived seven days.",
        ),
    ] = "explicit",
    ref: Annotated[
        str | None, typer.Option("--ref", help="The episode it is about, or a key that counts once.")
    ] = None,
    reason: Reason = None,
    by: By = None,
    anti_pattern: Annotated[
        bool, typer.Option("--anti-pattern", help="With --not-helpful and --reason: queue a guard-rail against it.")
    ] = False,
) -> Answer:
    """Vote on one memory. How a whole run ended is a `report`."""
    if helpful is None:
        raise UsageError("say whether the memory helped: --helpful or --not-helpful")
    if anti_pattern and (helpful or not reason):
        raise UsageError("--anti-pattern is made of a vote against a memory: give --not-helpful and --reason")
    memory_id = session.id_of(memory_id)
    if anti_pattern:
        session.bank.queue.put_anti_pattern(memory_id, reason or "")
    return Answer(session.bank.vote(memory_id, helpful, kind=kind, ref=ref, by=by, reason=reason), views.voted)

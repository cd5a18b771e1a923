"""Commands of the learning loop: search, recall, report, vote and what belongs to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from reasoningbank import Hit, Recommendation, Verdict
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
from reasoningbank.cli.streams import standard_input
from reasoningbank.cli.views import sentence
from reasoningbank.upkeep import LiftReport

app = typer.Typer(rich_help_panel="Learning")

Floor = Annotated[
    float | None,
    typer.Option("--min-confidence", min=0, max=1, help="From where on a memory is proven; else the setting `floor`."),
]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, in words.")]
Ref = Annotated[str, typer.Argument(metavar="REF", help="As recall gave it.")]
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
        return Answer(found, recall_failure)
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
    return Answer(recalled, views.recall)


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
    if (ref is None) == (thread is None):
        raise UsageError("report needs one of --ref and --thread: give the ref that recall returned")
    said = [given for given in (verdict, score, junit, exit_code) if given is not None]
    if len(said) != 1:
        raise UsageError("report needs exactly one of VERDICT, --junit, --exit-code and --score")
    given = said[0] if verdict or score is not None else check_result(check, exit_code=exit_code, junit=junit)
    return Answer(session.bank.report(given, ref=ref, thread=thread, reason=reason, by=by), views.reported)


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
    if anti_pattern:
        session.bank.queue.put_anti_pattern(memory_id, reason or "")
    return Answer(session.bank.vote(memory_id, helpful, kind=kind, ref=ref, by=by, reason=reason), views.voted)


@command(app, "episode")
def episode(session: Session, ref: Ref) -> Answer:
    """Show an episode: what was recalled for it, and how it ended."""
    return Answer(session.bank.runs.get(ref), views.episode)


@command(app, "episodes")
def list_episodes(
    session: Session,
    *,
    thread: Annotated[str | None, typer.Option("--thread", help="Only those of this conversation.")] = None,
    verdict: Annotated[Verdict | None, typer.Option("--verdict", help="Only those that ended so.")] = None,
    is_open: Annotated[
        bool | None, typer.Option("--open/--closed", help="Only those without a verdict, or with one.")
    ] = None,
    after: Annotated[str | None, typer.Option("--after", help="Go on after the page before: its `next`.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at the most.")] = 20,
) -> Answer:
    """List episodes, the newest first."""
    page = session.bank.runs.list(thread=thread, verdict=verdict, is_open=is_open, after=after, limit=limit)
    return Answer(page, views.episode_page)


@command(app, "step")
def step(
    session: Session,
    ref: Ref,
    action: Annotated[list[str] | None, typer.Argument(metavar="[ACTION...]", help="What was done, in words.")] = None,
    *,
    result: Annotated[str, typer.Option("--result", help="What came of it.", show_default=False)] = "",
    thought: Annotated[str, typer.Option("--thought", help="Why it was done.", show_default=False)] = "",
    error: Annotated[str, typer.Option("--error", help="What went wrong.", show_default=False)] = "",
    file: Annotated[
        Path | None,
        typer.Option("--file", help="In place of ACTION: a run, its steps or its messages as JSON; - reads them."),
    ] = None,
) -> Answer:
    """Keep a step of a run with its episode, with `--set keep_trajectories=true`. Exit code 1 when any was not kept."""
    if (file is None) is not bool(action):
        raise UsageError(
            "step needs one of ACTION and --file: reasoningbank step REF 'ran the tests' --result '2 failed'"
        )
    given = {"thought": thought, "action": text_of(action or ()), "observation": result, "error": error}
    done = session.bank.runs.add_steps(ref, [given] if file is None else json_of(file))
    return Answer(done, views.steps_kept, exit_code=1 if done.reason else 0)


def json_of(file: Path) -> Any:
    """Return what a file holds as JSON (`-`: standard input); UsageError when it cannot be read, or is none."""
    try:
        text = standard_input() if str(file) == "-" else file.read_bytes().decode("utf-8", "replace")
        return json.loads(text.removeprefix("\ufeff"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON ({error})") from None


@command(app, "trajectory")
def trajectory(session: Session, ref: Ref) -> Answer:
    """Show what happened in a run: the steps that are kept with its episode."""
    return Answer(session.bank.runs.trajectory(ref), views.trajectory)

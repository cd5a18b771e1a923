"""How results look to people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from reasoningbank import Episode, Hit, Memory, Page, Recall, Recorded, Reported, SearchResult, Verdict, Voted
from reasoningbank.cli.terminal import (
    HANGING,
    counts,
    facts,
    headline,
    indented,
    line,
    more,
    notes,
    sentence,
    shown,
    time,
)
from reasoningbank.exchange import Rejected
from reasoningbank.results import OWN
from reasoningbank.runs import EpisodePage, EpisodeSummary, MemoryRuns, StepsKept, Trajectory
from reasoningbank.upkeep import Pin

MARKS = {Verdict.SUCCESS: ("✓", "green"), Verdict.FAILURE: ("✗", "red")}
LONGEST_LIST = 20


def _headline(memory: Memory, confidence: float, *, note: str = "") -> Text:
    mark, colour = MARKS[memory.outcome]
    line = Text.assemble((f"{confidence:.2f}", "bold"), " ", (mark, colour), " ", (shown(memory.title), "bold"))
    return line.append(f"  {note}", "dim") if note else line


def _withheld(console: Console, withheld: Mapping[str, int], degraded: Sequence[str]) -> None:
    if withheld:
        sentence(console, f"Left out: {counts(withheld)}.", "dim")
    if "untrusted source" in withheld:
        sentence(console, "`sources` says where they came from; `trust SOURCE` lets all of them be shown.", "dim")
    notes(console, degraded)


def hits(console: Console, found: Sequence[Hit]) -> None:
    """Print hits, best first."""
    for hit in found:
        required, provisional = "required" if "required" in hit.why else "", "provisional" if hit.provisional else ""
        notes = (
            "" if hit.level == OWN else f"from {hit.level}",
            "pinned" if hit.pinned else "",
            required,
            provisional,
        )
        note = ", ".join(filter(None, notes))
        console.print(_headline(hit.memory, hit.confidence, note=note))
        indented(console, hit.memory.content)
        indented(console, f"similarity {hit.similarity:.2f}  score {hit.score:.2f}  {hit.memory.id}", "dim")


def search_result(console: Console, result: SearchResult) -> None:
    """Print hits, best first."""
    if not result.hits:
        sentence(console, "Nothing fits.")
    hits(console, result.hits)
    _withheld(console, result.withheld, result.degraded)


def recall(console: Console, recalled: Recall) -> None:
    """Print what was handed out, and how to report."""
    if not recalled.hits:
        sentence(console, "Nothing fits.")
    hits(console, recalled.hits)
    titles = {hit.memory.id: hit.memory.title for hit in recalled.hits}
    for conflict in recalled.conflicts:
        one, other = (titles.get(memory_id, memory_id) for memory_id in (conflict.one, conflict.other))
        notes(console, [f"{one!r} and {other!r} cannot both be followed: {conflict.evidence or conflict.type}"])
    _withheld(console, recalled.withheld, recalled.degraded)
    then_report(console, recalled.ref)


def then_report(console: Console, ref: str) -> None:
    """Print how to report on a run."""
    then = f"reasoningbank report success|failure --ref {ref}"
    line(console, Text.assemble(("Then: ", "dim"), then))


def recorded(console: Console, result: Recorded) -> None:
    """Print what became of a lesson."""
    done = "Recorded" if result.created else "Already there"
    line(console, Text.assemble(f"{done}: ", (result.memory.id, "bold")))
    if result.possible_duplicate_of:
        sentence(console, f"It may say the same as {result.possible_duplicate_of}.", "yellow")
    if result.held:
        then = f"Out of service ({result.held}): reasoningbank restore {result.memory.id}"
        line(console, Text(shown(then), "yellow"))
    removed_secrets(console, result.redactions)
    if result.memory.findings:
        became = "Served in doubt" if result.memory.doubted else "Quarantined, not served"
        sentence(console, f"{became}: {'; '.join(result.memory.findings)}.", "yellow")
    _withheld(console, {}, result.degraded)


def removed_secrets(console: Console, redactions: Mapping[str, int]) -> None:
    """Print how many secrets were removed."""
    if redactions:
        sentence(console, f"Removed what looked like secrets: {counts(redactions)}.", "yellow")


def memory(console: Console, found: Memory, pinned: Sequence[str] = ()) -> None:
    """Print one memory with all that is known of it, also the tags that it is pinned for ("" for always)."""
    console.print(_headline(found, found.confidence, note="" if found.state == "active" else found.state.value))
    source = ", ".join(filter(None, [found.source.how, found.source.by, found.source.session]))
    console.print()
    sentence(console, found.content)
    console.print()
    known = {
        "id": found.id,
        "about": found.description,
        "applies when": found.applies_when,
        "outcome": found.outcome.value,
        "tags": ", ".join(found.tags),
        "started from": f"{found.initial_confidence:.2f}",
        "used": f"{found.usage_count} times, last {time(found.last_used)}" if found.last_used else "",
        "source": f"{source}, {'trusted' if found.source.trusted else 'untrusted'}",
        "metadata": found.metadata,
        "recorded": time(found.created_at),
        "happened": time(found.occurred_at),
        "expires": time(found.expires_at),
        "pinned": ", ".join(f"for #{tag}" if tag else "always" for tag in pinned),
        "findings": "; ".join(found.findings),
    }
    facts(console, known)


def listed(console: Console, item: Memory) -> None:
    """Print the line by which a memory is known in a list."""
    headline(console, _headline(item, item.confidence, note="" if item.state == "active" else item.state.value))


def page(console: Console, found: Page, pinned: Collection[str] = ()) -> None:
    """Print memories, two lines each, so that ids can be copied whole; `pinned` has the ids of those that are."""
    if not found.memories:
        sentence(console, "No memories.")
    for item in found.memories:
        listed(console, item)
        used = f"used {item.usage_count}×{''.join(f' #{shown(tag)}' for tag in item.tags)}"
        used += "  pinned" if item.id in pinned else ""
        used += f"  expires {time(item.expires_at)}" if item.expires_at else ""
        headline(console, Text(f"{' ' * HANGING}{item.id}  {used}", "dim"))
    _withheld(console, found.withheld, ())
    more(console, found.next)


def deleted(console: Console, done: Mapping[str, bool]) -> None:
    """Print what became of each id."""
    for memory_id, was_there in done.items():
        became, style = ("Deleted", "") if was_there else ("Not there", "yellow")
        line(console, Text(f"{became}: {shown(memory_id)}", style))


def reported(console: Console, result: Reported) -> None:
    """Print what a report changed."""
    verdict = result.episode.verdict
    if result.too_late:
        sentence(console, "Too late: the evidence of this episode was rolled up; its verdict stays.", "yellow")
    elif not result.recorded:
        sentence(console, f"Nothing new: the episode had the verdict {verdict} already.")
    else:
        before = f" (before: {result.previous})" if result.previous else ""
        sentence(console, f"Reported {verdict}{before}; {len(result.credited)} memories credited.")


def voted(console: Console, result: Voted) -> None:
    """Print a memory's confidence after a signal."""
    note = "" if result.recorded else "  said before, not counted again"
    sentence(console, f"{result.memory.title}: confidence {result.memory.confidence:.2f}{note}")


def episode(console: Console, found: Episode) -> None:
    """Print an episode."""
    known = {
        "task": found.task,
        "ref": found.ref,
        "thread": found.thread,
        "opened": time(found.opened_at),
        "verdict": found.verdict.value if found.verdict else "open",
        "reason": found.reason,
        "by": found.by,
    }
    facts(console, known)
    for served in found.memories:
        console.print(Text(f"  {served.confidence:.2f}  {served.memory}", "dim"))


def rejected_lines(console: Console, lines: Sequence[Rejected], style: str) -> None:
    """Print which lines were not taken, and why."""
    numbers: dict[str, list[int]] = {}
    for each in lines:
        numbers.setdefault(each.reason, []).append(each.line)
    for reason, same in list(numbers.items())[:LONGEST_LIST]:
        more = f" and {len(same) - 1:,} more" if len(same) > 1 else ""
        line(console, Text.assemble((f"line {same[0]}{more}: ", style), shown(reason)))
    if len(numbers) > LONGEST_LIST:
        sentence(console, f"… and {len(numbers) - LONGEST_LIST:,} more (--json lists all)", "dim")


def pins(console: Console, found: Sequence[Pin]) -> None:
    """Print what is pinned, and whether it is out of service."""
    if not found:
        sentence(console, "Nothing is pinned.")
    for pin in found:
        notes = (f"for #{shown(pin.tag)}" if pin.tag else "", "" if pin.memory.state == "active" else pin.memory.state)
        headline(console, _headline(pin.memory, pin.memory.confidence, note=", ".join(filter(None, notes))))
        indented(console, pin.memory.id, "dim")


# -- runs -----------------------------------------------------------------------------------------------------------


def runs(console: Console, found: MemoryRuns) -> None:
    """Print where a memory came from and where it was used; nothing where that is not known."""
    _summaries(console, "Came from", found.came_from)
    _summaries(console, "Used in", found.used_in)


def _summaries(console: Console, title: str, found: Sequence[EpisodeSummary]) -> None:
    if found:
        sentence(console, f"{title}:", "dim")
    for each in found:
        ended = "no episode" if each.opened_at is None else each.verdict or "open"
        _run(console, each, f"{ended}, {each.steps} steps" if each.steps else ended)


def _run(console: Console, found: EpisodeSummary | Episode, ended: str) -> None:
    """Print a run in two lines: what it was about, and under which ref."""
    mark, colour = MARKS.get(found.verdict or Verdict.UNKNOWN, ("·", "dim"))
    opened = f"{found.opened_at:%Y-%m-%d %H:%M}  " if found.opened_at else ""
    headline(console, Text.assemble((opened, "dim"), (mark, colour), " ", shown(found.task)))
    line(console, Text(shown(f"    {found.ref}  {ended}"), "dim"))


def episode_page(console: Console, found: EpisodePage) -> None:
    """Print episodes, the newest first."""
    if not found.episodes:
        sentence(console, "No episodes.")
    for each in found.episodes:
        _run(console, each, each.verdict or "open")
    more(console, found.next)


def steps_kept(console: Console, done: StepsKept) -> None:
    """Print how many steps are kept with their run, and why not all."""
    if done.kept:
        sentence(console, f"Kept {done.kept} steps.")
    if done.reason:
        sentence(console, f"{'Not all' if done.kept else 'No step'} was kept: {done.reason}", "yellow")


def trajectory(console: Console, found: Trajectory) -> None:
    """Print a run, step by step."""
    console.print(Text.assemble((shown(found.task), "bold"), f"  {found.verdict}"))
    if not found.steps:
        sentence(console, "No steps are kept of this run; the setting keep_trajectories keeps them.")
    for number, step in enumerate(found.steps, start=1):
        sentence(console, f"{number}. {step.action or step.thought}")
        for text, style in ((step.observation, "dim"), (step.error, "red")):
            if text:
                sentence(console, f"   {text}", style)
    if left_out := found.metadata.get("steps_left_out"):
        sentence(console, f"… and {left_out} steps that were not kept.", "yellow")
    if found.result:
        sentence(console, f"Result: {found.result}")

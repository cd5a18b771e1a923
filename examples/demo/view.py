"""How the demonstration looks in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from examples.demo.failing import Failed
from examples.demo.rounds import Event, Finished, Learned, LearningBegan, Measured, RoundBegan, Step
from reasoningbank import ReasoningBank
from reasoningbank.upkeep import Status

WIDTH = 80
NAME = 16
BAR = 28

ROUNDS = {
    1: ("Round 1: an empty bank", "Nothing to recall yet: each time, the agent takes the way it likes best."),
    2: ("Round 2: with recall", "The same kinds of tasks, in other words and with other files."),
    3: ("Round 3: the bank emptied", "Round 2 once more, with nothing to recall."),
}
LEARNING = ("After each failure it tried the next best way once, and wrote down what it saw.",)


def _mark(passed: bool) -> tuple[str, str]:
    return ("✓", "bold green") if passed else ("✗", "bold red")


def _heading(console: Console, title: str, note: str) -> None:
    console.print()
    console.print(Rule(Text(title, "bold"), align="left", style="dim"), width=min(WIDTH, console.width))
    console.print(Text(note, "dim"))
    console.print()


def _indented(console: Console, text: Text, by: int) -> None:
    console.print(Padding(text, (0, 0, 0, by), expand=False), width=min(WIDTH, console.width))


def opening(console: Console, status: Status) -> None:
    """Say what is going to happen."""
    console.print(Text("ReasoningBank: an agent that fails, learns and passes", "bold"))
    console.print(
        Text(
            "It knows a few ways to go about each task and takes the one it likes best,\n"
            "unless what it recalls speaks against it. The commands are real; there is no\n"
            "model, and no script that knows the answers."
        )
    )
    console.print(Text(f"embedder  {status.embedder}", "dim"))


def show(console: Console, event: Event, bank: ReasoningBank) -> None:  # noqa: C901 - one case for each event
    """Print what happened, to the bank that stays."""
    match event:
        case RoundBegan(number=number):
            _heading(console, *ROUNDS[number])
        case Step(round=2):
            _with_recall(console, event)
        case Step():
            _without_recall(console, event)
        case LearningBegan(failures=failures):
            _heading(console, f"{failures} failures, {failures} lessons", *LEARNING)
        case Learned():
            _lesson(console, event)
        case Failed():
            _failed(console, event)
        case Measured():
            _measured(console, event)
        case Finished():
            _closing(console, event, bank)


def _title(step: Step, text: str) -> Text:
    return Text.assemble(_mark(step.attempt.passed), " ", (f"{step.task.name:{NAME}}", "bold"), text)


def _without_recall(console: Console, step: Step) -> None:
    console.print(_title(step, step.attempt.approach.does), no_wrap=True, overflow="ellipsis")
    # Round 3 fails as round 1 did.
    if step.attempt.problem and step.round == 1:
        _indented(console, Text(step.attempt.problem, "red"), NAME + 2)


def _with_recall(console: Console, step: Step) -> None:
    console.print(_title(step, step.words), no_wrap=True, overflow="ellipsis")
    for hit in step.recall.hits:
        decisive = hit.memory.id in step.followed
        line = Text.assemble(
            ("  recalled  " if decisive else "            ", ""),
            (f"{hit.confidence:.2f}  ", "dim"),
            (hit.memory.title, "cyan" if decisive else "dim"),
        )
        console.print(line, no_wrap=True, overflow="ellipsis")
    verb = "so it did" if step.changed else "it did"
    does = (step.attempt.approach.does, "green" if step.attempt.passed else "red")
    console.print(Text.assemble(f"  {verb:{NAME}}", does), no_wrap=True, overflow="ellipsis")
    if step.attempt.problem:
        _indented(console, Text(step.attempt.problem, "red"), NAME + 2)


def _lesson(console: Console, learned: Learned) -> None:
    console.print(Text.assemble("• ", (learned.memory.title, "cyan")), no_wrap=True, overflow="ellipsis")
    for sentence in learned.memory.content.splitlines()[1:]:
        console.print(Text(f"  {sentence}", "dim"), no_wrap=True, overflow="ellipsis")


def _failed(console: Console, failed: Failed) -> None:
    """Print what came up when a command failed."""
    _heading(console, "A command that fails", "What helped where it failed first comes up where it fails again.")
    console.print(Text.assemble(_mark(False), f" {failed.command}"))
    _indented(console, Text(failed.output.strip(), "red"), 2)
    for memory in failed.recall.memories:
        console.print(Text.assemble("  recalled  ", (memory.title, "cyan")), no_wrap=True, overflow="ellipsis")
    console.print(Text.assemble(_mark(failed.repaired), f" {failed.command}, after what it says"))
    console.print(Text(f"  The lesson's confidence: {failed.before:.2f} → {failed.after:.2f}", "dim"))


def _measured(console: Console, measured: Measured) -> None:
    note = f"{measured.runs} more runs; chance withheld the lessons from half of them."
    _heading(console, "Does it help? reasoningbank lift", note)
    _indented(console, Text(measured.lift.words), 0)


def _closing(console: Console, finished: Finished, bank: ReasoningBank) -> None:
    """Print the figures, how the confidences moved, and where the data is."""
    figures = finished.figures
    _heading(console, "What it learned", f"{figures.memories} memories, {figures.recalls} recalls.")
    for name, rate, style in (
        ("before", figures.before, "red"),
        ("after", figures.after, "green"),
        ("after, bank emptied", figures.after_without_memory, "red"),
    ):
        filled = round(rate * BAR)
        console.print(
            Text.assemble(f"{name:20}", ("█" * filled, style), ("░" * (BAR - filled), "dim"), f" {rate:5.0%} passed")
        )
    _heading(
        console,
        "How sure the bank is of each lesson",
        "From the outcomes of round 2, and from what the agent followed.",
    )
    for before, now in finished.moved:
        rose = now.confidence >= before.confidence
        arrow = ("↑", "green") if rose else ("↓", "red")
        console.print(
            Text.assemble(f"{before.confidence:.2f} → {now.confidence:.2f} ", arrow, f" {now.title}"),
            no_wrap=True,
            overflow="ellipsis",
        )
    console.print()
    console.print(Text.assemble(("The data is in ", "dim"), str(finished.folder)), soft_wrap=True)
    look = f"reasoningbank list --root {str(bank.root)!r} --tenant {bank.tenant} --project {bank.project}"
    console.print(Text.assemble(("Look at it:    ", "dim"), look), soft_wrap=True)

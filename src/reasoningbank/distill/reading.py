"""What a run shows to a careful reader without a model: what it did, what failed, what resolved it, what it left."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from reasoningbank.distill.cleaning import shorten
from reasoningbank.runs.trajectory import Step, Trajectory
from reasoningbank.search.terms import terms

# Words for one deed: a word of the task and the name of a tool meet in a row. A word may stand in several rows.
DEEDS = (
    ("book", "reserve", "purchase", "buy", "order"),
    ("cancel",),
    ("change", "modify", "update", "edit", "upgrade", "downgrade", "switch", "reschedule", "add", "remove"),
    ("delete", "remove", "drop", "erase"),
    ("add", "insert", "append", "create", "generate", "write", "build"),
    ("send", "email", "notify", "post", "reply"),
    ("move", "rename", "copy"),
    ("install", "deploy", "publish", "release"),
    ("return", "exchange", "replace"),
)
ROWS = {word: frozenset(n for n, row in enumerate(DEEDS) if word in row) for row in DEEDS for word in row}
# Names of deeds that leave something changed behind, and are worth a check afterwards.
CHANGING = frozenset(ROWS) | {"set", "put", "apply", "commit", "push", "submit"}
SHELLS = frozenset({"bash", "shell", "terminal", "execute", "run", "run_command", "execute_command", "python", "cmd"})
# Tools that only hold a thought, or the end: they do nothing.
IDLE = frozenset({"think", "thought", "reflect", "plan", "finish", "final_answer", "respond", "noop"})
HANDING_OVER = re.compile(r"(?i)transfer.{0,8}(?:human|agent)|escalat|hand.?(?:over|off)|human_agent|give_up")
DECLINING = re.compile(
    r"""(?ix) \b(?: cannot | can't | can\ not | unable | not\ able | non-refundable | unfortunately | must\ be |
        only\ if | policy | not\ (?:allowed|permitted|possible|eligible|available|refundable|supported) )\b"""
)
NEGATION = re.compile(r"(?i)\b(?:not|n't|never|without|no|instead of|avoid|don.t|neither|nor)\b[^.!?;,]{0,30}$")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|\n+")
TOUCHED = 0.5  # the share of a request's words above which it was not neglected
MARKUP = re.compile(r"[*_`#]{2,}|^#+\s*|`", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A step that failed, and what became of it.

    Attributes:
        what: the tool or command.
        said: the line that says what went wrong.
        times: how often it came, the same tool with the same words.
        resolved: the same tool worked later, or another step did at once.
        changed: what was different then: names of arguments, or the other command.
    """

    what: str
    said: str
    times: int
    resolved: bool
    changed: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts of one run.

    Attributes:
        goal: the task in short: its requests without greetings and roles.
        asked: the deeds the task asks for.
        did: the steps taken, runs of one kind folded, in order.
        tools: the tools used, by number of uses.
        troubles: what failed, in the order it first did.
        repeated: the action that was done again and again with the same outcome, and how often; ("", 0) if none.
        decision: the last sentence in which the agent declined something or gave a rule.
        handed_over: whether the last act was to hand the task to somebody else.
        undone: deeds the task asks for that no step did.
        unchecked: the last deed that changed something and was not looked at afterwards, or "".
        neglected: the request of the task that the run's acts touched least, or "".
        ending: the last words, in short.
        unfinished: whether it stopped with an act and no word after it.
    """

    goal: str
    asked: tuple[str, ...]
    did: tuple[str, ...]
    tools: tuple[str, ...]
    troubles: tuple[Trouble, ...]
    repeated: tuple[str, int]
    decision: str
    handed_over: bool
    undone: tuple[str, ...]
    unchecked: str
    neglected: str
    ending: str
    unfinished: bool


def read(run: Trajectory) -> Reading:
    """Read a run. The facts are what its text shows; nothing is asked of a model."""
    acts = [step for step in run.steps if step.action and kind(step).lower() not in IDLE]
    tools = Counter(kind(step) for step in acts)
    return Reading(
        goal=goal(run.task),
        asked=tuple(deeds(run.task)),
        did=tuple(fold(map(label, acts))),
        tools=tuple(name for name, _ in tools.most_common()),
        troubles=tuple(troubles(acts)),
        repeated=repeated(acts),
        decision=decision(run),
        handed_over=bool(acts) and bool(HANDING_OVER.search(acts[-1].action)),
        undone=undone(run.task, acts),
        unchecked=unchecked(acts),
        neglected=neglected(run),
        ending=ending(run),
        unfinished=bool(run.steps) and not run.result and bool(run.steps[-1].action or run.steps[-1].error),
    )


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without Markdown marks, each on one line."""
    parts = (" ".join(part.split()).strip(" -") for part in SENTENCE.split(MARKUP.sub("", text)))
    return [part for part in parts if any(c.isalnum() for c in part)]


PERSONA = re.compile(r"(?i)^(?:(?:you|i)(?: are|'re|'m| am)|your name is|my name is|your user id|act as|you,)\b")
AND_WANT = re.compile(r"(?i)^.{0,60}?\b(?:and|,) (?:you|i) (?:want|need|would like|wish) (?=to\b)")
ASKING = re.compile(
    r"""(?ix)^(?: (?:please|hi|hello|hey|now|so|for\ now|for\ your\ next\ task)[,!]?\ |
        (?:you|i)(?:'d|\ would)?\ (?:also\ )?(?:want|wants|need|like|wish|have)\ (?:the\ agent\ )?to\  |
        (?:can|could|would)\ you\ (?:please\ )?(?:help\ me\ )?(?:to\ )? | your\ task\ is\ to\  | help\ me\ (?:to\ )?
    )+"""
)


def goal(task: str) -> str:
    """Return what is asked for, what is wanted first: who asks and how politely is left out."""
    said = [AND_WANT.sub("I want ", sentence) for sentence in sentences(task)]
    told = [sentence for sentence in said if ASKING.match(sentence) or not PERSONA.match(sentence)] or said
    first = next((n for n, sentence in enumerate(told) if ASKING.match(sentence)), 0)
    asked = [ASKING.sub("", sentence) for sentence in [*told[first:], *told[:first]]]
    return " ".join(sentence[:1].upper() + sentence[1:] for sentence in asked)


def kind(step: Step) -> str:
    """Return the tool's name, or the first word of a command."""
    if step.tool:
        return step.tool
    words = step.action.split(None, 2)
    return words[1] if len(words) > 1 and words[0] in ("sudo", "$", ">", "act:", "Action:") else words[0]


def call_arguments(step: Step) -> dict[str, object]:
    """Return the arguments of a tool call, {} where there are none to be read."""
    inside = step.action[len(step.tool) + 1 : -1] if step.tool and step.action.startswith(f"{step.tool}(") else ""
    try:
        read_back = json.loads(inside)
    except (ValueError, RecursionError):
        return {}
    return read_back if isinstance(read_back, dict) else {}


def label(step: Step) -> str:
    """Name a step in few words: the command, or the tool with its one short argument."""
    if not step.tool:
        return shorten(" ".join(step.action.split()), 80)
    texts = [value for value in call_arguments(step).values() if isinstance(value, str)]
    if len(texts) == 1 and step.tool.lower() in SHELLS:
        return shorten(" ".join(texts[0].split()), 80)
    return step.tool


def fold(labels: Iterable[str]) -> list[str]:
    """Fold a label that follows itself into one with a count."""
    counted = ((text, len(list(same))) for text, same in groupby(labels))
    return [text if count == 1 else f"{text} ×{count}" for text, count in counted]


def troubles(acts: Sequence[Step]) -> list[Trouble]:
    """Return what failed, each tool and message once, with what resolved it."""
    failed: dict[tuple[str, str], list[int]] = {}
    for number, step in enumerate(acts):
        if step.error:
            failed.setdefault((kind(step), re.sub(r"\d+", "0", step.error)[:80]), []).append(number)
    return [_trouble(acts, numbers) for numbers in failed.values()]


def _trouble(acts: Sequence[Step], numbers: list[int]) -> Trouble:
    first, last = acts[numbers[0]], numbers[-1]
    later = [step for step in acts[last + 1 :] if not step.error and kind(step) == kind(first)]
    changed = difference(acts[last], later[0]) if later else ""
    return Trouble(kind(first), first.error, len(numbers), bool(later), changed)


def difference(before: Step, after: Step) -> str:
    """Say what differs between two calls: the names of the arguments, or the later command."""
    old, new = call_arguments(before), call_arguments(after)
    if label(after) != after.tool or not (old and new):
        return label(after) if label(after) != label(before) else ""
    changed = [name for name in new if new[name] != old.get(name)] + [name for name in old if name not in new]
    return ", ".join(changed[:3])


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
        found = [sentence for sentence in sentences(said) if DECLINING.search(sentence) and not sentence.endswith("?")]
        if found:
            return found[0]
    return ""


def deeds(text: str) -> dict[str, frozenset[int]]:
    """Return the deeds a text speaks of, each with its rows; those that are negated are left out."""
    found: dict[str, frozenset[int]] = {}
    for match in re.finditer(r"[^\W\d_]+", text):
        verb = FORMS.get(match.group().lower())
        if verb in NOUNS and not (TO.search(text, 0, match.start()) or OBJECT.match(text, match.end())):
            continue
        if verb and not NEGATION.search(text[max(0, match.start() - 40) : match.start()]):
            found.setdefault(verb, ROWS[verb])
    return found


def _forms(verb: str) -> tuple[str, ...]:
    stem, doubled = verb.removesuffix("e"), verb + verb[-1]
    return verb, f"{verb}s", f"{stem}ed", f"{stem}ing", f"{doubled}ed", f"{doubled}ing", f"{doubled}ation"


# These are as often nouns: only "to return", or "return it", is a deed.
NOUNS = frozenset({"return", "exchange", "order", "book", "post", "copy", "release", "reply", "email"})
TO = re.compile(r"(?i)(?:\b(?:to|and|please|then|will|must|should) $)")
OBJECT = re.compile(r"(?i) (?:the|an?|my|your|it|them|this|that|these|one|all|both|two|new|another)\b")
FORMS = {form: verb for verb in ROWS for form in _forms(verb)}


def undone(task: str, acts: Sequence[Step]) -> tuple[str, ...]:
    """Return the deeds that the task asks for and that no act without an error did.

    Only where acts are tool calls, whose names say what they do; of a shell command that cannot be told.
    """
    named = [step for step in acts if step.tool and step.tool.lower() not in SHELLS]
    if 2 * len(named) <= len(acts):
        return ()
    names = " ".join(spaced(step.tool).lower() for step in named if not step.error)
    done = {row for word in names.split() for row in ROWS.get(FORMS.get(word, ""), ())}
    return tuple(verb for verb, rows in deeds(task).items() if not rows & done)


def spaced(name: str) -> str:
    """Return a tool's name as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_.-]+", " ", name)


def unchecked(acts: Sequence[Step]) -> str:
    """Return the last act that changed something, if no act after it looked at anything."""
    for step in reversed(acts):
        name = spaced(step.tool or step.action).lower().split()[:2]
        if not step.error and CHANGING.intersection(name):
            return label(step)
        if not HANDING_OVER.search(step.action):
            return ""
    return ""


def neglected(run: Trajectory) -> str:
    """Return the sentence of the task whose words the acts and words of the agent touched least."""
    told = set(terms(" ".join(f"{step.thought} {step.action}" for step in run.steps) + " " + run.result))
    requests = {sentence: set(terms(sentence)) for sentence in sentences(run.task) if not PERSONA.match(sentence)}
    shares = {sentence: len(asked & told) / len(asked) for sentence, asked in requests.items() if asked}
    if len(shares) < 2 or min(shares.values()) > TOUCHED:
        return ""
    return ASKING.sub("", min(shares, key=shares.__getitem__))


POLITE = re.compile(
    r"""(?ix) you're\ (?:very\ )?welcome | ^(?:thank|thanks|sure|great|okay|ok|hi|hello)\b | ^i\ hope | safe\ travels |
        have\ a\ .{0,20}(?:day|trip|time) | feel\ free | let\ me\ know | if\ you\ (?:have|need) | ^would\ you\ like |
        reach\ out | assist\ you | here\ to\ help"""
)


def ending(run: Trajectory) -> str:
    """Return how the run ended, in one sentence: the agent's last words that say something, else what it last saw."""
    spoken = [step.thought for step in run.steps if step.thought and not step.action]
    for said in reversed([*spoken[-3:], run.result]):
        told = [sentence for sentence in sentences(said) if not POLITE.search(sentence)]
        if told:
            return " ".join(told[: 2 if told[0].endswith(":") else 1])
    last = run.steps[-1] if run.steps else Step()
    seen = sentences(last.error or last.observation)
    return seen[0] if seen and not seen[0].startswith("User: ") else ""

"""From raw items to drafts, one by one: a bad item costs itself and no other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reasoningbank.distill.cleaning import shorten
from reasoningbank.distill.distillation import Rejection
from reasoningbank.distill.lenient import BACKSLASHES, CUT, LOOSE
from reasoningbank.distill.parse import REFUSAL
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import DESCRIPTION_LIMIT, TAG_LIMIT, TITLE_LIMIT, Draft, Source, fingerprint_text
from reasoningbank.validation import validated
from reasoningbank.verdict import Verdict, outcome_of

LESSON_LIMIT = 4_000  # characters; a longer one is an essay, and would fill the prompt it is recalled into
TAGS_KEPT = 8
COPIED_RUN = 4
NO_OUTCOME = "its outcome is neither success nor failure"

NAMES: dict[str, tuple[str, ...]] = {
    "title": ("title", "name", "strategy", "heading"),
    "content": ("content", "lesson", "text", "body", "details", "steps"),
    "description": ("description", "summary"),
    "applies_when": ("applies_when", "when_to_use", "when", "applicability"),
    "tags": ("tags", "keywords", "labels"),
    "outcome": ("outcome", "type", "label"),
}
KNOWN = frozenset(name for names in NAMES.values() for name in names)
# What a weak model fills in when it copies the form instead of filling it in.
PLACEHOLDERS = re.compile(
    r"(?i)^\W*(?:(?:(?:a|the|your) )?(?:(?:short|brief|concise) )?(?:title|content|description|lesson|summary)"
    r" (?:here|goes here|of the lesson)|string|text|title|content|description|lesson|value|todo|n/?a|none|null)?\W*$"
)
# A title that says that there is no lesson, and nothing else.
NOTHING = re.compile(
    r"""(?ix) ^\W* (?: (?:there\ (?:is|are|was|were)\ )?no (?:\ (?:new|useful|clear|general|generali[sz]able))?
        \ (?:lessons?|insights?|memor(?:y|ies)|items?|takeaways?)
        (?:\ (?:found|learned|learnt|here|identified|available|extracted|to\ (?:learn|extract|report|record|share)))?
        | nothing (?:\ new)? (?:\ (?:to\ (?:learn|report|record|extract)|(?:was\ )?(?:learned|learnt|found)))? ) \W*$"""
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What an answer's items must keep to.

    Attributes:
        cap: the most that are taken; the rest is counted, not taken.
        outcome: of the run; None where items must say theirs (a partial run, several runs).
        examples: lessons shown in the prompt, as fingerprint texts: an item made of their words was not learned.
    """

    cap: int
    outcome: Verdict | None
    source: Source
    tags: tuple[str, ...] = ()
    examples: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sorted:
    """Items that became drafts, and those that did not."""

    drafts: tuple[Draft, ...]
    rejected: tuple[Rejection, ...]
    notes: tuple[str, ...]


def copies(words: str, examples: Iterable[str]) -> bool:
    """Tell whether at least half of the runs of COPIED_RUN words in a text are from the examples, as weak models do."""
    said = words.split()
    length = min(COPIED_RUN, len(said))
    shown = {run for example in examples for run in _runs(example.split(), length)}
    own = _runs(said, length)
    return 2 * sum(run in shown for run in own) >= len(own) > 0


def _runs(words: list[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]


def sort_items(items: Iterable[Any], rules: Rules) -> Sorted:
    """Check each item by itself; the first `cap` good ones are taken, in order."""
    drafts: list[Draft] = []
    rejected: list[Rejection] = []
    notes: set[str] = set()
    seen: set[str] = set()
    for item in items:
        try:
            draft = read_item(item, rules)
            words = fingerprint_text(draft.title, draft.content)
            if words in seen:
                raise InvalidInputError("repeats an item")
            if copies(words, rules.examples):
                raise InvalidInputError("copies an example of the prompt")
            seen.add(words)
            if len(drafts) == rules.cap:
                raise InvalidInputError(f"over the cap of {rules.cap}")
        except InvalidInputError as error:
            rejected.append(Rejection(str(error), " ".join(str(item).split())[:120]))
            continue
        drafts.append(draft)
        notes |= set(getattr(item, "notes", ())) & {BACKSLASHES}
    return Sorted(tuple(drafts), tuple(rejected), tuple(sorted(notes)))


def read_item(item: Any, rules: Rules) -> Draft:
    """Return the draft an item stands for.

    A model's own confidence is not read: a number it made up is no evidence, so the lesson starts from what its
    outcome gives. What is no lesson is an InvalidInputError, whose message is the reason, without the item's own words.
    """
    if not isinstance(item, Mapping):
        raise InvalidInputError(f"not an object but {type(item).__name__}")
    if CUT in getattr(item, "notes", ()):
        raise InvalidInputError("cut off")
    fields = _fields(item)
    # The model was shown no memories, so an id it names, to change or delete, was made up.
    operation = str(fields.get("op") or fields.get("operation") or fields.get("action") or "add").strip().lower()
    if operation not in ("add", "create", "insert", "record", "new"):
        raise InvalidInputError(f"{operation[:40]} of the unknown id {str(fields.get('id', ''))[:40]!r}")
    title, content = shorten(_text(fields, "title"), TITLE_LIMIT, near=TITLE_LIMIT // 3), _text(fields, "content")
    if REFUSAL.match(content.replace("’", "'")):
        raise InvalidInputError("a refusal instead of a lesson")
    if NOTHING.match(title):
        raise InvalidInputError("says that there is no lesson")
    if LOOSE in getattr(item, "notes", ()) and content.count('"') % 2:
        raise InvalidInputError("a quotation mark that is not escaped cuts it off")
    if len(content) > LESSON_LIMIT:
        raise InvalidInputError(f"content is longer than {LESSON_LIMIT:,} characters")
    return validated(
        Draft,
        {
            "title": title,
            "content": content,
            "description": _described(fields, "description"),
            "applies_when": _described(fields, "applies_when"),
            "outcome": rules.outcome or _outcome(fields),
            "tags": _tags(fields, rules.tags),
            "source": rules.source,
        },
    )


def _fields(item: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fields under plain names; `{"the lesson": "why"}` becomes a title and a content."""
    fields = {str(key).strip().lower().replace(" ", "_"): value for key, value in item.items()}
    if len(fields) == 1 and not KNOWN & fields.keys():
        ((title, content),) = item.items()
        return {"title": title, "content": content}
    return fields


def _given(fields: Mapping[str, Any], field: str) -> Any:
    return next((fields[name] for name in NAMES[field] if fields.get(name) is not None), None)


def _text(fields: Mapping[str, Any], field: str) -> str:
    value = _given(fields, field)
    if value is None and field == "content":
        value = fields.get("description")  # a lesson in one sentence, put under the other name
    text = _flat(value)
    if PLACEHOLDERS.match(text):
        raise InvalidInputError(f"{field} is missing" if value is None else f"{field} says nothing")
    return text


def _described(fields: Mapping[str, Any], field: str) -> str:
    text = _flat(_given(fields, field))
    return "" if PLACEHOLDERS.match(text) else shorten(text, DESCRIPTION_LIMIT, near=DESCRIPTION_LIMIT // 3)


def _flat(value: Any) -> str:
    """Return a text as it is, a list of texts as lines, a number as its digits; "" for anything else."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Sequence):
        return "\n".join(part for part in map(_flat, value) if part)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return ""


def _outcome(fields: Mapping[str, Any]) -> Verdict:
    """Return the outcome an item states; where it states none it starts as a failure's, the lower belief."""
    given = _given(fields, "outcome")
    if given is None or given == "":
        return Verdict.FAILURE
    outcome = outcome_of(given)
    if outcome is None:
        raise InvalidInputError(NO_OUTCOME)
    return outcome


def _tags(fields: Mapping[str, Any], given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the given tags, then the item's own, in lower case."""
    raw = _given(fields, "tags")
    own = re.split(r"[,;\n]", raw) if isinstance(raw, str) else raw if isinstance(raw, Sequence) else ()
    texts = (re.sub(r"\s+", "-", tag.strip().strip("#").lower()) for tag in own if isinstance(tag, str))
    return tuple(dict.fromkeys([*given, *(tag for tag in texts if 0 < len(tag) <= TAG_LIMIT)]))[:TAGS_KEPT]

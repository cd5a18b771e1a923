"""From a model's answer to the items it holds, whatever wraps them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reasoningbank.distill.lenient import CUT, LooseObject, load_lenient, load_strict, notes_of

MAX_REPLY = 400_000  # characters; far above any answer to our prompts
MAX_WRAPPERS = 3
MAX_NAMED = 5  # keys that were not understood
MAX_LENIENT = 20  # places in one answer at which the lenient reader is tried

LIST_KEYS = (
    *("memories", "items", "lessons", "memory_items", "strategies", "guardrails", "insights", "learnings"),
    *("lessons_learned", "actions", "results", "data", "output", "memory"),
)
WRAPPER_KEYS = ("result", "response", "answer", "arguments", "parameters", "input", "function", "json", "content")
TITLE_KEYS = frozenset({"title", "name", "strategy", "heading"})
CONTENT_KEYS = frozenset({"content", "lesson", "text", "body", "details", "steps", "description", "id", "op"})
NO_LIST = "JSON without a list of lessons"
MARKDOWN = "Markdown instead of JSON"
NOTHING_LEARNED = "NO_EXTRACTIONS"

THINKING = r"antthinking|think|thinking|thought|thoughts|analysis|reasoning|reflection|scratchpad"
OPENING = re.compile(rf"\s*(?:[<◁]({THINKING})[>▷]|\[(THINK)\])", re.IGNORECASE)
CLOSING = re.compile(rf"[<◁]/(?:{THINKING})[>▷]|\[/THINK\]", re.IGNORECASE)
FINAL_CHANNEL = re.compile(r".*<\|channel\|>\s*final\s*(?:<\|constrain\|>\s*\w{1,20}\s*)?<\|message\|>", re.DOTALL)
START = re.compile(r"\{(?=\s*(?:[\"'“}]|//|/\*|[\w$-]+\s*[:=]))|\[(?=\s*(?:[\[{\"'“\]]|//|/\*))")
REFUSAL = re.compile(
    r"""(?ix) ^\W* (?: (?:i'm|i\ am|we're|we\ are)\ (?:very\ |really\ |truly\ )?sorry | sorry\b | i\ apologi[sz]e |
        (?:unfortunately,?\ )?i\ (?:can(?:'t|not|\ not)|am\ (?:not\ able|unable)|won't|will\ not|must\ decline) |
        as\ an\ ai\b | my\ guidelines )"""
)
FIELD = "title|description|content|tags|outcome|when[ ]to[ ]use"
HEADING = re.compile(
    rf"""(?imx) ^[ \t]* (?: [#]+ [ \t]* [*_]{{0,2}} (?P<heading>{FIELD}) [*_]{{0,2}} [ \t]* :? |
        (?:[>*-][ \t]+)? (?:\d+[.)][ \t]*)? [*_]{{0,2}} (?P<label>{FIELD}) [*_]{{0,2}} [ \t]* : ) [*_]{{0,2}} [ \t]*"""
)
ITEM_HEADING = re.compile(r"(?im)^[ \t#>*_-]*(?:memory[ ]+)?(?:item|lesson|memory)[ ]*#?\d+[ \t*_:.]*$")


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer held.

    Attributes:
        items: the raw items, unchecked, in order.
        found: whether a list of items was there at all, be it empty.
        cut: whether the answer ends in the middle of something.
        refused: whether it is a refusal in prose.
        problem: what stood there instead of items, in a few words, for the repair request; "" if items were found.
        notes: what had to be guessed.
        missed: whether something that looks like lessons stands under a key that nothing is known of.
    """

    items: tuple[Any, ...] = ()
    found: bool = False
    cut: bool = False
    refused: bool = False
    problem: str = ""
    notes: tuple[str, ...] = ()
    missed: bool = False


def read_answer(text: str) -> Answer:
    """Find the items in a model's answer.

    Understood are: JSON alone, in fences, in prose, after thinking, as a list, as one object, in a wrapper, as the
    arguments of a tool call, as JSON inside a JSON text, several objects one after another, JSON that is not quite
    JSON (see `lenient`), and the paper's Markdown form. Drafts inside thinking are not looked at.
    """
    whole = load_strict(text.strip())
    if whole is not None and whole[1] == len(text.strip()):
        return _read_values([whole[0]])
    said, unfinished = without_thinking(text[:MAX_REPLY])
    answer = _read_values(json_values(said))
    return answer if answer.found else _read_prose(said, answer, unfinished=unfinished)


def without_thinking(text: str) -> tuple[str, bool]:
    """Return the answer without the model's thinking, and whether the thinking never ended."""
    final = FINAL_CHANNEL.match(text)
    if final:
        return text[final.end() :], False
    while OPENING.match(text):
        closing = CLOSING.search(text)
        if closing is None:
            return "", True
        text = text[closing.end() :]
    closing = CLOSING.search(text)
    # A closing tag alone: the opening one was part of the prompt. Where nothing readable follows, it was quoted text.
    if closing and (START.search(text, closing.end()) or NOTHING_LEARNED in text[closing.end() :]):
        text = text[closing.end() :]
    return text, False


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON and nearly-JSON values in `text`, outermost first, none inside another that had items."""
    at, lenient_left = 0, MAX_LENIENT
    while (start := START.search(text, at)) is not None:
        strict = load_strict(text, start.start())
        if strict is not None:
            value, at = strict
            yield value
            continue
        if not lenient_left:
            return
        lenient_left -= 1
        value, end = load_lenient(text, start.start())
        taken = bool(_items(value)) or CUT not in notes_of(value)
        at = end if taken else start.end()
        yield value


def _read_values(values: Iterable[Any]) -> Answer:
    items: list[Any] = []
    notes: set[str] = set()
    unread: dict[str, Any] = {}
    found = cut = False
    problem = "no JSON"
    for value in values:
        held = _items(value)
        unread |= _unread(value)
        cut = cut or CUT in notes_of(value)
        if held is None:
            known = f": {_named(unread)} is not understood" if unread else ""
            problem = "a JSON schema instead of an answer" if _is_schema(value) else f"{NO_LIST}{known}"
            continue
        found = True
        items.extend(item for item in held if item not in items)
        notes |= notes_of(value).union(*map(notes_of, held))
    missed = any(map(_looks_like_lessons, unread.values()))
    if unread and found:
        notes.add(f"not understood: {_named(unread)}")
        problem = f"lessons under {_named(unread)}, which is not understood"
    return Answer(
        tuple(items),
        found,
        cut,
        problem="" if found and not missed else problem,
        notes=tuple(sorted(notes)),
        missed=missed,
    )


def _unread(value: Any, depth: int = 0) -> dict[str, Any]:
    """Return what an object around lessons holds under keys that nothing is known of."""
    if not isinstance(value, Mapping) or _is_schema(value) or _is_item(value) or depth > MAX_WRAPPERS:
        return {}
    found: dict[str, Any] = {}
    for key, held in value.items():
        if key in WRAPPER_KEYS:
            found |= _unread(held, depth + 1)
        elif key in LIST_KEYS:
            # Objects in there are taken for lessons, whatever their names.
            found |= {name: each for name, each in _unread(held, depth + 1).items() if isinstance(each, list)}
        elif held and isinstance(held, (list, Mapping)):
            found[str(key)] = held
    return found


def _named(unread: Mapping[str, Any]) -> str:
    return ", ".join(repr(key[:40]) for key in [*unread][:MAX_NAMED])


def _looks_like_lessons(value: Any, depth: int = 0) -> bool:
    if isinstance(value, Mapping) and _is_item(value):
        return True
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return depth < MAX_WRAPPERS and any(_looks_like_lessons(each, depth + 1) for each in inside)


def _items(value: Any, depth: int = 0) -> list[Any] | None:
    """Return the items a JSON value holds, [] for an empty list of them, None if it holds no such list."""
    if isinstance(value, str):
        return _items_in_text(value, depth)
    if isinstance(value, list):
        return value if not value or any(isinstance(item, dict) for item in value) else None
    if not isinstance(value, Mapping) or _is_schema(value):
        return None
    held = _listed(value)
    if held is None and _is_item(value):
        held = [value]
    return _wrapped(value, depth) if held is None else held


def _listed(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the items under all of the names that lists of them go by, None if there is no such list."""
    lists = [held for key in LIST_KEYS if (held := _held(value.get(key))) is not None]
    return [item for held in lists for item in held] if lists else None


def _held(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    if _is_item(value):
        return [value]
    # A list of lessons one level further in, or an object of lessons by some name.
    return _listed(value) or [item for item in value.values() if isinstance(item, Mapping)]


def _wrapped(value: Mapping[str, Any], depth: int) -> list[Any] | None:
    inside = [value[key] for key in WRAPPER_KEYS if isinstance(value.get(key), (dict, list, str))]
    found = (_items(held, depth + 1) for held in inside if depth < MAX_WRAPPERS)
    return next((items for items in found if items is not None), None)


def _items_in_text(text: str, depth: int) -> list[Any] | None:
    if depth >= MAX_WRAPPERS or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return _items(json.loads(text, strict=False, object_pairs_hook=LooseObject), depth + 1)
    except (ValueError, RecursionError):
        return None


def _is_item(value: Mapping[str, Any]) -> bool:
    names = {str(key).lower() for key in value}
    return bool(names & TITLE_KEYS) and bool(names & CONTENT_KEYS) and "arguments" not in names


def _is_schema(value: Any) -> bool:
    """Tell a JSON schema, or a part of one, from an answer."""
    if not isinstance(value, Mapping):
        return False
    described = value.get("properties")
    return "$schema" in value or "$defs" in value or (isinstance(described, Mapping) and value.get("type") == "object")


def _read_prose(text: str, answer: Answer, *, unfinished: bool) -> Answer:
    """Read an answer in which no JSON list of items was found."""
    if re.search(rf"(?m)^[^\w\n]*{NOTHING_LEARNED}[^\w\n]*$", text):
        return Answer(found=True)
    items = _marked_items(text)
    if items:
        return Answer(tuple(items), True, notes=(MARKDOWN,))
    if unfinished:
        return Answer(cut=True, problem="thinking that never ended")
    if not text.strip():
        return Answer(problem="an empty answer")
    # Only an answer without any JSON is searched: a lesson may well quote such words.
    if answer.problem == "no JSON" and REFUSAL.match(text.strip().replace("’", "'")):
        return Answer(refused=True, problem=text.strip().splitlines()[0][:200])
    return answer


def _marked_items(text: str) -> list[dict[str, str]]:
    """Read items written as headings or labels: Title, Description, Content."""
    text = re.sub(r"(?m)^[ \t]*(?:```|~~~).*$", "", ITEM_HEADING.sub("", text))
    headings = list(HEADING.finditer(text))
    items: list[dict[str, str]] = []
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        field = (heading["heading"] or heading["label"]).lower().replace(" ", "_")
        said = text[heading.end() : following.start() if following else len(text)].strip(" \t\n*_#-")
        if field == "title" or not items or field in items[-1]:
            items.append({})
        items[-1][field] = said
    return [item for item in items if "title" in item and "content" in item]

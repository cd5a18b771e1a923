"""JSON with comments and trailing commas, as editors keep it: one entry is put in or taken out, the rest stays."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from reasoningbank.errors import InvalidInputError

_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n\ufeff"


@dataclass(slots=True)
class Node:
    """A value, and where it stands: from `start` to `end`, which is behind it.

    Attributes:
        members: of an object, by name; of a name that stands twice the last counts, as for those who read it.
        names: where the name of each begins.
    """

    value: Any
    start: int
    end: int
    members: dict[str, Node] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)


def parse(text: str) -> Node:
    """Return the value of a text with its places; a blank text is an empty object.

    InvalidInputError, which names the line, when it cannot be read.
    """
    at = _skip(text, 0)
    if at == len(text):
        return Node({}, at, at)
    node = _value(text, at)
    if (rest := _skip(text, node.end)) != len(text):
        raise _wrong(text, rest, "something stands behind the end")
    return node


def put(text: str, group: str, name: str, value: Any) -> str:
    """Return the text with an entry of this name in the object `group`, in place of one that is there."""
    root = _object(text, parse(text))
    if root.start == root.end:
        return text + json.dumps({group: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    if group not in root.members:
        return _with_member(text, root, group, {name: value})
    inside = _object(text, root.members[group])
    if name not in inside.members:
        return _with_member(text, inside, name, value)
    old = inside.members[name]
    return text[: old.start] + _written(value, text, inside) + text[old.end :]


def take(text: str, group: str, name: str) -> str:
    """Return the text without an entry, and without its group where nothing else stands in that."""
    root = parse(text)
    inside = root.members[group]
    without = _without_member(text, inside, name)
    left = parse(without).members[group]
    if left.members or without[left.start + 1 : left.end - 1].strip(_BLANK):
        return without
    return _without_member(without, parse(without), group)


# -- reading -------------------------------------------------------------------------------------------------------


def _skip(text: str, at: int) -> int:
    """Return the next place that is neither blank nor in a comment."""
    while at < len(text):
        if text[at] in _BLANK:
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise _wrong(text, at, "a comment does not end")
            at = end + 2
        else:
            break
    return at


def _value(text: str, at: int) -> Node:
    if text.startswith("{", at):
        return _members(text, at)
    if text.startswith("[", at):
        return _items(text, at)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise _wrong(text, at, "a value is expected") from None
    return Node(value, at, end)


def _members(text: str, start: int) -> Node:
    node, at = Node({}, start, start), _skip(text, start + 1)
    while not text.startswith("}", at):
        name = _value(text, at)
        if not isinstance(name.value, str):
            raise _wrong(text, at, "a name in quotes is expected")
        at = _skip(text, name.end)
        if not text.startswith(":", at):
            raise _wrong(text, at, "a colon is expected")
        member = _value(text, _skip(text, at + 1))
        node.value[name.value], node.members[name.value], node.names[name.value] = member.value, member, name.start
        at = _behind(text, member.end, "}")
    node.end = at + 1
    return node


def _items(text: str, start: int) -> Node:
    node, at = Node([], start, start), _skip(text, start + 1)
    while not text.startswith("]", at):
        item = _value(text, at)
        node.value.append(item.value)
        at = _behind(text, item.end, "]")
    node.end = at + 1
    return node


def _behind(text: str, at: int, closing: str) -> int:
    """Return the place of what follows a part: the next one, or the closing bracket."""
    at = _skip(text, at)
    if text.startswith(",", at):
        return _skip(text, at + 1)
    if not text.startswith(closing, at):
        raise _wrong(text, at, f"a comma or {closing} is expected")
    return at


def _wrong(text: str, at: int, why: str) -> InvalidInputError:
    return InvalidInputError(f"line {text.count(chr(10), 0, at) + 1}: {why}")


def _object(text: str, node: Node) -> Node:
    if not isinstance(node.value, dict):
        raise _wrong(text, node.start, "an object is expected")
    return node


# -- writing -------------------------------------------------------------------------------------------------------


def _with_member(text: str, node: Node, name: str, value: Any) -> str:
    written = f"{json.dumps(name, ensure_ascii=False)}: {_written(value, text, node)}"
    # Behind whatever stands before the closing bracket, so that a comment stays where it belongs.
    place = len(text[: node.end - 1].rstrip(_BLANK))
    if node.members and not _is_spread(text, node):
        return f"{text[:place]}, {written}{text[place:]}"
    line = _line_end(text) + _indent(text, node)
    if not node.members:
        return f"{text[:place]}{line}{written}{_line_end(text)}{_lead(text, node.start)}{text[node.end - 1 :]}"
    last = max(member.end for member in node.members.values())
    comma = _skip(text, last)
    if text.startswith(",", comma):
        return f"{text[:place]}{line}{written},{text[place:]}"
    return f"{text[:last]},{text[last:place]}{line}{written}{text[place:]}"


def _without_member(text: str, node: Node, name: str) -> str:
    start, end = node.names[name], node.members[name].end
    before = [member.end for other, member in node.members.items() if other != name and member.end <= start]
    comma = _skip(text, end)
    begin = len(text[:start].rstrip(" \t\r\n"))
    if text.startswith(",", comma):
        return text[:begin] + text[comma + 1 :]
    if not before:
        # Behind a comment the closing bracket needs the line end that is there.
        is_bare = not text[node.start + 1 : begin].strip(_BLANK)
        return text[:begin] + (text[end:].lstrip(" \t\r\n") if is_bare else text[end:])
    joint = _skip(text, max(before))
    return text[:joint] + text[joint + 1 : begin] + text[end:]


def _written(value: Any, text: str, node: Node) -> str:
    if node.members and not _is_spread(text, node):
        return json.dumps(value, ensure_ascii=False)
    indent = _indent(text, node)
    unit = indent.removeprefix(_lead(text, node.start)) or "  "
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (_line_end(text) + indent).join(lines)


def _is_spread(text: str, node: Node) -> bool:
    """Tell whether an object has its members on lines of their own."""
    return "\n" in text[node.start : min(node.names.values())]


def _indent(text: str, node: Node) -> str:
    """Return what stands before a member of an object."""
    if node.members and _is_spread(text, node):
        return _lead(text, min(node.names.values()))
    lead = _lead(text, node.start)
    return lead + ("\t" if lead.startswith("\t") or "\n\t" in text else "  ")


def _lead(text: str, at: int) -> str:
    """Return the blanks that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"

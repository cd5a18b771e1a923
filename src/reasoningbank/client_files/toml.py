"""TOML: one table is put in or taken out, the rest stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from reasoningbank.errors import InvalidInputError

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def parse(text: str) -> dict[str, Any]:
    """Return the value of a text; InvalidInputError, which names the line, when it cannot be read."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(str(error)) from None


def put(text: str, group: str, name: str, value: dict[str, Any]) -> str:
    """Return the text with a table `[group.name]`, in place of one that is there.

    InvalidInputError where one is there in another form than a table of its own, or the group takes no more tables.
    """
    if name in parse(text).get(group, {}):
        text = take(text, group, name)
    line = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{group}.{name}]", *(f"{key} = {_written(each)}" for key, each in value.items())]
    gap = "" if not text.strip() else line if text.endswith("\n") else line * 2
    made = text + gap + line.join(lines) + line
    try:
        parse(made)
    except InvalidInputError:
        raise InvalidInputError(
            f"{group} is one value there, which takes no more: write it as tables [{group}.NAME]"
        ) from None
    return made


def take(text: str, group: str, name: str) -> str:
    """Return the text without a table and those within it.

    InvalidInputError where it stands in another form than a table of its own.
    """
    expected = parse(text)
    del expected[group][name]
    line = "\r\n" if "\r\n" in text else "\n"
    header = rf"^[ \t]*\[[ \t]*{re.escape(group)}[ \t]*\.[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*[\].]"
    ours = re.compile(header, re.MULTILINE)
    left = text
    while found := ours.search(left):
        following = _HEADER.search(left, left.find("\n", found.start()) + 1 or len(left))
        end = following.start() if following else len(left)
        # Blanks and comments before the next table belong to that.
        own = re.sub(r"(?:^[ \t]*(?:#.*)?(?:\r?\n|\Z))+\Z", "", left[found.start() : end], flags=re.MULTILINE)
        begin = len(left[: found.start()].rstrip(" \t\r\n"))
        kept = left[:begin] + (line if begin else "")
        left = kept + left[found.start() + len(own) :]
    # A group that held nothing else may be gone, or stay as an empty table.
    if {group: {}} | parse(left) != expected:
        raise InvalidInputError(f"{group}.{name} is no table of its own there: take it out by hand")
    return left


def _written(value: Any) -> str:
    # Texts, lists of texts and numbers are written alike in both.
    return json.dumps(value, ensure_ascii=False)

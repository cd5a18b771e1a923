"""Arguments as models really send them: numbers and booleans as text, lists as JSON text. A table, no guessing.

A content that happens to be JSON is stored as it is. Half a surrogate pair, which no file can hold, is U+FFFD.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

TRUE = frozenset({"true", "yes", "y", "1", "on"})
FALSE = frozenset({"false", "no", "n", "0", "off"})
NOTHING = frozenset({"", "null", "none", "n/a", "undefined"})
_LISTED = re.compile(r"\s*\[([^\[\]{}\"]*)\]\s*")  # as Python shows one of words
_SURROGATE = re.compile("[\ud800-\udfff]")


def to_bool(value: object) -> object:
    """Read a yes or no that came as text or as 0 or 1; what is neither stays as it is, for the schema to refuse."""
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in TRUE else False if word in FALSE else value
    return bool(value) if value in (0, 1) and isinstance(value, int) else value


def to_switch(value: object) -> object:
    """Read a yes or no that may be left out: "null" is None."""
    return None if unset(value) is None else to_bool(value)


def unset(value: object) -> object:
    """Read an optional reference: blank, "null" and "none" are None."""
    return None if isinstance(value, str) and value.strip().lower() in NOTHING else value


def to_number(value: object) -> object:
    """Read a number that came as text, or a whole one as 5.0; "null" and "" are None."""
    value = unset(value)
    if isinstance(value, str):
        try:
            value = float(value.strip())
        except ValueError:
            return value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def to_list(value: object) -> object:
    """Read a list that came as JSON or as Python shows it, or as words with commas; "null" is None, also within."""
    value = unset(value)
    if isinstance(value, list):
        said = [item for item in value if unset(item) is not None]  # models write ["null"] for no list
        return said if said or not value else None
    if not isinstance(value, str):
        return value
    if not value.strip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        return to_list(json.loads(value.strip()))
    except (ValueError, RecursionError):
        listed = _LISTED.fullmatch(value)
    return to_list([part.strip(" \t\n'") for part in listed[1].split(",")]) if listed else value


def to_object(value: object) -> object:
    """Read an object that came as JSON text; an empty one, "null" and "" are None."""
    value = unset(value)
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            return value
        value = read if isinstance(read, dict) else value
    return None if value == {} else value


def to_text(value: object) -> object:
    """Read a name or reason, which must say something: "null" is "", for the schema to refuse."""
    return "" if isinstance(value, str) and value.strip() and unset(value) is None else value


def storable(value: Any) -> Any:
    """Return what came as JSON with U+FFFD in place of each half of a surrogate pair."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {storable(key): storable(held) for key, held in value.items()}
    return [storable(item) for item in value] if isinstance(value, list) else value


def to_choice(value: object) -> object:
    """Read one of a few words, whatever its case and the blanks around it; "null" and "" are None."""
    value = unset(value)
    return value.strip().lower() if isinstance(value, str) else value


Flag = Annotated[bool, BeforeValidator(to_bool)]
Switch = Annotated[bool | None, BeforeValidator(to_switch)]
Count = Annotated[int | None, BeforeValidator(to_number)]
Share = Annotated[float | None, BeforeValidator(to_number)]
Words = Annotated[list[str] | None, BeforeValidator(to_list)]
Object = Annotated[dict[str, Any] | None, BeforeValidator(to_object)]
Text = Annotated[str, BeforeValidator(to_text)]
Reference = Annotated[str | None, BeforeValidator(unset)]


def echoed(arguments: Mapping[str, Any]) -> str:
    """Return the arguments as they came, shortened, for an error that shows them."""
    return ", ".join(f"{name}={value!r:.60}" for name, value in arguments.items()) or "nothing"

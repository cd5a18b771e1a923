"""Arguments as models really send them: numbers and booleans as text, lists as JSON text. A table, no guessing.

Text parameters are never touched: a content that happens to be JSON is stored as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

TRUE = frozenset({"true", "yes", "y", "1", "on"})
FALSE = frozenset({"false", "no", "n", "0", "off"})
NOTHING = frozenset({"", "null", "none"})


def to_bool(value: object) -> object:
    """Read a yes or no that came as text or as 0 or 1; what is neither stays as it is, for the schema to refuse."""
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in TRUE else False if word in FALSE else value
    return bool(value) if value in (0, 1) and isinstance(value, int) else value


def unset(value: object) -> object:
    """Read an optional reference: blank, "null" and "none" are None."""
    return None if isinstance(value, str) and value.strip().lower() in NOTHING else value


def to_number(value: object) -> object:
    """Read a number that came as text, or a whole one as 5.0; "null" and "" are None."""
    value = unset(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value.strip())
        except ValueError:
            continue
    return value


def to_list(value: object) -> object:
    """Read a list that came as JSON text, or as words with commas between them; "null" and "" are None, also within."""
    value = unset(value)
    if isinstance(value, list):
        said = [item for item in value if unset(item) is not None]  # models write ["null"] for no list
        return said if said or not value else None
    if not isinstance(value, str):
        return value
    if not value.strip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        read = json.loads(value.strip())
    except (ValueError, RecursionError):
        return value
    return to_list(read) if isinstance(read, list) else value


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


def to_choice(value: object) -> object:
    """Read one of a few words, whatever its case and the blanks around it; "null" and "" are None."""
    value = unset(value)
    return value.strip().lower() if isinstance(value, str) else value


Flag = Annotated[bool, BeforeValidator(to_bool)]
Count = Annotated[int | None, BeforeValidator(to_number)]
Share = Annotated[float | None, BeforeValidator(to_number)]
Words = Annotated[list[str] | None, BeforeValidator(to_list)]
Object = Annotated[dict[str, Any] | None, BeforeValidator(to_object)]
Reference = Annotated[str | None, BeforeValidator(unset)]


def echoed(arguments: Mapping[str, Any]) -> str:
    """Return the arguments as they came, shortened, for an error that shows them."""
    return ", ".join(f"{name}={value!r:.60}" for name, value in arguments.items()) or "nothing"

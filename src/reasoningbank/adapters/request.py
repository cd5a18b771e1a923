"""What was asked: the text of a query, a message or a conversation of any framework, importing none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reasoningbank.memory import is_blank

ASKERS = frozenset({"user", "human"})


def request_text(source: Any) -> str:
    """Return what was asked, as text; empty when nothing was, or only an image.

    Args:
        source: a text; a list of content blocks; a message with `content` (or `blocks`); or a list of messages, of
            which the last one by the user or human counts.
    """
    if isinstance(source, str):
        return "" if is_blank(source) else source.strip()
    if isinstance(source, Sequence) and not isinstance(source, bytes):
        if any(_speaker(item) for item in source):
            asked = [item for item in source if _speaker(item) in ASKERS]
            return request_text(_content(asked[-1])) if asked else ""
        return request_text("\n".join(filter(None, map(_block_text, source))))
    content = _content(source)
    return request_text(content) if content is not None and content is not source else ""


def last_turn(messages: Sequence[Any], begin: str = "") -> list[Any]:
    """Return the messages of the last turn of a conversation: from the last message by the user on.

    Args:
        begin: the id of the message that the turn began with, where one is known; others of the user may follow it.
    """
    places = [n for n, message in enumerate(messages) if begin and _get(message, "id") == begin]
    places = places or [n for n, message in enumerate(messages) if _speaker(message) in ASKERS]
    return list(messages[places[-1] :] if places else messages)


def _get(source: Any, name: str) -> Any:
    return source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)


def _content(message: Any) -> Any:
    content = _get(message, "content")
    return _get(message, "blocks") if content is None else content


def _speaker(item: Any) -> str | None:
    """Return who says a message; None for what is no message, such as a content block."""
    if isinstance(item, str) or _content(item) is None:
        return None
    role = _get(item, "role") or _get(item, "type")
    return str(getattr(role, "value", role)).lower() if role is not None else None


def _block_text(block: Any) -> str:
    # Blocks of images, reasoning and tool calls say nothing that was asked.
    text = block if isinstance(block, str) else _get(block, "text")
    return text.strip() if isinstance(text, str) else ""

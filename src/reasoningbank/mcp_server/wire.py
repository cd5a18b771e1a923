"""Messages as clients send them, put into a form that the SDK reads, or answered where it would keep silent.

A request that is not read is a client that waits. So half surrogates and numbers that JSON does not have are replaced,
arguments that came as the text of an object are that object, and what cannot be read as a request is answered.
"""

from __future__ import annotations

import json
import re
from typing import Any

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602

_HALF = re.compile("[\ud800-\udfff]")


class UnreadableError(Exception):
    """A message that is no request; `answer` is what the client is told, as one line of JSON."""

    def __init__(self, code: int, message: str, request: Any = None) -> None:
        super().__init__(message)
        self.answer = json.dumps({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}})


def readable(text: str) -> str:
    """Return a message as one line of JSON that the SDK reads; UnreadableError when it is none."""
    try:
        # What JSON does not have (NaN, Infinity) says nothing.
        message = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(PARSE_ERROR, f"this is not JSON ({error})") from None
    if not isinstance(message, dict):
        raise UnreadableError(INVALID_REQUEST, "send one JSON object a message: lists of requests are not taken")
    if "method" in message:
        _put_right(message)
    try:
        return _HALF.sub("\ufffd", json.dumps(message, ensure_ascii=False))
    except RecursionError:
        raise UnreadableError(INVALID_REQUEST, "this is nested too deeply") from None


def _put_right(message: dict[str, Any]) -> None:
    message["jsonrpc"] = "2.0"
    request = message.get("id")
    if "id" in message and (isinstance(request, bool) or not isinstance(request, (str, int))):
        raise UnreadableError(INVALID_REQUEST, "id is a text or a whole number")
    if not isinstance(message["method"], str):
        raise UnreadableError(INVALID_REQUEST, "method is a text", request)
    if (params := _read(message.get("params"))) is None:
        message.pop("params", None)
        return
    if not isinstance(params, dict):
        raise UnreadableError(INVALID_PARAMS, "params is an object", request)
    message["params"] = params
    if message["method"] in ("tools/call", "prompts/get"):
        _put_arguments_right(params, request)


def _put_arguments_right(params: dict[str, Any], request: Any) -> None:
    arguments = _read(params.get("arguments"))
    if arguments is None:
        params.pop("arguments", None)
    elif isinstance(arguments, dict):
        params["arguments"] = arguments
    else:
        raise UnreadableError(INVALID_PARAMS, f"arguments is an object, not {arguments!r:.60}", request)


def _read(value: Any) -> Any:
    """Return what a text holds that is JSON; None for a blank one; anything else as it is."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value

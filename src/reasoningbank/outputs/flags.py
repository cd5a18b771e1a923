"""What a structured output states by its fields: flags, statuses, error objects."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

LIMIT = 200_000  # characters above which an output is not parsed

# Names are compared without case, dashes and underscores: exit_code, exitCode and ExitCode are one.
EXIT_KEYS = ("exitcode", "exitstatus", "returncode", "rc")
FAILED_KEYS = ("iserror", "isfailure", "failed", "timedout", "interrupted")
WORKED_KEYS = ("success", "ok", "succeeded", "successful")
HTTP_KEYS = ("statuscode", "httpstatus", "httpcode", "status", "code")
ERROR_KEYS = ("error", "errors", "exception", "fault", "errormessage", "errortype", "errorcode")
COUNT_KEYS = ("failed", "failures", "errors", "numfailed", "numfailedtests")
TEXT_KEYS = ("message", "msg", "detail", "reason", "content", "text", "output", "stderr", "title", "description")
WRAPPING = ("content", "text", "output", "stdout", "stderr", "result", "message")
INSIDE = ("metadata", "structuredcontent", "result", "response", "meta")
FAILED_WORDS = frozenset(
    {"error", "errored", "failed", "failure", "fail", "fatal", "exception", "timeout", "timed_out"}
)
WORKED_WORDS = frozenset({"success", "ok", "succeeded", "successful", "passed", "completed"})
NO_ERROR = frozenset({"", "none", "null", "no", "false", "0", "ok", "n/a", "no error", "noerror", "success"})
ERROR_CODE = re.compile(r"E[A-Z]{3,}|ERR_\w+")


class Stated(NamedTuple):
    """What the fields say: whether the act failed, by which field, and the message that is given with it."""

    failed: bool
    by: str
    message: str = ""


def load(text: str) -> Any:
    """Return a JSON or Python literal that a text is all of; None if it is none."""
    if len(text) > LIMIT or not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text) if text.startswith(("{'", "[{'")) else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def stated(value: Any, depth: int = 0) -> Stated | None:
    """Return what the fields of an output say of the act, None if they say nothing.

    A failure outweighs a success. A flag that is the default of its format (`isError: false`) says nothing.
    """
    if not isinstance(value, Mapping):
        return None
    fields = _fields(value)
    readers = (_exit, _failed_flag, _worked_flag, _status, _error, _counted)
    said = [one for reader in readers if (one := reader(fields)) is not None]
    if depth < 2:
        said += [one for key in INSIDE if (one := stated(fields.get(key), depth + 1)) is not None]
    failed = next((one for one in said if one.failed), None)
    if failed is not None:
        return failed._replace(message=failed.message or message_of(value))
    return said[0] if said else None


def message_of(value: Any, depth: int = 0) -> str:
    """Return the words that an error object gives: its message, of a list the first one's."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and depth < 4:
        return message_of(value[0], depth + 1)
    if not isinstance(value, Mapping) or depth > 3:
        return ""
    fields = _fields(value)
    said = (message_of(fields.get(key), depth + 1) for key in (*ERROR_KEYS, *TEXT_KEYS))
    return next((words for words in said if words.strip()), "")


def text_of(value: Any, depth: int = 0) -> str:
    """Return the text that a structured output wraps, "" if it wraps none."""
    if isinstance(value, list):
        blocks = [block for block in value if isinstance(block, Mapping) and "type" in block]
        return "\n".join(text_of(block, depth + 1) for block in blocks) if depth < 4 else ""
    if not isinstance(value, Mapping) or depth > 3:
        return value if isinstance(value, str) and depth else ""
    fields = _fields(value)
    return next((said for key in WRAPPING if (said := text_of(fields.get(key), depth + 1))), "")


def _fields(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {re.sub(r"[_-]", "", str(key)).lower(): held for key, held in value.items()}


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _exit(fields: Mapping[str, Any]) -> Stated | None:
    return next((Stated(fields[key] != 0, "exit status") for key in EXIT_KEYS if _whole(fields.get(key))), None)


def _failed_flag(fields: Mapping[str, Any]) -> Stated | None:
    return next((Stated(True, "flag") for key in FAILED_KEYS if fields.get(key) is True), None)


def _worked_flag(fields: Mapping[str, Any]) -> Stated | None:
    return next((Stated(not fields[key], "flag") for key in WORKED_KEYS if isinstance(fields.get(key), bool)), None)


def _status(fields: Mapping[str, Any]) -> Stated | None:
    for key in ("status", "state", "result", "type", "outcome"):
        said = fields.get(key)
        word = said.strip().lower() if isinstance(said, str) else ""
        # Of a thing that has an id, "failed" is a fact about the thing that was asked for.
        if word in FAILED_WORDS and not ("id" in fields and word in ("failed", "failure")):
            return Stated(True, "status")
        if word in WORKED_WORDS:
            return Stated(False, "status")
    for key in HTTP_KEYS:
        code = fields.get(key)
        if _whole(code) and 100 <= fields[key] <= 599 and (key != "code" or "message" in fields):
            return Stated(fields[key] >= 400, "HTTP status")
    return Stated(True, "code") if ERROR_CODE.fullmatch(str(fields.get("code", ""))) else None


def _error(fields: Mapping[str, Any]) -> Stated | None:
    for key in ERROR_KEYS:
        said = fields.get(key)
        if said is True:
            return Stated(True, "error")
        if isinstance(said, str) and said.strip().lower() not in NO_ERROR:
            return Stated(True, "error", said)
        if isinstance(said, (Mapping, list)) and said:
            return Stated(True, "error", message_of(said))
    return None


def _counted(fields: Mapping[str, Any]) -> Stated | None:
    counts = [fields[key] for key in COUNT_KEYS if _whole(fields.get(key))]
    return Stated(any(counts), "tests") if counts else None

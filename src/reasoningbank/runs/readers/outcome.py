"""What a tool's answer says of itself: whether it failed, with what exit status, and what came back as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reasoningbank.outputs import error_line, first_line
from reasoningbank.runs.readers.values import get, is_list, is_record, label
from reasoningbank.runs.transcript import as_text

EXIT_CODES = ("exit_code", "exitCode", "returncode", "return_code", "returnCode", "exit_status")
FAILED = frozenset({"error", "failed", "failure", "outcomefailed", "outcomedeadlineexceeded", "denied", "rejected"})
WORKED = frozenset({"success", "ok", "completed", "succeeded", "outcomeok"})
# Where the words of an answer stand, in the order in which they are looked for.
CONTENT = (
    "output", "content", "response", "result", "return_value", "returnValue", "outputs", "results", "value", "text",
    "aggregated_output", "tool_return", "blocks", "parts", "data", "message", "summary",
    "toolResult", "functionResponse", "function_response",
)  # fmt: skip
STREAMS = ("stdout", "stderr")
DEPTH = 12  # an answer that is nested deeper is kept as it is


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a tool's answer says that it went.

    Attributes:
        failed: None when nothing says it.
        said: what an error field says.
    """

    failed: bool | None = None
    exit_code: int | None = None
    said: str = ""

    def or_else(self, other: Outcome) -> Outcome:
        """Return this, and where it says nothing what the other says; a failure on either side stays one."""
        failed = other.failed if self.failed is None or other.failed else self.failed
        return Outcome(failed, other.exit_code if self.exit_code is None else self.exit_code, self.said or other.said)

    def error(self, text: str) -> str:
        """Return the line that says what went wrong with an answer of this outcome and text, or ""."""
        # A flag that says no failure may be the default of its format.
        line = error_line(text, status=self.exit_code, flagged=self.failed or None)
        if line or not (self.failed or self.exit_code):
            return line
        return (
            first_line(self.said) or first_line(text) or (f"exit code {self.exit_code}" if self.exit_code else "failed")
        )


NOTHING = Outcome()


def outcome_of(body: Any) -> Outcome:
    """Read the flags of an answer: `is_error`, `error`, `success`, `ok`, `status`, exit codes, Gemini's `outcome`."""
    if not is_record(body):
        return NOTHING
    failed, said = _flags(body)
    outcome = get(body, "outcome")
    code = next((code for code in map(_exit_code, (body, outcome, get(body, "metadata"))) if code is not None), None)
    for word in (get(body, "status"), outcome if isinstance(outcome, str) else None, get(body, "state")):
        named = label(word)
        failed = True if named in FAILED else (False if failed is None and named in WORKED else failed)
    return Outcome(failed, code, said)


def _flags(body: Any) -> tuple[bool | None, str]:
    failed: bool | None = None
    for name, means in (("is_error", True), ("isError", True), ("success", False), ("ok", False)):
        value = get(body, name)
        if isinstance(value, bool):
            failed = failed or value is means
    error = get(body, "error", "errorText", "error_text", "error_code", "errorMessage")
    if isinstance(error, bool):
        return failed or error, ""
    if error and (isinstance(error, (str, Mapping)) or is_list(error)):
        return True, error if isinstance(error, str) else as_text(get(error, "message") or error)
    return failed, ""


def _exit_code(body: Any) -> int | None:
    if not is_record(body):
        return None
    code = get(body, *EXIT_CODES)
    if isinstance(code, str) and code.lstrip("-").isdecimal() and len(code) < 12:
        code = int(code)
    return code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 1 << 40 else None


def answer(body: Any) -> tuple[str, Outcome]:
    """Return the words of a tool's answer and how it says that it went.

    Args:
        body: a text, a list of content blocks, or a record that holds one of these under any of the usual names.
    """
    text, outcome = _answer(body, DEPTH)
    return text.strip(), outcome


def _answer(body: Any, depth: int) -> tuple[str, Outcome]:
    if isinstance(body, Mapping) and depth:
        return _of_record(body, depth)
    if is_list(body) and depth and any(_says(block) for block in body):
        parts = [_answer(block, depth - 1) for block in body if not _is_media(block)]
        outcome = NOTHING
        for _, own in parts:
            outcome = outcome.or_else(own)
        return "\n".join(text for text, _ in parts if text), outcome
    if is_list(body) and body and all(map(_is_media, body)):
        return "", NOTHING
    if is_record(body) and not isinstance(body, Mapping) and depth:
        words = get(body, *CONTENT)
        return _answer(words, depth - 1) if words is not None else (as_text(body), outcome_of(body))
    return as_text(body), NOTHING


def _of_record(body: Mapping[str, Any], depth: int) -> tuple[str, Outcome]:
    outcome = outcome_of(body)
    streams = [as_text(body[name]).rstrip() for name in STREAMS if body.get(name)]
    if streams or any(name in body for name in STREAMS):
        return "\n".join(streams), outcome
    known = [name for name in CONTENT if body.get(name) is not None]
    # A record that is all envelope: its words are the answer. One with fields of its own is data, and kept whole.
    if known and not set(body) - ENVELOPE:
        text, inner = _answer(body[known[0]], depth - 1)
        kind = label(body.get("type"))
        wrong = Outcome(failed=True) if "error" in kind or kind == "executiondenied" else NOTHING
        return text, outcome.or_else(inner).or_else(wrong)
    if body.keys() <= RESPONSE and "response" in body:
        return _answer(body["response"], depth - 1)
    if "json" in body and len(body) == 1:
        return as_text(body["json"]), outcome_of(body["json"])
    if "error" in label(body.get("type")) and outcome.said:
        return outcome.said, Outcome(True, outcome.exit_code, outcome.said)
    return as_text(body), outcome


# What stands around the words of an answer and is no part of them.
ENVELOPE = frozenset(CONTENT) | set(EXIT_CODES) | {
    "type", "kind", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "tool_name",
    "toolName", "role", "is_error", "isError", "error", "success", "ok", "status", "state", "outcome", "metadata",
    "annotations", "citations", "cache_control", "block_type", "meta", "_meta", "structuredContent",
    "max_output_length", "artifact", "additional_kwargs", "errorText",
}  # fmt: skip


RESPONSE = frozenset({"id", "name", "response"})  # Gemini's


def _says(block: Any) -> bool:
    """Tell whether an item of a list is a content block, not a row of data."""
    return isinstance(block, str) or (
        is_record(block) and (get(block, "type", "block_type", "text", "outcome") is not None or _is_bare(block))
    )


def _is_bare(block: Any) -> bool:
    return isinstance(block, Mapping) and len(block) == 1 and not {"json", "functionResponse"}.isdisjoint(block)


MEDIA = frozenset({
    "image", "imageurl", "inputimage", "outputimage", "computerscreenshot", "audio", "inputaudio", "outputaudio",
    "video", "file", "inputfile", "document", "inlinedata", "filedata", "media", "blob", "uri", "resourcelink",
    "imagefile", "imageasset", "binary", "audiourl", "videourl", "documenturl",
})  # fmt: skip


def _is_media(block: Any) -> bool:
    if isinstance(block, str) or not is_record(block):
        return False
    kind = get(block, "type", "block_type")
    return label(kind) in MEDIA if kind is not None else isinstance(block, Mapping) and set(map(label, block)) <= MEDIA

"""A small server on the loopback that answers like endpoints do when things go wrong, by the name of the model."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

LESSONS = '{"memories": [{"title": "Look first", "content": "Look before you write."}]}'
KEY_IN_ANSWER = "sk-" + "proj-" + "Ab3dE6gH9jK2mN5p" * 3


def completion(model: str, content: Any = LESSONS, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def tool_call(model: str) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "lessons", "arguments": LESSONS}}
    return completion(model, None, "tool_calls", tool_calls=[call])


def failure(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind}}


ANSWERS: dict[str, dict[str, Any]] = {
    "good": completion("good"),
    "gzipped": completion("gzipped"),
    "dribbling": completion("dribbling"),
    "truncated": completion("truncated", '{"memories": [{"title": "Cut", "content": "in the mid', "length"),
    "thinking": completion("thinking", "<think>Let me look at step 1", "max_tokens"),
    "refusing": completion("refusing", None, "stop", refusal="I will not."),
    "filtered": completion("filtered", "", "content_filter"),
    "empty-choices": {**completion("empty-choices"), "choices": []},
    "no-choices": {"object": "chat.completion", "model": "no-choices"},
    "tool-call": tool_call("tool-call"),
    "blocks": completion("blocks", [{"type": "text", "text": LESSONS[:20]}, {"type": "text", "text": LESSONS[20:]}]),
    "parsed": completion("parsed", json.loads(LESSONS), "end_turn"),
    "silent": completion("silent", None, None),
    "leaking": {**completion("leaking"), "access_token": KEY_IN_ANSWER},
}
# Answers that come only after so many failures: (status, headers, body).
FAILURES: dict[str, tuple[int, int, dict[str, str], dict[str, Any]]] = {
    "busy": (1, 429, {"retry-after": "0"}, failure("Rate limit reached", "requests")),
    "ailing": (1, 500, {"retry-after-ms": "1"}, failure("The server had an error", "server_error")),
    "overloaded": (
        1,
        529,
        {"retry-after-ms": "1"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ),
    "down": (99, 503, {"retry-after-ms": "1"}, failure("Unavailable", "server_error")),
    "locked": (99, 401, {}, failure("Incorrect API key provided: sk-...", "invalid_api_key")),
    "unknown": (99, 404, {}, failure("The model `unknown` does not exist")),
}


def complaint(model: str, given: dict[str, Any]) -> tuple[int, str] | None:
    """Return what a server that does not know a parameter says to it."""
    kind = given.get("response_format", {}).get("type")
    complaints = {
        ("schemaless", kind is not None): (400, "Unknown parameter: 'response_format'"),
        ("json-object-only", kind == "json_schema"): (
            422,
            "response_format.type: Input should be 'text' or 'json_object'",
        ),
        ("internal-error", kind == "json_schema"): (
            500,
            "response_format.type: Input should be 'text' or 'json_object'",
        ),
        ("modern", "max_tokens" in given): (
            400,
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        ),
        ("moderner", "temperature" in given): (400, "Unsupported value: 'temperature' does not support 0.3."),
        ("strict", True): (400, "messages: roles must alternate"),
    }
    return complaints.get((model, True))


class Endpoint(BaseHTTPRequestHandler):
    """Speaks the chat part of the protocol."""

    asked: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model = given["model"]
        Endpoint.asked[model] += 1
        status, headers, answer = self.answer(model, given)
        body = json.dumps(answer).encode()
        if model == "gzipped":
            body, headers = gzip.compress(body), {**headers, "content-encoding": "gzip"}
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        # What real endpoints send along, and no cassette may hold.
        self.send_header("Set-Cookie", "session=0123456789abcdef; HttpOnly")
        self.send_header("openai-organization", "org-synthetic")
        self.send_header("x-request-id", "req_0123456789")
        self.end_headers()
        self.send(body, slowly=model in ("dribbling", "stalling"))

    def answer(self, model: str, given: dict[str, Any]) -> tuple[int, dict[str, str], dict[str, Any]]:
        if model in FAILURES:
            times, status, headers, answer = FAILURES[model]
            if Endpoint.asked[model] <= times:
                return status, headers, answer
        refused = complaint(model, given)
        if refused is not None:
            return refused[0], {}, failure(refused[1])
        return 200, {}, ANSWERS.get(model, completion(model))

    def send(self, body: bytes, *, slowly: bool) -> None:
        if not slowly:
            self.wfile.write(body)
            return
        try:
            for start in range(0, len(body), 100):
                self.wfile.write(body[start : start + 100])
                self.wfile.flush()
                time.sleep(0.02 if self.path.startswith("/v1") else 0.0)
        except OSError:
            return  # the client gave up, which is what it should do

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@contextmanager
def serving() -> Iterator[str]:
    """Run the server; give the base URL of its API."""
    Endpoint.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()

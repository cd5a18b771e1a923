"""What a cassette may hold: nothing of a request but its address and body, nothing of a response but its kind and body.

Default deny: a header that nobody thought of is not recorded. Bodies are plain text with sorted keys, so that a diff of
a cassette can be read; secrets are scrubbed from them with the scrubber of the library itself. The hooks run when
recording and when replaying, and running them twice changes nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reasoningbank.screening.scrub import scrub, scrub_value

KEPT_OF_RESPONSES = {"content-type", "retry-after"}
CANONICAL = "https://llm.test"
LOOPBACK = re.compile(r"^http://(?:127\.0\.0\.1|localhost)(?::\d+)?(?=/|$)")
# Where a server says in which file it broke: the folder is of the machine it ran on.
FOLDER = re.compile(r"(?:/[\w.+-]+)+/(?=site-packages/)")
# Volatile or personal parts of a body.
DROPPED = {"user", "created", "id", "system_fingerprint"}


def settings() -> dict[str, Any]:
    """Return the settings for a module's `vcr_config`; the record mode comes from the command line."""
    return {
        "before_record_request": clean_request,
        "before_record_response": clean_response,
        "decode_compressed_response": True,
        "allow_playback_repeats": False,
        "match_on": ["method", "scheme", "host", "port", "path", "query", "body"],
    }


def clean_request(request: Any) -> Any:
    """Return a request without headers, with its address made canonical and the secrets of its body scrubbed."""
    parts = urlsplit(LOOPBACK.sub(CANONICAL, request.uri))
    query = "&".join(clean_pair(pair) for pair in parts.query.split("&") if pair)
    request.uri = urlunsplit(parts._replace(query=query))
    request.headers.clear()
    if request.body:
        request.body = clean_body(request.body)
    return request


def clean_pair(pair: str) -> str:
    """Return a pair of a query; the value of one that names a credential is replaced."""
    name, equals, value = pair.partition("=")
    cleaned, _ = scrub_value({name: value})
    secret = re.fullmatch(r"(?i).*(?:key|token|secret|password|signature|auth).*", name)
    return f"{name}{equals}{'REDACTED' if secret else cleaned.get(name, value)}"


def clean_response(response: dict[str, Any]) -> dict[str, Any]:
    """Return a response with the headers that are kept, and the secrets of its body scrubbed."""
    kept = {name: value for name, value in response["headers"].items() if name.lower() in KEPT_OF_RESPONSES}
    body = response["body"].get("string") or b""
    return {**response, "headers": kept, "body": {"string": clean_body(body)}}


def clean_body(body: bytes | str) -> bytes:
    """Return a body with sorted keys, without volatile parts and secrets; what is not JSON is scrubbed as text."""
    text = FOLDER.sub("", body.decode("utf-8", "replace") if isinstance(body, bytes) else body)
    try:
        value = json.loads(text)
    except ValueError:
        return scrub(text).text.encode()
    if isinstance(value, dict):
        value = {name: kept for name, kept in value.items() if name not in DROPPED}
    cleaned, _ = scrub_value(value)
    return json.dumps(cleaned, sort_keys=True, ensure_ascii=False).encode()

"""Embeddings from an endpoint, from recordings.

The recordings were made against the small server below, on the loopback: `pytest tests/embed/test_openai.py
--record-mode=rewrite` makes them anew. Nothing here reaches a network.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from reasoningbank.embed.guarded import embed_each
from reasoningbank.embed.named import open_embedder
from reasoningbank.embed.openai import OpenAIEmbedder
from reasoningbank.errors import EmbedderUnavailableError, EmbeddingError, MissingExtraError

PORT = 47391
BASE_URL = f"http://127.0.0.1:{PORT}/v1"


class Endpoint(BaseHTTPRequestHandler):
    """Speaks the embeddings part of the protocol: eight numbers a text, and the failures the tests need."""

    server_version = "synthetic"
    sys_version = ""
    busy = 1

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, answer = self.answer(asked["model"], asked["input"], asked.get("dimensions", 8))
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)

    def answer(self, model: str, texts: list[str], dim: int) -> tuple[int, dict[str, Any]]:
        if model == "missing":
            return 404, {"error": {"message": "The model `missing` does not exist", "type": "invalid_request_error"}}
        if model == "busy-at-first" and Endpoint.busy:
            Endpoint.busy -= 1
            return 429, {"error": {"message": "Rate limit reached", "type": "requests"}}
        if any("too long" in text or not text for text in texts):
            return 400, {"error": {"message": "an input is too long or empty", "type": "invalid_request_error"}}
        rows = [
            {"object": "embedding", "index": position, "embedding": [byte / 255 for byte in self.digest(text, dim)]}
            for position, text in enumerate(texts)
        ]
        if model == "forgetful":
            rows.pop()
        # In any order: the protocol has an index for it.
        rows.reverse()
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "model": model, "data": rows, "usage": usage}

    def digest(self, text: str, dim: int) -> bytes:
        return hashlib.blake2b(text.encode(), digest_size=dim).digest()

    def date_time_string(self, timestamp: float | None = None) -> str:
        return "Thu, 01 Jan 2026 00:00:00 GMT"

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    return {
        "filter_headers": [
            ("authorization", "Bearer synthetic"),
            "user-agent",
            *(
                f"x-stainless-{fact}"
                for fact in ("os", "arch", "lang", "runtime", "runtime-version", "package-version")
            ),
        ],
        "match_on": ["method", "scheme", "host", "port", "path", "query", "body"],
    }


@pytest.fixture(autouse=True)
def endpoint(record_mode: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run the server while recording only, and give the SDK a key that is none."""
    monkeypatch.setenv("OPENAI_API_KEY", "synthetic")
    monkeypatch.setenv("OPENAI_BASE_URL", BASE_URL)
    if record_mode == "none":
        yield
        return
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()
    server.server_close()


def expected(text: str, dim: int = 8) -> list[float]:
    numbers = hashlib.blake2b(text.encode(), digest_size=dim).digest()
    length = sum(number**2 for number in numbers) ** 0.5
    return [number / length for number in numbers]


@pytest.mark.vcr
def test_each_text_gets_its_own_row_whatever_the_order_of_the_answer() -> None:
    embedder = open_embedder("openai:small-model")

    rows = embedder.embed_documents(["first text", "second text", "数据库"])

    assert rows.tolist() == [pytest.approx(expected(text)) for text in ("first text", "second text", "数据库")]
    assert embedder.embed_query("a query").tolist() == pytest.approx(expected("a query"))


@pytest.mark.vcr
def test_the_width_of_an_unknown_model_is_asked_once() -> None:
    identity = open_embedder("openai:small-model").identity

    assert (identity.name, identity.dim) == ("openai:small-model", 8)


def test_the_width_of_a_published_model_needs_no_request() -> None:
    assert open_embedder("openai:text-embedding-3-small").identity.dim == 1536


@pytest.mark.vcr
def test_shorter_vectors_can_be_asked_for() -> None:
    embedder = OpenAIEmbedder("small-model", dimensions=4)

    assert embedder.identity.dim == 4
    assert embedder.embed_query("short").tolist() == pytest.approx(expected("short", 4))


@pytest.mark.vcr
def test_blank_texts_are_not_sent_and_have_no_direction() -> None:
    rows = OpenAIEmbedder("small-model").embed_documents(["", "text", " \n"])

    assert rows.any(axis=1).tolist() == [False, True, False]


@pytest.mark.vcr
def test_many_texts_go_in_several_requests() -> None:
    rows = OpenAIEmbedder("small-model").embed_documents([f"text {number}" for number in range(150)])

    assert rows[149].tolist() == pytest.approx(expected("text 149"))


@pytest.mark.vcr
def test_a_text_that_is_refused_costs_no_other() -> None:
    embedded = embed_each(OpenAIEmbedder("small-model"), ["good", "this one is too long", "good as well"])

    assert list(embedded.failures) == [1]
    assert "an input is too long or empty" in embedded.failures[1]
    assert embedded.vectors.any(axis=1).tolist() == [True, False, True]


@pytest.mark.vcr
def test_what_may_pass_is_tried_again() -> None:
    embedder = OpenAIEmbedder("busy-at-first", dimensions=8)

    assert embedder.embed_query("retried").tolist() == pytest.approx(expected("retried"))


@pytest.mark.vcr
def test_a_model_that_does_not_exist_is_not_asked_text_by_text() -> None:
    embedder = OpenAIEmbedder("missing", dimensions=8)

    with pytest.raises(
        EmbedderUnavailableError, match=r"openai:missing does not answer .*NotFoundError.*OPENAI_API_KEY"
    ):
        embed_each(embedder, ["one", "two"])


@pytest.mark.vcr
def test_an_answer_with_too_few_rows_is_refused() -> None:
    embedder = OpenAIEmbedder("forgetful", dimensions=8)

    with pytest.raises(EmbeddingError, match="answered 1 vectors for 2 texts"):
        embedder.embed_documents(["one", "two"])


@pytest.mark.vcr
def test_warming_up_shows_a_wrong_address_or_key_at_once() -> None:
    OpenAIEmbedder("small-model").warm()
    with pytest.raises(EmbedderUnavailableError):
        OpenAIEmbedder("missing").warm()


def test_without_a_key_the_error_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")

    with pytest.raises(EmbedderUnavailableError, match="OPENAI_API_KEY"):
        OpenAIEmbedder("small-model").warm()


def test_an_endpoint_that_is_down_is_unavailable_after_a_bounded_time() -> None:
    embedder = OpenAIEmbedder("small-model", base_url="http://127.0.0.1:9/v1", dimensions=8, retries=0, timeout=5)

    with pytest.raises(EmbedderUnavailableError, match="APIConnectionError"):
        embedder.embed_query("anyone?")


def test_without_the_package_the_error_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.delitem(sys.modules, "reasoningbank.embed.openai")

    with pytest.raises(MissingExtraError, match=r"pip install 'reasoningbank-core\[openai\]'"):
        open_embedder("openai:small-model")


def test_a_forked_child_connects_anew() -> None:
    embedder = OpenAIEmbedder("small-model", dimensions=8)
    before = embedder._client()

    embedder.after_fork()

    assert embedder._client() is not before

"""No cassette of the repository holds a secret, a person or a machine; the hooks do what they promise."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml  # type: ignore[import-untyped]
from vcr import VCR
from vcr.errors import CannotOverwriteExistingCassetteException
from vcr.request import Request

from reasoningbank.screening.scrub import scrub
from tests.cassette_policy import clean_request, clean_response, settings
from tools.domain import ROOT

CASSETTES = sorted(path for path in ROOT.glob("**/cassettes/**/*.y*ml*") if ".venv" not in path.parts)
# Keys as they look, put together here so that no scanner takes this file for a leak.
HEADER_KEY, OTHER_KEY, BODY_KEY = (f"sk-{part}-" + "Zx9Yw8Vu7Ts6" * 3 for part in ("proj", "ant-api03", "svcacct"))
TOKEN = "ghp_" + "Ab3dE6gH9jK2" * 3
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[a-z]{2,}")
HOST = re.compile(r"https?://([^/\s:'\"]+)")
HOSTS = re.compile(r"(?:llm\.test|127\.0\.0\.1|localhost|[\w.-]*\.test|[\w.-]*\.example|example\.(?:com|org))$")


def text_of(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")


def test_there_are_cassettes_to_look_at() -> None:
    assert any("synthetic" in path.as_posix() for path in CASSETTES)


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: f"{path.parent.name}/{path.stem}"[:80])
def test_no_cassette_holds_a_secret_a_person_or_a_machine(path: Path) -> None:
    text = text_of(path)

    assert scrub(text).counts == {}
    assert EMAIL.findall(text) == []
    assert [host for host in HOST.findall(text) if not HOSTS.match(host)] == []
    assert "set-cookie" not in text.lower()


class Leaky(BaseHTTPRequestHandler):
    """Answers with everything that must not be recorded, and counts."""

    count = 0

    def do_POST(self) -> None:
        Leaky.count += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        broke = 'File "/opt/mia/venv/lib/python3.11/site-packages/server/app.py"'
        body = json.dumps({"answer": Leaky.count, "access_token": TOKEN, "trace": broke}).encode()
        self.send_response(200)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Set-Cookie": "sid=s3cr3tc00kie",
            "openai-organization": "org-a1b2c3",
            "x-request-id": "req-77aa",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture
def leaky() -> Iterator[str]:
    Leaky.count = 0
    server = HTTPServer(("127.0.0.1", 0), Leaky)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def ask(base: str, question: str = "hello") -> Any:
    return httpx.post(
        f"{base}/v1/chat?key={OTHER_KEY}&model=m",
        headers={
            "Authorization": f"Bearer {HEADER_KEY}",
            "x-api-key": OTHER_KEY,
            "api-key": OTHER_KEY,
            "X-Goog-Api-Key": OTHER_KEY,
        },
        json={"question": question, "api_key": BODY_KEY, "user": "mia@corp.example"},
    ).json()["answer"]


def cassette(folder: Path, mode: str) -> Any:
    return VCR().use_cassette(str(folder / "one.yaml"), record_mode=mode, **settings())


def test_what_servers_and_clients_send_along_is_not_recorded(leaky: str, tmp_path: Path) -> None:
    with cassette(tmp_path, "once"):
        ask(leaky)

    text = (tmp_path / "one.yaml").read_text("utf-8")
    for secret in ("s3cr3tc00kie", "org-a1b2c3", "req-77aa", TOKEN, "mia@corp", "/opt/mia"):
        assert secret not in text
    assert "application/json" in text


def test_a_key_is_replaced_wherever_it_stands_and_replay_still_matches(leaky: str, tmp_path: Path) -> None:
    with cassette(tmp_path, "once"):
        ask(leaky)
    text = (tmp_path / "one.yaml").read_text("utf-8")
    assert not [key for key in (HEADER_KEY, OTHER_KEY, BODY_KEY) if key in text]

    with cassette(tmp_path, "none"):
        assert ask("http://127.0.0.1:9") == 1
    assert Leaky.count == 1


def test_the_hooks_change_nothing_the_second_time(leaky: str, tmp_path: Path) -> None:
    with cassette(tmp_path, "once"):
        ask(leaky)
    (recorded,) = yaml.safe_load((tmp_path / "one.yaml").read_text("utf-8"))["interactions"]
    request = Request("POST", recorded["request"]["uri"], recorded["request"]["body"], {})

    again = clean_request(clean_request(request))

    assert (again.uri, again.body.decode()) == (recorded["request"]["uri"], recorded["request"]["body"])
    response = {**recorded["response"], "body": {"string": recorded["response"]["body"]["string"].encode()}}
    assert clean_response(response) == clean_response(clean_response(response)) == response


def test_a_request_that_differs_is_refused_and_the_difference_named(leaky: str, tmp_path: Path) -> None:
    with cassette(tmp_path, "once"):
        ask(leaky)

    with (
        cassette(tmp_path, "none"),
        pytest.raises(CannotOverwriteExistingCassetteException) as raised,
    ):
        ask("http://127.0.0.1:9", "goodbye")
    assert "body" in str(raised.value).partition("Matchers failed")[2]


def test_one_call_more_than_was_recorded_fails(leaky: str, tmp_path: Path) -> None:
    with cassette(tmp_path, "once"):
        ask(leaky)

    with cassette(tmp_path, "none"):
        ask("http://127.0.0.1:9")
        with pytest.raises(CannotOverwriteExistingCassetteException):
            ask("http://127.0.0.1:9")

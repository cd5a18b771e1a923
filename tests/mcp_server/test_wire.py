"""Messages as clients send them: each that can be answered is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.mcp_server.wire import UnreadableError, readable
from tests.mcp_server.conftest import RECORD, Spawn


def asked(arguments: Any, **more: Any) -> str:
    params = {"name": "memory_search", "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params} | more)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (asked({"query": "a\ud800b"}), {"query": "a\ufffdb"}),
        (asked({"query": "\ud83d\ude00"}), {"query": "\U0001f600"}),
        (asked({"query": "\\ud800"}), {"query": "\\ud800"}),
        (asked('{"query": "x", "limit": 5.0}'), {"query": "x", "limit": 5.0}),
        (asked({"query": "x", "limit": float("nan")}), {"query": "x", "limit": None}),
    ],
)
def test_arguments_come_through(text: str, arguments: dict[str, Any]) -> None:
    read = readable(text)

    assert json.loads(read)["params"]["arguments"] == arguments
    read.encode()
    assert "\n" not in read


@pytest.mark.parametrize("nothing", ["null", "", " ", None])
def test_no_arguments_are_no_arguments(nothing: object) -> None:
    assert "arguments" not in json.loads(readable(asked(nothing)))["params"]


def test_what_is_no_request_of_ours_is_left_as_it_is() -> None:
    answer = {"jsonrpc": "2.0", "id": 7, "result": {"arguments": "null"}}

    assert json.loads(readable(json.dumps(answer))) == answer
    assert json.loads(readable('{"id": 7, "method": "ping", "params": null}')) == {
        "jsonrpc": "2.0", "id": 7, "method": "ping",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "request_id", "code"),
    [
        ("not json", None, -32700),
        ("[" * 100_000, None, -32700),
        ("[]", None, -32600),
        ("5", None, -32600),
        ('{"id": 8.5, "method": "ping"}', None, -32600),
        ('{"id": null, "method": "ping"}', None, -32600),
        ('{"id": true, "method": "ping"}', None, -32600),
        ('{"id": 9, "method": 5}', 9, -32600),
        ('{"id": "a", "method": "ping", "params": "x"}', "a", -32602),
        (asked([1]), 1, -32602),
        (asked("query: x"), 1, -32602),
    ],
)
def test_what_cannot_be_read_is_answered(text: str, request_id: object, code: int) -> None:
    with pytest.raises(UnreadableError) as refused:
        readable(text)

    answer = json.loads(refused.value.answer)
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)


def test_a_server_answers_every_line_and_tells_when_lessons_changed(spawn: Spawn, bank: ReasoningBank) -> None:
    lesson = json.dumps({"name": "memory_record", "arguments": RECORD | {"content": "half a pair: \ud800"}})
    client = spawn()
    began = client.initialize()["result"]
    for number in (1, 2):
        client.write(f'{{"id": {number}, "method": "tools/call", "params": {lesson}}}\n'.encode())
        assert client.wait_for(number)["result"]["structuredContent"]["created"] is (number == 1)
    client.write(b"not json\n\n" + asked('{"query": "paths"}', id=3).encode() + b"\n")
    found = client.wait_for(3)
    code, _ = client.close()

    assert began["capabilities"]["resources"]["listChanged"] is True
    assert bank.list().memories[0].content == "half a pair: \ufffd"
    assert found["result"]["isError"] is False
    assert sum(b"-32700" in line for line in client.lines) == 1
    assert sum(b"notifications/resources/list_changed" in line for line in client.lines) == 1
    assert code == 0

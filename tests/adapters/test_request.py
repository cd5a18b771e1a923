from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reasoningbank.adapters import request_text

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (" fix auth ", "fix auth"),
        ([{"type": "text", "text": "fix auth"}, IMAGE], "fix auth"),
        ([IMAGE], ""),
        ([], ""),
        ([{"type": "text", "text": None}], ""),
        (["fix", "auth"], "fix\nauth"),
        ({"role": "user", "content": "fix auth"}, "fix auth"),
        (SimpleNamespace(type="human", content=[{"type": "text", "text": "fix auth"}]), "fix auth"),
        ([{"role": "user", "content": "old"}, {"role": "assistant", "content": "hm"}], "old"),
        ([{"role": "user", "content": "old"}, {"role": "user", "content": "new"}], "new"),
        ([{"role": "system", "content": "x"}], ""),
        (
            [SimpleNamespace(role=SimpleNamespace(value="user"), content=None, blocks=[SimpleNamespace(text="hi")])],
            "hi",
        ),
        ([SimpleNamespace(type="ai", content=""), SimpleNamespace(type="human", content="go")], "go"),
        (None, ""),
        (7, ""),
        (b"bytes", ""),
    ],
)
def test_what_was_asked_is_read_from_whatever_it_comes_as(source: Any, text: str) -> None:
    assert request_text(source) == text

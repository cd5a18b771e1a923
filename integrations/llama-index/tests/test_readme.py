"""The page of the package does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llama_index_instrumentation import get_dispatcher

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGE = Path(__file__).parents[1] / "README.md"


def test_every_block_runs_in_an_empty_folder_and_shows_a_lesson_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    dispatcher = get_dispatcher()
    before = list(dispatcher.span_handlers)
    namespace: dict[str, object] = {"__name__": "__main__"}
    try:
        for block in BLOCK.findall(PAGE.read_text("utf-8")):
            exec(compile(block, str(PAGE), "exec"), namespace)
    finally:
        dispatcher.span_handlers = before

    said = capsys.readouterr().out
    first, verdict, confidence, unwrapped = said.splitlines()[:4]
    assert (first, verdict, unwrapped) == ("I passed tz=UTC.", "success", "success")
    assert float(confidence) > 0.8
    assert "<lessons-" in said
    assert "memory_search" in said

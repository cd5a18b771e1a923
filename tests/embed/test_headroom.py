"""A limit on memory is an error that says so, never the end of the process; what was acknowledged is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.embed.headroom import MIB, RUNNING, Headroom, of_run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much a process has taken")

QUIET = "ORT_DISABLE_TELEMETRY"
START = """
import json, resource, sys
from reasoningbank import EmbedderUnavailableError, ReasoningBank

def told(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) * 1024

def limit(more):
    now = told("VmSize") + more
    resource.setrlimit(resource.RLIMIT_AS, (now, now))

LONG = " ".join(f"step{n} of the roll-out is checked" for n in range(200))
"""


def child(code: str, *arguments: str, **environment: str) -> str:
    """Run code in a process of its own and return what it prints; its end by a signal is a failure."""
    # Without what keeps the model's runtime quiet in a test run.
    inherited = {name: text for name, text in os.environ.items() if name not in {"CI", "GITHUB_ACTIONS", QUIET}}
    done = subprocess.run(
        [sys.executable, "-c", START + code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=inherited | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("more", [1, 30, 60])
def test_a_process_without_room_for_the_embedder_gets_an_error_and_goes_on_by_keyword(
    tmp_path: Path, more: int
) -> None:
    code = f"""
bank = ReasoningBank(sys.argv[1], tenant="t", project="p")
bank.record("Quote paths", "Put paths in quotes", outcome="success")
limit({more * MIB})
try:
    bank.record_many([{{"title": f"L{{n}}", "content": LONG, "outcome": "success"}} for n in range(60)])
except EmbedderUnavailableError as error:
    print(json.dumps(str(error)))
found = bank.search("quotes around the paths of a roll-out whose step is checked " + LONG)
print(json.dumps(found.degraded))
"""

    error, degraded = child(code, str(tmp_path)).splitlines()

    assert "raise the limit" in json.loads(error)
    assert any("raise the limit" in reason for reason in json.loads(degraded))
    with ReasoningBank(tmp_path, tenant="t", project="p", embedder="minilm") as bank:
        assert [memory.title for memory in bank.list().memories] == ["Quote paths"]


def test_a_model_is_not_loaded_where_there_is_no_room_for_it(tmp_path: Path) -> None:
    code = f"""
import faiss, reasoningbank.embed.minilm
limit({200 * MIB})
try:
    ReasoningBank(sys.argv[1], tenant="t", project="p").record("Quote paths", "In quotes", outcome="success")
except EmbedderUnavailableError as error:
    print(error)
"""

    assert "the embedder needs 400 MB" in child(code, str(tmp_path))


def test_the_longest_text_takes_less_than_is_foreseen_and_gives_it_back() -> None:
    code = """
from reasoningbank.embed.minilm import MiniLMEmbedder
embedder = MiniLMEmbedder()
embedder.warm()
before = told("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
embedder.embed_documents([LONG, LONG + " twice", *(LONG[:length] for length in range(300, 2000, 200))])
print(told("VmHWM") - before, told("VmRSS") - before)
"""

    peak, kept = map(int, child(code).split())

    assert peak < of_run(1, 512)
    assert kept < 8 * MIB


def test_what_a_run_needs_grows_with_the_texts_and_the_square_of_their_length() -> None:
    assert of_run(1, 1024) - RUNNING == 4 * (of_run(1, 512) - RUNNING) == 16 * (of_run(4, 128) - RUNNING)


def test_without_a_limit_nothing_is_asked() -> None:
    with Headroom().hold(1 << 60):
        pass


def test_loading_the_default_model_leaves_nothing_of_its_maker_in_the_home_folder(tmp_path: Path) -> None:
    here = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    child("from reasoningbank.embed.minilm import MiniLMEmbedder; MiniLMEmbedder().warm()", **here)

    assert {file.parts[len(tmp_path.parts)] for file in tmp_path.rglob("*")} == {"reasoningbank"}

"""Other libraries with the same texts and vectors, each in an environment of its own, made at its first use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from benchmarks.speed_lessons import StubEmbedder, texts

PACKAGES = {
    "mem0": ["mem0ai", "faiss-cpu"],
    "langchain-faiss": ["langchain-community", "faiss-cpu"],
    "langgraph-sqlite": ["langgraph-checkpoint-sqlite", "langgraph", "numpy"],
    "chroma": ["chromadb"],
}
INSTALL_SECONDS, RUN_SECONDS = 600, 900


def measure_peers(size: int, folder: Path, queries: int) -> dict[str, dict[str, Any]]:
    """Return each peer's figures, or the reason why it has none."""
    given = folder / f"peers-{size}.npz"
    made, stub = texts(size, queries), StubEmbedder()
    said = [f"{lesson['title']}\n{lesson['description']}\n{lesson['content']}" for lesson in made.lessons]
    np.savez(given, vectors=stub.embed_documents(said), queries=stub.embed_documents(made.queries))
    given.with_suffix(".json").write_text(json.dumps({"texts": said, "queries": made.queries}), "utf-8")
    return {name: _measured(name, given, folder / f"{name}-{size}") for name in PACKAGES}


def _measured(name: str, given: Path, store: Path) -> dict[str, Any]:
    script = Path(__file__).with_name("speed_peer_runs.py")
    try:
        # Isolated, so that nothing here is taken for a module of the same name that the peer wants (`secrets`).
        command = [str(_environment(name)), "-I", str(script), name, str(given), str(store)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=RUN_SECONDS)
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        return {"skipped": (error.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    except (subprocess.TimeoutExpired, OSError, ValueError, IndexError) as error:
        return {"skipped": str(error)[:200]}
    return figures


def _environment(name: str) -> Path:
    """Return the Python of a peer's environment, which is made if it is not there yet."""
    folder = Path(platformdirs.user_cache_dir("reasoningbank", appauthor=False)) / "peers" / name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (folder / "ready").exists():
        subprocess.run(
            [sys.executable, "-m", "venv", "--clear", str(folder)], capture_output=True, text=True, check=True
        )
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES[name]]
        subprocess.run(install, capture_output=True, text=True, check=True, timeout=INSTALL_SECONDS)
        (folder / "ready").touch()
    return python

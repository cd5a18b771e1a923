"""Install the MCP clients that cannot share our environment, into .clients: `python -m tools.other_clients`.

An environment with the SDK's first major and langchain-mcp-adapters (which wants that), and the npm inspector, which
wants npm. `make clients` runs the tests that use them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tools.domain import ROOT

FOLDER = ROOT / ".clients"
MAJOR_1 = FOLDER / "mcp1" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
INSPECTOR = FOLDER / "node_modules" / ".bin" / "mcp-inspector"


def install() -> None:
    """Install what is missing."""
    if not MAJOR_1.exists():
        venv.create(FOLDER / "mcp1", with_pip=True)
        _run(MAJOR_1, "-m", "pip", "install", "-q", "-e", f"{ROOT}[mcp]", "mcp<2", "langchain-mcp-adapters")
    if not INSPECTOR.exists():
        npm = shutil.which("npm")
        if npm is None:
            sys.exit("npm is not installed: it comes with Node.js")
        _run(Path(npm), "install", "--silent", "--prefix", str(FOLDER), "@modelcontextprotocol/inspector")


def _run(*command: str | Path) -> None:
    subprocess.run(list(map(str, command)), check=True)


if __name__ == "__main__":
    install()

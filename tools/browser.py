"""What the tests in a browser and the pictures need: a Chromium, and axe-core, which `python -m tools.browser` gets.

axe-core (MPL-2.0) is used by tests only, from npm's registry, and is no part of the repository or of a wheel.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from tools.domain import ROOT

FOLDER = ROOT / ".browser"
_AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
AXE = _AXE if _AXE.exists() else None
VERSION = "4.14.1"

# It looks nothing up and reports nothing; without a sandbox, since in containers people are root.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str | None:
    """Return the program of a Chromium on this machine; None when there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def install() -> None:
    """Install axe-core if it is missing; say what is missing that only the machine's owner can install."""
    if chromium() is None:
        sys.stderr.write("No Chromium was found: the browser's tests will not run (apt install chromium).\n")
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("npm was not found: axe-core will not run.\n")
    elif AXE is None:
        subprocess.run([npm, "install", "--silent", "--prefix", str(FOLDER), f"axe-core@{VERSION}"], check=True)


if __name__ == "__main__":
    install()

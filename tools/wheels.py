"""Build the wheels, install them where there is no workspace, and run the integrations' tests on them.

Before that, the core alone goes into an empty environment, and a newcomer's first hour is walked with it.

    python -m tools.wheels                            the pinned versions
    python -m tools.wheels --resolution lowest-direct the lowest versions that the packages say they work with
    python -m tools.wheels --python python3.13        with another Python than this one

An editable install hides a missing file or a bound that is too low; this does not.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEMBERS = ("langchain", "langgraph", "llama-index")
# What the tests need beside the packages themselves.
TESTS_NEED = (
    "blockbuster",
    "langchain-tests",
    "langgraph-checkpoint-sqlite",
    "langgraph-supervisor",
    "langgraph-swarm",
    "pytest",
    "pytest-asyncio",
    "pytest-socket",
    "pytest-timeout",
)


def uv() -> str:
    """Return the uv to use: the one on the path, or the one that make set up."""
    return shutil.which("uv") or str(ROOT / ".uv/bin/uv")


def run(*command: str, cwd: Path = ROOT) -> int:
    """Run a command, and return its exit code; it finds no workspace and no checkout by its environment."""
    bare = ("env", "-u", "PYTHONPATH", "-u", "VIRTUAL_ENV", *command)
    return subprocess.run(bare, cwd=cwd, check=False).returncode


def install(venv: Path, wheels: Path, resolution: str, python: str) -> int:
    """Install the wheels with what the tests need; the newest pinned versions, or the lowest allowed ones."""
    built = sorted(str(wheel) for wheel in wheels.glob("*.whl"))
    packages = [f"{wheel}[agents]" if "langchain_reasoningbank" in wheel else wheel for wheel in built]
    pins = ["--resolution", resolution] if resolution != "pinned" else ["-c", str(bare_constraints(venv.parent))]
    code = run(uv(), "venv", "-q", "--no-python-downloads", "--python", python, str(venv))
    code = code or run(uv(), "pip", "install", "-q", "--python", str(venv), *pins, *packages)
    # What only the tests need may be new, as long as it leaves the packages under test as they are.
    only_tests = pins if resolution == "pinned" else []
    return code or run(uv(), "pip", "install", "-q", "--python", str(venv), *only_tests, *TESTS_NEED)


def first_hour(venv: Path, wheels: Path, resolution: str, python: str) -> int:
    """Walk through a newcomer's first hour with nothing but the core's wheel."""
    core = next(str(wheel) for wheel in wheels.glob("reasoningbank_core-*.whl"))
    pins = ["--resolution", resolution] if resolution != "pinned" else ["-c", str(bare_constraints(venv.parent))]
    code = run(uv(), "venv", "-q", "--no-python-downloads", "--python", python, str(venv))
    code = code or run(uv(), "pip", "install", "-q", "--python", str(venv), *pins, f"{core}[mcp]")
    return code or run(sys.executable, "-m", "tools.first_hour", str(venv / "bin" / "reasoningbank"))


def bare_constraints(folder: Path) -> Path:
    """Write the pins without their hashes, which local wheels have none of."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line.removesuffix(" \\") for line in lines if line and not line.startswith((" ", "#"))]
    path = folder / "constraints.txt"
    path.write_text("\n".join(pins) + "\n", "utf-8")
    return path


def copy_tests(folder: Path) -> None:
    """Copy the integrations' tests and pages away from the sources, with the settings that pytest needs."""
    for member in MEMBERS:
        shutil.copytree(ROOT / "integrations" / member / "tests", folder / f"package-{member}" / "tests")
        shutil.copy(ROOT / "integrations" / member / "README.md", folder / f"package-{member}")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    ini = ["[pytest]", "asyncio_mode = auto", "asyncio_default_fixture_loop_scope = function", "addopts ="]
    ini += [f"    {option}" for option in ("--import-mode=importlib", "-q", "-p no:cacheprovider")]
    ini += ["filterwarnings =", *(f"    {line}" for line in settings["filterwarnings"])]
    (folder / "pytest.ini").write_text("\n".join(ini) + "\n", "utf-8")


def main() -> int:
    """Build, install, and run the tests of each integration; return 0 when all pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resolution", choices=("pinned", "lowest-direct"), default="pinned")
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        wheels = Path(temporary)
        code = run(uv(), "build", "-q", "--wheel", "--all-packages", "--out-dir", str(wheels))
        return code or try_out(wheels, given.resolution, given.python)


def try_out(wheels: Path, resolution: str, python: str) -> int:
    """Install built wheels for a Python, walk the first hour, and run the integrations' tests; 0 when all is well."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        venv = folder / "venv"
        code = first_hour(folder / "first-hour", wheels, resolution, python)
        code = code or install(venv, wheels, resolution, python)
        copy_tests(folder)
        for member in () if code else MEMBERS:
            code = run(str(venv / "bin" / "python"), "-m", "pytest", f"package-{member}/tests", cwd=folder) or code
    return code


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs the failing commands of every family in two folders, and writes what they print.

    python -m benchmarks.failures.make

What a machine lacks is left out. Each command runs in a fresh folder, without network and with a home of its own; the
paths of this machine are replaced by those of a made-up one, so that the file says nothing about who made it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.failures.families import NAMES, Family, families, filled

CORPUS = Path(__file__).with_name("corpus.jsonl")
HOMES = ("/home/ada/src/orders", "/srv/ci/build-4417/billing")
SECONDS = 60


def ran(family: Family, names: dict[str, str], home: str, folder: Path) -> tuple[int, str, str] | None:
    """Return exit code, command and output of a family in one folder; None when the machine lacks the tool."""
    if not _is_there(family.tool, folder):
        return None
    for name, text in family.files.items():
        path = folder / filled(name, names)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text, names))
    command = filled(family.command, names)
    done = subprocess.run(
        ["bash", "-c", f"{{ {command}\n}} 2>&1"], cwd=folder, env=_environment(folder), timeout=SECONDS,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    return done.returncode, command, _elsewhere(done.stdout.decode(errors="replace"), folder, home)


def _is_there(tool: str, folder: Path) -> bool:
    """Tell whether a tool is installed and works: an empty installer in its place only says that it does not."""
    if shutil.which(tool, path=_path()) is None:
        return False
    asked = subprocess.run([tool, "--version"], cwd=folder, env=_environment(folder), capture_output=True, check=False)
    return b"rustup could not" not in asked.stderr


def _path() -> str:
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def _environment(folder: Path) -> dict[str, str]:
    person = {f"GIT_{who}_{what}": "x@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    kept = {"RUSTUP_HOME": str(Path.home() / ".rustup"), "CARGO_HOME": str(Path.home() / ".cargo")}
    own = {"HOME": str(folder.parent), "LC_ALL": "C.UTF-8", "PATH": _path(), "GIT_CEILING_DIRECTORIES": str(folder)}
    return {**kept, **person, **own, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GO111MODULE": "on", "NO_COLOR": "1"}


def _elsewhere(output: str, folder: Path, home: str) -> str:
    places = [
        (str(folder), home),
        (str(folder.parent), "/home/ada"),
        (sys.prefix, "/opt/tools"),
        (sys.base_prefix, "/usr"),
        (str(Path.home()), "/home/ada"),
    ]
    for here, there in places:
        output = output.replace(here, there)
    return output


def main() -> None:
    """Write the corpus: a line for each family, with both runs of it."""
    lines, lacking = [], set()
    for family in families():
        runs = []
        for names, home in zip(NAMES, HOMES, strict=True):
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made) / names["app"]
                folder.mkdir()
                if (run := ran(family, names, home, folder)) is None:
                    lacking.add(family.tool)
                    break
                if run[0] == 0:
                    sys.exit(f"{family.tool}, {family.name}: did not fail\n{run[2]}")
                runs.append(dict(zip(("exit_code", "command", "output"), run, strict=True)))
        if len(runs) == len(NAMES):
            lines.append(json.dumps({"tool": family.tool, "name": family.name, "runs": runs}, ensure_ascii=False))
    CORPUS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} families in {CORPUS.name}; not on this machine: {', '.join(sorted(lacking)) or 'none'}")


if __name__ == "__main__":
    main()

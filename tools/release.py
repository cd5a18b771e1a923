"""Look at what would be published: `python -m tools.release`, or `make release-check`.

Builds the wheel and the source distribution of each package into `dist/`, and checks what is in them, that versions and
the changelog agree, and that an index shows their description. Then installs the wheels with each Python that is
found, walks the first hour and runs the integrations' tests there, at the pinned and at the lowest versions. It
needs the package index. `--quick` leaves out all that is installed.
"""

from __future__ import annotations

import argparse
import email
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from tools.domain import ROOT
from tools.wheels import run, try_out, uv

DIST: Final = ROOT / "dist"
CORE: Final = "reasoningbank_core"
# What each wheel must hold beside its code.
DATA: Final = {CORE: ("/embed/minilm_files/tokenizer.json", "/storage/migrations/0001_foundation.sql")}
PYTHONS: Final = ("python3.11", "python3.12", "python3.13", "python3.14")
HEADING: Final = re.compile(r"^## \[(.+?)\]", re.MULTILINE)
# A link or a picture that leads into the repository.
RELATIVE: Final = re.compile(r"\]\((?![a-z]+:)[^)]*\)")


def metadata(wheel: zipfile.ZipFile) -> Message:
    """Return what a wheel says of itself."""
    return email.message_from_bytes(wheel.read(next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))))


def amiss_in_wheel(path: Path) -> Iterator[str]:
    """Yield what is wrong with one wheel."""
    wheel = zipfile.ZipFile(path)
    names, said = wheel.namelist(), metadata(wheel)
    if said["License-Expression"] != "MIT" or not any(name.endswith("/licenses/LICENSE") for name in names):
        yield "no MIT licence"
    if not any(name.endswith("/py.typed") for name in names):
        yield "no typing marker"
    package = path.name.split("-", maxsplit=1)[0]
    yield from (f"no {data}" for data in DATA.get(package, ()) if not any(name.endswith(data) for name in names))
    yield from (f"{name} does not belong in" for name in names if "/tests/" in name or name.endswith(".pyc"))
    text = str(said.get_payload())
    if said["Description-Content-Type"] != "text/markdown" or not text.lstrip().startswith("# "):
        yield "no description"
    yield from (f"its description leads nowhere: {link}" for link in RELATIVE.findall(text))


def amiss_in_sdist(path: Path, wheel: Path) -> Iterator[str]:
    """Yield what of the wheel's package is not in the source distribution."""
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2].removeprefix("src/") for name in archive.getnames()}
    yield from (name for name in ("README.md", "LICENSE", "pyproject.toml") if name not in held)
    package = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    yield from sorted(package - held)


def amiss_in_versions(wheels: list[Path], changelog: str) -> Iterator[str]:
    """Yield where versions do not fit: of the code, of each other, and of the changelog."""
    said = {path.name.split("-", maxsplit=1)[0]: metadata(zipfile.ZipFile(path)) for path in wheels}
    version = said[CORE]["Version"]
    code = (ROOT / "src/reasoningbank/__init__.py").read_text("utf-8")
    if f'__version__ = "{version}"' not in code:
        yield f"reasoningbank.__version__ is not {version}"
    newest = (HEADING.findall(changelog) or ["nothing"])[0]
    if newest != version:
        yield f"the changelog begins with [{newest}], not with [{version}]"
    for name, of in said.items():
        if of["Version"] != version:
            yield f"{name} is {of['Version']}, the core {version}"
        wanted = [Requirement(text) for text in of.get_all("Requires-Dist") or []]
        ours = {member.replace("_", "-") for member in said}
        yield from (f"{name} wants {one}" for one in wanted if one.name in ours and version not in one.specifier)


def pythons() -> list[str]:
    """Return the Pythons on the path that a package of ours says it works with, and that start."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    found = [program for program in map(shutil.which, PYTHONS) if program is not None and _starts(program)]
    sys.stdout.write(f"Pythons ({wanted}): {', '.join(found)}\n")
    return found


def _starts(program: str) -> bool:
    return subprocess.run([program, "-c", "pass"], capture_output=True, check=False).returncode == 0


def build() -> int:
    """Build everything into an empty `dist`."""
    shutil.rmtree(DIST, ignore_errors=True)
    return run(uv(), "build", "-q", "--all-packages", "--out-dir", str(DIST))


def amiss() -> list[str]:
    """Return what is wrong with what was built."""
    wheels, sdists = sorted(DIST.glob("*.whl")), sorted(DIST.glob("*.tar.gz"))
    found = [f"{path.name}: {what}" for path in wheels for what in amiss_in_wheel(path)]
    for wheel, sdist in zip(wheels, sdists, strict=True):
        found += [f"{sdist.name} lacks {what}" for what in amiss_in_sdist(sdist, wheel)]
    return found + list(amiss_in_versions(wheels, (ROOT / "CHANGELOG.md").read_text("utf-8")))


def main() -> int:
    """Build, look, and try out; return 0 when all is well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="build and look, install nothing")
    quick = parser.parse_args().quick
    if code := build():
        return code
    found = amiss()
    built = [*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")]
    if run(uv(), "tool", "run", "-q", "twine", "check", "--strict", *map(str, built)):
        found.append("twine finds something amiss")
    for python in () if quick else pythons():
        for resolution in ("pinned", "lowest-direct"):
            if try_out(DIST, resolution, python):
                found.append(f"{python}, {resolution} versions: the tests fail")
    sys.stdout.write("".join(f"✗ {one}\n" for one in found) or "All is as it should be.\n")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())

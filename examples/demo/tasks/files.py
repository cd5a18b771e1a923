"""Everyday traps of file names and scripts."""

from __future__ import annotations

from examples.demo.task import Approach, Place, Task, answers, sh


def _scans(place: Place) -> None:
    names = (("scans/page 1.jpeg", "scans/page 2.jpeg", "scans/cover.jpeg"), ("photos/my cat.jpeg", "photos/sea.jpeg"))
    for name in names[place.variant]:
        place.write(name, name)


def _all_renamed(place: Place, _answer: str) -> str:
    left = sorted(path.name for path in place.folder.glob("*/*.jpeg"))
    return f"still there: {', '.join(left)}" if left else ""


RENAME = Task(
    name="rename-scans",
    words=(
        "Rename the files in scans/ from .jpeg to .jpg",
        "The pictures in photos/ should end in .jpg in place of .jpeg: give them new names",
    ),
    approaches=(
        Approach("loop over the output of ls", sh("for f in $(ls */*.jpeg); do mv $f ${f%.jpeg}.jpg; done")),
        Approach(
            "loop over a pattern and quote every name", sh('for f in */*.jpeg; do mv -- "$f" "${f%.jpeg}.jpg"; done')
        ),
    ),
    prepare=_scans,
    check=_all_renamed,
)


def _script(place: Place) -> None:
    name, answer = (("deploy.sh", "deployed 7"), ("nightly.sh", "copied 12"))[place.variant]
    place.write(name, "#!/bin/sh\r\nset -e\r\ncd out\r\ncat state\r\n")
    place.write("out/state", f"{answer}\n")


WINDOWS_SCRIPT = Task(
    name="windows-script",
    words=(
        "Run deploy.sh, which a colleague wrote on Windows",
        "Get nightly.sh to run; it was last edited under Windows",
    ),
    approaches=(
        Approach("start the script with sh as it is", sh("sh *.sh")),
        Approach("strip the carriage returns before running it", sh("cat *.sh | tr -d '\\r' | sh")),
        Approach("make the file executable and start it", sh("chmod +x *.sh && ./*.sh")),
    ),
    prepare=_script,
    check=answers("deployed 7", "copied 12"),
)

"""The README's picture of the demo: `python -m tools.demo_picture`, or `make screenshots`.

The demo is run, and what it wrote into a terminal of 80 columns is drawn from one of its headings on, as it stands,
line by line and over again. Who wants no motion, and what draws none, has all of it at once.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.domain import ROOT
from tools.screenshots import picture

FILE: Final = ROOT / "docs/images/demo.svg"
COLUMNS: Final = 80
# All of it is six screens long; its last ones say what came of it.
FIRST, BEHIND = "A command that fails", "The data is in"
LINE_SECONDS, REST_SECONDS = 0.35, 8.0  # until the next line, and until the first one again

_LINE: Final = re.compile(r"url\(#terminal-line-(\d+)\)")


def excerpt(said: str) -> str:
    """Return what stands from the line of FIRST up to that of BEHIND, with its colours; LookupError without one."""
    lines = said.splitlines()
    first, behind = (next((n for n, line in enumerate(lines) if text in line), None) for text in (FIRST, BEHIND))
    if first is None or behind is None:
        raise LookupError(f"the demo wrote no line with {FIRST!r}, or none with {BEHIND!r}")
    return "\n".join(lines[first:behind]).rstrip()


def animated(svg: str) -> str:
    """Return a terminal's picture in which one line comes after the other."""
    lines = sorted({int(number) for number in _LINE.findall(svg)})
    cycle = len(lines) * LINE_SECONDS + REST_SECONDS
    rules = []
    for place, number in enumerate(lines):
        share = 100 * place * LINE_SECONDS / cycle
        drawn = f'text[clip-path="url(#terminal-line-{number})"]'
        rules.append(f"@keyframes line-{number} {{ from {{ opacity: 0 }} {share:.2f}%, to {{ opacity: 1 }} }}")
        rules.append(f"{drawn} {{ animation: line-{number} {cycle:g}s step-end infinite }}")
    motion = "\n".join(["@media (prefers-reduced-motion: no-preference) {", *rules, "}"])
    return svg.replace("</style>", f"{motion}\n    </style>", 1)


def main(file: Path = FILE) -> int:
    """Run the demo and draw its end into a file."""
    # Colours although it writes into a pipe, and the same on every machine.
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    command = [sys.executable, "-m", "examples.demo"]
    said = subprocess.run(
        command, cwd=ROOT, env=os.environ | terminal, stdout=subprocess.PIPE, encoding="utf-8", check=True
    ).stdout
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(animated(picture(excerpt(said), COLUMNS, "make demo")[1]), "utf-8")
    print(file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

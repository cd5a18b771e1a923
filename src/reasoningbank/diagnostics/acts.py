"""What was done, as a later success of the same is known by it: the stated rule of what a repair is.

A failure counts as repaired when, within the next WINDOW acts of the run, the same succeeds: of commands, the same
program with the same first word (`git push`, `npm run`, `pytest`, `python manage.py`); of other tools, the same tool.
It counts as not repaired when one of its errors comes back in the run.
"""

from __future__ import annotations

import re
import shlex

WINDOW = 5

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
# Programs that run another one: that is what is done.
_WRAPPERS = frozenset({"sudo", "env", "time", "nice", "nohup", "exec", "command", "stdbuf", "xvfb-run", "timeout"})
_RUNNERS = frozenset({"uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "bundle exec", "python -m", "npx"})
_VERBS = re.compile(r"[A-Za-z][\w:.-]*")


def act_of(tool: str | None, command: str | None) -> str:
    """Return what was done: program and first word of a command, or the tool's name; "" where neither is known."""
    words = _words(command or "")
    while words and (words[0] in _WRAPPERS or _ASSIGNED.match(words[0]) or words[0].replace(".", "").isdigit()):
        words = words[1:]
    if not words:
        return (tool or "").casefold()
    program = _program(words[0])
    for many in (1, 2):
        if " ".join([program, *words[1:many]]) in _RUNNERS and len(words) > many:
            return act_of(tool, shlex.join(words[many:]))
    verb = next((word for word in words[1:2] if _VERBS.fullmatch(word.rpartition("/")[2])), "")
    return f"{program} {verb.rpartition('/')[2]}".strip()


def _program(word: str) -> str:
    name = re.split(r"[\\/]", word)[-1]
    return re.sub(r"(?<=[a-z])[\d.]+$|\.(?:exe|cmd|bat)$", "", name)


def _words(command: str) -> list[str]:
    """Return the words of the last command of a line: what stands before `&&` and `;` only prepares it."""
    lines = map(str.strip, command.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    last = re.split(r"&&|;", first)[-1] if re.search(r"&&|;", first) else first
    piped = re.split(r"\||2?>", last)[0]
    try:
        return shlex.split(piped)
    except ValueError:
        return piped.split()

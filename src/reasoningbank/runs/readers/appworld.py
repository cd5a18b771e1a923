"""AppWorld's `environment_io.md`: what was run in its shell, and what that printed. The task is not in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.outcome import Outcome

HEADING = re.compile(r"(?m)^### Environment Interaction \d+[ \t]*\n(?:-{3,}[ \t]*\n)?")
RULE = re.compile(r"(?s)\A\s*```\w*\n(?P<code>.*?)\n?```\s*(?:```\w*\n(?P<output>.*?)\n?```\s*)?\Z")


def fits(record: Any) -> bool:
    """Tell whether it is a text with such interactions."""
    return isinstance(record, str) and HEADING.search(record) is not None


def read(record: str) -> Iterator[Found]:
    """Read the interactions as one run."""
    found = Found()
    for number, section in enumerate(HEADING.split(record)[1:], start=1):
        parts = RULE.match(section)
        if parts is None:
            found.ledger.note(
                "interaction that is not two blocks", f"Environment Interaction {number}", maybe_tool=True
            )
            continue
        output = (parts["output"] or "").strip("\n")
        step = {"action": parts["code"].strip(), "tool": "python", "observation": output}
        found.steps.append({**step, "error": Outcome().error(output)})
    yield found

"""What was asked, out of a message that a harness wrapped it into."""

from __future__ import annotations

import re

# The tags that benchmarks and coding agents put around the request, as whole lines; what stands around them says how to
# work, which is the same in every run.
_TAGS = (
    "pr_description|issue_description|problem_statement|issue|user_query|user_request|user_message|task_description|"
    "task_instructions|task|query|request|instruction|question|objective"
)
OPENING = re.compile(rf"(?im)^[ \t]*<({_TAGS})>")
LEAD = "Consider the following PR description:"
# SWE-agent's first prompts, without tags.
ISSUE = re.compile(r"(?m)^ISSUE:[ \t]*\n")
AFTER_ISSUE = re.compile(r"(?m)^(?:INSTRUCTIONS|IMPORTANT TIPS):")

# How harnesses begin a message that shows another task solved.
DEMONSTRATION = re.compile(
    r"(?i)\s*(?:here is an? (?:demonstration|example) of how to\b|-{2,} ?(?:demonstration|example)\b)"
)


def shows_how(text: str) -> bool:
    """Tell whether a message shows how another task was solved; it asks for nothing."""
    return DEMONSTRATION.match(text) is not None


def requested(text: str) -> str:
    """Return the request inside a message: what stands in its tag, or the whole message if there is none."""
    opening = OPENING.search(text)
    if opening is not None:
        closing = text.find(f"</{opening[1]}>", opening.end())
        inner = text[opening.end() : closing].strip() if closing > 0 else ""
        if inner:
            return inner.removeprefix(LEAD).lstrip()
    issue = ISSUE.search(text)
    if issue is not None:
        after = AFTER_ISSUE.search(text, issue.end())
        inner = text[issue.end() : after.start()].strip() if after else ""
        if inner:
            return inner
    return text

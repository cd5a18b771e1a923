"""Tags of a run, by what its acts and its errors show: languages, tools, and kinds of problem."""

from __future__ import annotations

import re
from collections import Counter

from reasoningbank.distill.acts import kind
from reasoningbank.memory import TAG_LIMIT
from reasoningbank.runs.trajectory import Trajectory

TOOLS_KEPT = 3

# By what the acts show: a command, a file's ending, a line of code.
LANGUAGES = {
    "python": r"\b(?:python3?|pip3?|pytest|uv|poetry)\b|\.py\b|Traceback \(most recent",
    "javascript": r"\b(?:node|npm|npx|yarn|pnpm|jest)\b|\.m?jsx?\b",
    "typescript": r"\btsc\b|\.tsx?\b",
    "java": r"\b(?:javac|mvn|gradlew?)\b|\.java\b",
    "go": r"\bgo (?:build|test|run|mod|get)\b|\.go\b",
    "rust": r"\b(?:cargo|rustc)\b|\.rs\b",
    "c++": r"\b(?:g\+\+|clang\+\+|cmake)\b|\.(?:cpp|cc|hpp)\b",
    "sql": r"(?i)\b(?:select\b.{1,200}\bfrom|insert into|update \w+ set|create table)\b|\.sql\b|\bpsql\b",
    "bash": r"\b(?:bash|grep|sed|awk|chmod|xargs)\b|\.sh\b",
}
# By what went wrong, and by what the errors say.
PROBLEMS = {
    "timeout": r"(?i)time(?:d[ -])?out|deadline",
    "permission": r"(?i)permission|denied|forbidden|unauthori[sz]ed|\b40[13]\b",
    "not-found": r"(?i)not found|no such|does not exist|unknown|missing|\b404\b",
    "dependency": r"(?i)ModuleNotFoundError|ImportError|No module named|unresolved import|version conflict",
    "syntax": r"(?i)SyntaxError|syntax error|unexpected token|parse error|IndentationError",
    "type": r"TypeError|type mismatch|incompatible type",
    "assertion": r"(?i)AssertionError|assert|expected .{1,60} (?:but )?(?:got|was)|FAILED",
    "network": r"(?i)connection|network|unreachable|\bDNS\b|ECONN|\b50[0234]\b",
    "rate-limit": r"(?i)rate.?limit|too many requests|\b429\b",
    "encoding": r"(?i)Unicode(?:De|En)codeError|codec|encoding",
    "memory": r"(?i)out of memory|MemoryError|OOM",
    "validation": r"(?i)invalid|must be|not allowed|does not add up|not enough|ValueError|schema|\b4(?:00|22)\b",
}


def derive_tags(run: Trajectory) -> tuple[str, ...]:
    """Return the languages, the tools used most, and the kinds of problem of a run, in this order."""
    acts = " \n".join(f"{step.action[:500]} {step.error}" for step in run.steps)
    errors = "\n".join(step.error for step in run.steps)
    tools = Counter(kind(step).lower() for step in run.steps if step.tool)
    return (
        *(tag for tag, signs in LANGUAGES.items() if re.search(signs, acts)),
        *(tool[:TAG_LIMIT] for tool, _ in tools.most_common(TOOLS_KEPT)),
        *(tag for tag, signs in PROBLEMS.items() if errors and re.search(signs, errors)),
    )

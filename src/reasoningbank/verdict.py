"""How something ended: a run, the run a lesson was learned from, or the judgement of one."""

from __future__ import annotations

import re
from enum import StrEnum

from reasoningbank.errors import InvalidInputError


class Verdict(StrEnum):
    """How something ended. `unknown` teaches nothing: finishing is not succeeding.

    A lesson is of a success or of a failure. `partial` says of a run that it teaches what worked and what did not;
    reported of an episode it counts as unknown, since it says too little about the lessons to credit them.
    """

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"
    UNKNOWN = "unknown"


SUCCEEDED = ("success", "successful", "succeeded", "passed", "pass", "solved", "resolved", "true", "yes", "correct")
# Matched whole, never by substring: "unsuccessful" holds "success".
VERDICT_WORDS = {
    **dict.fromkeys(SUCCEEDED, Verdict.SUCCESS),
    **dict.fromkeys(("failure", "failed", "fail", "unsuccessful", "unsolved", "error", "false"), Verdict.FAILURE),
    **dict.fromkeys(("no", "incorrect", "unresolved", "not a success"), Verdict.FAILURE),
    **dict.fromkeys((f"not {word}" for word in SUCCEEDED), Verdict.FAILURE),
    **dict.fromkeys(("partial", "partially", "partly", "partial success", "mixed"), Verdict.PARTIAL),
    **dict.fromkeys((f"partially {word}" for word in SUCCEEDED), Verdict.PARTIAL),
    **dict.fromkeys(("unknown", "uncertain", "unclear", "unsure", "undetermined", "none"), Verdict.UNKNOWN),
    "inconclusive": Verdict.UNKNOWN,
}


def as_verdict(given: object) -> Verdict:
    """Read a verdict from a boolean or a label, matched whole; InvalidInputError when it is none of those known."""
    if isinstance(given, bool):
        return Verdict.SUCCESS if given else Verdict.FAILURE
    verdict = VERDICT_WORDS.get(label_text(given)) if isinstance(given, str) else None
    if verdict is None:
        raise InvalidInputError(f"verdict {given!r:.100} is not one of success, failure, partial, unknown")
    return verdict


# What else lessons and models say of an outcome; a run's verdict is asked for in the words above.
OUTCOME_WORDS = {
    **{word: verdict for word, verdict in VERDICT_WORDS.items() if verdict in (Verdict.SUCCESS, Verdict.FAILURE)},
    **dict.fromkeys(("positive", "worked", "works", "ok", "good", "1", "1 0"), Verdict.SUCCESS),
    **dict.fromkeys(("negative", "wrong", "bad", "guard rail", "guardrail", "0", "0 0"), Verdict.FAILURE),
}


def outcome_of(given: object) -> Verdict | None:
    """Read the outcome that a word, a truth value or a number states; None when it states none that is known."""
    return OUTCOME_WORDS.get(label_text(str(given))) if isinstance(given, (str, bool, int, float)) else None


def label_text(given: str) -> str:
    """Return a label as it is looked up: lower case, without punctuation."""
    return " ".join(re.sub(r"[^\w\s]+|_", " ", given).lower().split())

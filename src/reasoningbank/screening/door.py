"""The one door for texts: whatever is written, logged, raised or shown goes through it, wherever it came from.

It takes out secrets, and what shows nothing and means nothing where it stands: a character that nobody sees must not
hide a key from the rules. Rules are the built-in ones, or those with which a bank was opened.
"""

from __future__ import annotations

import traceback

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import clean_text
from reasoningbank.screening.guard.hidden_text import normalise_hidden
from reasoningbank.screening.scrub import DEFAULT_RULES, REDACTED, RuleSet, scrub

# What is said of an error is cut to so many characters, after it was cleaned: half a key is known by nobody.
SAID_LIMIT = 300


def clean(text: str, rules: RuleSet = DEFAULT_RULES) -> str:
    """Return a text in NFC without secrets, hidden characters and control codes."""
    return scrub(normalise_hidden(clean_text(text)), rules).text if text else ""


def said_by(error: BaseException, rules: RuleSet = DEFAULT_RULES) -> str:
    """Return what an error of anybody's says, with its type, in one line of at most `SAID_LIMIT` characters."""
    return f"{type(error).__name__}: {' '.join(clean(str(error), rules).split())}"[:SAID_LIMIT]


def trace_of(error: BaseException, rules: RuleSet = DEFAULT_RULES) -> str:
    """Return the traceback of an error as text, for the log."""
    return clean("".join(traceback.format_exception(error)), rules)


def checked_name(what: str, name: str, rules: RuleSet = DEFAULT_RULES) -> str:
    """Return what names something, unchanged: a name can lose nothing, or it would be another one.

    InvalidInputError, which does not repeat it, when it holds a secret, or characters that cannot be seen or that break
    a line: it is shown in prompts and terminals.
    """
    if normalise_hidden(name) != name or len(name.splitlines()) > 1 or "\t" in name:
        raise InvalidInputError(f"{what} holds a line break or characters that cannot be seen: leave them out")
    if REDACTED in clean(name, rules) and REDACTED not in name:
        raise InvalidInputError(f"{what} looks like a secret, and what names things is kept and shown: use another")
    return name

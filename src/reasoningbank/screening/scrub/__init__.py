"""Secrets out of text before it is embedded, stored, logged or sent: `DB_PASS=velvet9` becomes `DB_PASS=[REDACTED]`.

The name of a secret stays, its value goes, and only how often each rule found something is kept. Scrubbing what was
scrubbed changes nothing, and time grows with the length of the text, whatever it says.

The rules (`rule`) are one table, each tried in one pass; what they find is cut out in one more (`rule_set`). The table
has three parts: secrets told by their own form (`forms`; the tokens of providers are listed in `formats`), by what
surrounds them (`context`, and `languages` for sentences that are not English), and by the command or call they stand in
(`commands`, `calls`). `shapes` knows what names of secrets, and secrets, look like.
"""

from reasoningbank.screening.scrub.rule import Rule
from reasoningbank.screening.scrub.rule_set import (
    DEFAULT_RULES,
    REDACTED,
    RULES_VERSION,
    RuleSet,
    Scrubbed,
    scrub,
    scrub_each,
    scrub_value,
)

__all__ = [
    "DEFAULT_RULES",
    "REDACTED",
    "RULES_VERSION",
    "Rule",
    "RuleSet",
    "Scrubbed",
    "scrub",
    "scrub_each",
    "scrub_value",
]

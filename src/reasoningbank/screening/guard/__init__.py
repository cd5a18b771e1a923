"""Signs of planted instructions in a text that is to become a memory.

`inspect` answers with findings, each a sign, the field, and a short excerpt; `is_suspicious` adds their weights up.
It is a sieve and not a proof: what it lets pass is still shown to a model as framed data, and comes with its source.

A text is read as it stands, and decoded, after a look for what is hidden in it (`hidden_text`). In each
reading are looked for signs with a form of their own (`forms`) and, sentence by sentence, chains of words (`chains`):
what words mean together is a table (`signs`). One pass over the text finds the words of both (`screening.prefilter`).
"""

from reasoningbank.screening.guard.hidden_text import normalise_hidden
from reasoningbank.screening.guard.inspection import SUSPICIOUS, Finding, inspect, is_suspicious

__all__ = ["SUSPICIOUS", "Finding", "inspect", "is_suspicious", "normalise_hidden"]

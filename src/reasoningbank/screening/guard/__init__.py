"""Signs of planted instructions in a text that is to become a memory.

`inspect` answers with findings, each a sign, the field, and a short excerpt; `suspicion` weighs them.
It is a sieve and not a proof: what it lets pass is still shown to a model as framed data, and comes with its source.

A text is read as it stands, and decoded, after a look for what is hidden in it (`hidden_text`). In each
reading are looked for signs with a form of their own (`forms`) and, sentence by sentence, chains of words (`chains`):
what words mean together is a table (`signs`). One pass over the text finds the words of both (`screening.prefilter`).
"""

from reasoningbank.screening.guard.hidden_text import normalise_hidden
from reasoningbank.screening.guard.inspection import (
    DOUBTFUL,
    SUSPICIOUS,
    Finding,
    inspect,
    suspicion,
    unfounded_names,
)

__all__ = [
    "DOUBTFUL",
    "SUSPICIOUS",
    "Finding",
    "inspect",
    "normalise_hidden",
    "suspicion",
    "unfounded_names",
]

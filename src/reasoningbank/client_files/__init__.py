"""Settings files of other programs, changed without touching what is not ours: a change that is shown, then made."""

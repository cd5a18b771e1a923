"""Keeping a bank good: looked at, repaired, merged, pruned, re-embedded; at most so often, by one process at a time."""

"""Readers of runs: one table of forms, one small module each; `recognise` finds the one that a record needs."""

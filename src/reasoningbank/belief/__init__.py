"""What the evidence about a memory says: from tallies to a belief, by one of three models.

Pure functions of frozen values. Imported from: `belief` (Belief, standing), `calibrated`, `fitting`, `spec`, `ema`.
"""

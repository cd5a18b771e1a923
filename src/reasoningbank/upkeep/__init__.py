"""What should become one, and what should go: likeness of lessons, merging, pruning.

Pure decisions; `services.upkeep` carries them out.
"""

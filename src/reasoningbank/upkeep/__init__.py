"""What should become one, and what should go: likeness of lessons, merging, pruning.

Pure decisions; `services.upkeep` carries them out.
"""

from typing import Final

# Cosine above which two memories are compared word for word. Here, since the bank's signature shows it: what compares
# the words loads a stemmer.
THRESHOLD: Final = 0.75

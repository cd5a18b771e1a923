"""A memory with what is believed about it, as it may be shown: through the present scrubbing rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from reasoningbank.belief.belief import Belief
from reasoningbank.memory import SAID, Memory
from reasoningbank.screening.scrub import RULES_VERSION, scrub, scrub_value
from reasoningbank.storage.stored import Stored


@dataclass(frozen=True)
class Known:
    """What is stored of a memory, and the present belief about it.

    Attributes:
        judged: anything but usage is known about it.
        blamed: more votes are against it than for it.
    """

    stored: Stored
    belief: Belief
    judged: bool
    blamed: bool

    @cached_property
    def memory(self) -> Memory:
        """The memory as it may be shown, with its present confidence."""
        memory = self.stored.believed(self.belief.mean)
        return rescrubbed(memory) if self.stored.scrub_version < RULES_VERSION else memory


def rescrubbed(memory: Memory) -> Memory:
    """Return the memory with every string through the present rules."""
    texts = {name: scrub(getattr(memory, name)).text for name in SAID}
    tags, _ = scrub_value(list(memory.tags))
    metadata, _ = scrub_value(memory.metadata)
    return memory.model_copy(update={**texts, "tags": tuple(tags), "metadata": metadata})

"""The prompt block with a delimiter of its own; light, so that every door can use it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from reasoningbank.lessons import Lesson, LessonBlock, render


def prompt_block(lessons: Sequence[Lesson], *, max_tokens: int = 500) -> LessonBlock:
    """Return lessons, in their order, as a block of at most `max_tokens` whose delimiter nobody can guess.

    A lesson is whole or not there; one that does not fit does not keep shorter ones after it out.
    """
    return render(lessons, nonce=secrets.token_hex(4), max_tokens=max_tokens)

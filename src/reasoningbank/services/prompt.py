"""The prompt block with a delimiter of its own; light, so that every door can use it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence

from reasoningbank.lessons import Lesson, LessonBlock, render


def prompt_block(
    lessons: Sequence[Lesson],
    *,
    max_tokens: int = 500,
    provisional: Collection[str] = (),
    conflicts: Sequence[tuple[str, str]] = (),
) -> LessonBlock:
    """Return lessons, in their order, as a block of at most `max_tokens` whose delimiter nobody can guess.

    Where the first three do not fit together, the long ones are cut at the end of a sentence or line, and say so; a
    later one that does not fit is left out and keeps no shorter one out.

    Args:
        provisional: ids of lessons that are not proven yet, and are marked so.
        conflicts: pairs of ids of lessons that cannot both be followed; the block says so.
    """
    nonce = secrets.token_hex(4)
    return render(lessons, nonce=nonce, max_tokens=max_tokens, provisional=provisional, conflicts=conflicts)

"""Shared lessons: who may do what in a shared bank, what is said of a promotion, and what keeps a lesson from one."""

from __future__ import annotations

from reasoningbank.sharing.results import (
    Linked,
    Member,
    Promoted,
    SharedBankFacts,
    Suggestion,
)
from reasoningbank.sharing.rights import Right
from reasoningbank.sharing.specific import Specific, specifics
from reasoningbank.status import SharedStatus

__all__ = [
    "Linked",
    "Member",
    "Promoted",
    "Right",
    "SharedBankFacts",
    "SharedStatus",
    "Specific",
    "Suggestion",
    "specifics",
]

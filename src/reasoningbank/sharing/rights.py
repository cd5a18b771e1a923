"""Rights in a shared bank: each includes those before it."""

from __future__ import annotations

from enum import StrEnum


class Right(StrEnum):
    """What a member may do.

    `read`: recall its lessons, and say how runs with them went. `write`: propose lessons, which wait for a review.
    `approve`: let lessons in, take them out, and change them.
    """

    READ = "read"
    WRITE = "write"
    APPROVE = "approve"

    def includes(self, other: Right) -> bool:
        """Tell whether who has this right has the other, too."""
        order = list(Right)
        return order.index(self) >= order.index(other)


def effective(project: Right | None, person: Right | None) -> Right | None:
    """Return what a handle may do: what its project or its person may, whichever is more; nothing without the project.

    A person acts through a project that may read: one whose project was never let in, or was shut out, reaches nothing.
    """
    if project is None or person is None:
        return project
    return person if person.includes(project) else project

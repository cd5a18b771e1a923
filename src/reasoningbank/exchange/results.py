"""What became of the lines of an import."""

from __future__ import annotations

from dataclasses import dataclass, field

from reasoningbank.memory import Draft
from reasoningbank.results import Rejected


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the lines of an import.

    Attributes:
        created: memories that are new.
        existing: lines whose lesson was there already, by id or by what it says.
        quarantined: new ones that are not served, because they look like planted instructions or came so.
        source: the name under which they came; "" when they have none.
        untrusted: new ones that can take one place of a result all together, until `sources.trust`.
        trusted: those that were there untrusted, and are trusted now.
        not_embedded: new ones that are found by keyword only, until `reembed`.
        differing: lines whose id was there with another text, which was left as it is.
        possible_duplicates: new ones that nothing but case, punctuation or symbols tells from another, and from which.
        joined: lines whose lesson was there under another id; their evidence counts for that one now.
        held: lines whose lesson somebody took out of service here, where it stays, and why.
        rejected: lines that could not be taken, and why.
        redactions: secrets removed, by rule.
        left_out: pages and records that are no lessons: indexes of folders, relations of a graph.
        forms: the forms of other tools that were recognised, each with the number of its records.
        planned: with `dry_run`: the lessons that would be made.
        runs: runs that are new; asked for with `runs`.
        runs_left_out: lines of runs that were not asked for.
    """

    created: int = 0
    existing: int = 0
    quarantined: int = 0
    source: str = ""
    untrusted: int = 0
    trusted: int = 0
    not_embedded: int = 0
    differing: tuple[Rejected, ...] = ()
    possible_duplicates: tuple[Rejected, ...] = ()
    joined: tuple[Rejected, ...] = ()
    held: tuple[Rejected, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    redactions: dict[str, int] = field(default_factory=dict)
    left_out: int = 0
    forms: dict[str, int] = field(default_factory=dict, compare=False)
    planned: tuple[Draft, ...] = ()
    runs: int = 0
    runs_left_out: int = 0

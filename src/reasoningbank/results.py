"""What the bank's calls return: frozen values that never hide what was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from reasoningbank.episode import Episode
from reasoningbank.links import Conflict
from reasoningbank.memory import Memory
from reasoningbank.verdict import Verdict

# Reasons in `withheld`: what did not fit the prompt block; whose time is over; what is kept from a run, to compare;
# with what runs surely end worse, by hold-outs of single lessons; what is doubtful; pins beyond `pin_tokens`.
OVER_BUDGET, EXPIRED, HELD_OUT, HARMFUL, WEAK = "token budget", "expired", "hold-out", "harmful", "weak"
PINS = "pinned over budget"


OWN = "project"  # the level of a project's own memories, beside the names of the shared banks


@dataclass(frozen=True, slots=True)
class Twin:
    """A lesson of a shared bank (`level`) that says the same as one that is nearer.

    Attributes:
        memory: its id there.
        confidence: the belief that it helps here.
        uses: how often it was handed out, by all projects.
    """

    level: str
    memory: str
    confidence: float
    uses: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found by a search.

    Attributes:
        similarity: cosine between query and memory, clamped to [0, 1].
        keyword: BM25 of the query's terms, at least 0; 0 when no term matches.
        score: what the hits are ranked by, higher is better; its parts are in `why`.
        confidence: the belief that the memory helps; never mixed into `similarity`.
        deviation: how unsure that belief is: its standard deviation.
        provisional: not proven yet: its confidence is below the floor, but may well be above it.
        about: the chance that it is about the query, by its relevance alone; 1 where another memory or a pin says so.
        why: the parts of the score, by name.
        pinned: it is shown whatever the task (see `upkeep.pin`).
        level: "project", or the shared bank that it is from.
        also: lessons of levels farther away that say the same, and are not shown for it.
    """

    memory: Memory
    similarity: float
    keyword: float
    score: float
    confidence: float
    deviation: float
    provisional: bool
    about: float = 1.0
    why: dict[str, float] = field(default_factory=dict)
    pinned: bool = False
    level: str = OWN
    also: tuple[Twin, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, best first, and what was left out.

    Attributes:
        withheld: how many candidates were not returned, by reason (rejected, irrelevant, expired, ...); where no memory
            passes the filters, how many they leave out, and why.
        weak: nothing is clearly relevant.
        degraded: what did not work as configured, in words; empty when all did.
        strength: of the strongest match and of those that support it: 0 where nothing has to do with the query, from
            0.46 on (among few from less) not weak, and about 1 where memories are surely about it.
    """

    hits: tuple[Hit, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)
    weak: bool = False
    degraded: tuple[str, ...] = ()
    strength: float = 0.0

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories of the hits, in their order."""
        return tuple(hit.memory for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Recall:
    """What was handed out for a task, and the episode it opened.

    Attributes:
        ref: the episode's reference: give it to report().
        hits: the memories handed out, in the order of `text`.
        text: the prompt block; empty when nothing fits.
        tokens: estimated tokens of `text`.
        repeated: the reference was known already: nothing was searched or counted anew, but for what joined the run.
        shortened: ids of memories that are cut in `text`, visibly, since they did not fit whole.
        required: with `expand_links`, ids of those that came along because another one requires them.
        conflicts: with `expand_links`, which of them cannot both be followed; `text` says so too.
        expected_success: how likely the run is to succeed with what is handed out, by what this project's runs taught;
            None when nothing was looked for.
        expected_without: the same without any memory that helps.
        held_out: something was withheld from this run, to compare runs with and without it (see `holdout`).
    """

    ref: str
    task: str
    hits: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    withheld: dict[str, int] = field(default_factory=dict)
    weak: bool = False
    degraded: tuple[str, ...] = ()
    repeated: bool = False
    shortened: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    expected_success: float | None = None
    expected_without: float | None = None
    held_out: bool = False

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories handed out, in the order of `text`."""
        return tuple(hit.memory for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a lesson that was to be stored.

    Attributes:
        memory: the stored memory, or the one that was there already.
        created: whether it is new.
        possible_duplicate_of: id of one of the same outcome that it is stored beside: of one that nothing but case,
            punctuation or symbols tells apart, or else of a near one (cosine above 0.92).
        held: why it stays out of service, as somebody decided, or "": "by hand", "pruned: …", "retired by …",
            "superseded: …" (`upkeep.restore` undoes it); of what was distilled or imported also "deleted" (`memory` has
            no id) and "replaced: …" (`memory` said so before it was put right): recording it by hand undoes these.
        redactions: secrets removed, by rule.
        degraded: what did not work, in words (say, it could not be embedded and is found by keyword only).
    """

    memory: Memory
    created: bool
    possible_duplicate_of: str | None = None
    held: str = ""
    redactions: dict[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Voted:
    """What became of one vote about one memory.

    Attributes:
        memory: after the signal was counted.
        ref: the episode or reference it was attached to.
        recorded: False when the same had been said before, or what was said under the reference was folded away.
    """

    memory: Memory
    ref: str
    recorded: bool


@dataclass(frozen=True, slots=True)
class Reported:
    """What became of a report.

    Attributes:
        episode: after the report.
        credited: ids of the memories that a signal was counted for, those of shared banks too.
        recorded: False when nothing changed, because the same verdict was there already.
        previous: the verdict that this one replaced.
        too_late: the evidence was folded away for good, so the verdict can no longer be revised.
        lessons: ids of the memories that the reason for a failure became, or that said the same already.
    """

    episode: Episode
    credited: tuple[str, ...] = ()
    recorded: bool = True
    previous: Verdict | None = None
    too_late: bool = False
    lessons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of memories, in the order they were recorded.

    Attributes:
        next: pass it as `after` to get the next page; None on the last one.
        withheld: where no memory passes the filters, how many they leave out, and why.
        standings: proven, provisional or rejected, by id: where each stands by what is believed, served or not.
    """

    memories: tuple[Memory, ...]
    next: str | None = None
    withheld: dict[str, int] = field(default_factory=dict)
    standings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line of an import that was not taken, or not as it stands.

    Attributes:
        line: its number, from 1; in a database or a folder, the number of the record.
        reason: in words.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """What blocking a source, unblocking or forgetting it, did.

    Attributes:
        memories: ids of the memories that were archived, restored or deleted.
        judged: how many memories its signals are about.
        left: ids of those that stay as they are, since another one in service says the same.
        taken_back: ids of the memories of others that say again what they said before the source changed them, or are
            served again after it retired them; when it is unblocked, of those of which that is undone.
    """

    source: str
    memories: tuple[str, ...]
    judged: int
    left: tuple[str, ...] = ()
    taken_back: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What upkeep proposes to do to some memories, and why. Nothing is done by making one.

    Attributes:
        kind: "merge" (several memories become one, and are archived), "archive" (taken out of service, restorable) or
            "link" (two memories that belong together, or against each other, stay as they are).
        memories: ids of the memories it is about, the one whose text is kept first.
        reason: in words.
        similarity: the least cosine between any two of them; None where that plays no part.
        link: what kind of link; "" for other changes.
        result: id of the memory that came of it; None as long as it is only proposed.
    """

    kind: Literal["merge", "archive", "link"]
    memories: tuple[str, ...]
    reason: str
    similarity: float | None = None
    link: str = ""
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a consolidation proposes, or did.

    Attributes:
        changes: merges of what says the same beyond doubt (with a `result` where carried out), and links between
            memories that speak against each other.
        proposed: merges of what says the same as far as words tell. They wait for somebody to agree:
            `bank.upkeep.merge(change.memories)` carries one out.
        skipped: merges that were not carried out, each with why.
        due: False when nothing was looked at: the last one was less than a day ago.
    """

    changes: tuple[Change, ...] = ()
    proposed: tuple[Change, ...] = ()
    skipped: tuple[Change, ...] = ()
    due: bool = True


@dataclass(frozen=True, slots=True)
class Unmerged:
    """What undoing a merge did.

    Attributes:
        memory: id of the merged memory, which is archived now.
        restored: ids of those that are served again, each with its own evidence.
        left: ids of those that stay archived, since another one in service says the same.
    """

    memory: str
    restored: tuple[str, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pruned:
    """What pruning proposes, or did.

    Attributes:
        changes: each of kind "archive", with its reason; `restore` undoes one.
        done: whether they were carried out.
    """

    changes: tuple[Change, ...] = ()
    done: bool = False


@dataclass(frozen=True, slots=True)
class KnownOf:
    """The evidence about one memory, summed by kind; what several memories share counts in part.

    Attributes:
        uses: how often it was handed out.
        survived, reverted: changes that followed it.
    """

    uses: int = 0
    votes_for: float = 0.0
    votes_against: float = 0.0
    successes: float = 0.0
    failures: float = 0.0
    survived: float = 0.0
    reverted: float = 0.0


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The strategy that fits a task best.

    Attributes:
        strategy: with its confidence, and whether it is provisional; None when nothing fits.
        evidence: what is known of the strategy.
        runner_up: the next best; None when there is no other.
        weak: nothing is clearly relevant.
        withheld: how many candidates were not considered, by reason.
        degraded: what did not work as configured.
    """

    task: str
    strategy: Hit | None = None
    evidence: KnownOf | None = None
    runner_up: Hit | None = None
    weak: bool = False
    withheld: dict[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
